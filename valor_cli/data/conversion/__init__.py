"""Conversion: the same objects in another format."""
