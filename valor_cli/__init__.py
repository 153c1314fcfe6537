"""Evaluate the outputs of vision and language models from files."""

__version__ = "0.1.0"

__all__ = ["__version__"]
