"""Replies of language models: JSON, ratings and single words."""
