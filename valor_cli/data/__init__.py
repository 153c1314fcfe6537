"""Inputs: from files and URLs to columns, and back where `valor convert` writes them."""
