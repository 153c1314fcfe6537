"""Embedders: backends, token encoders, and the vector store."""
