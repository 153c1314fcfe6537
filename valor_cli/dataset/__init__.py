"""Frozen columns of equal length, one file per data shape."""
