"""Vectors: cosines, nearest neighbors and token matching."""
