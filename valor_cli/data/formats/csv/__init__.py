"""CSV: cells, quotes and headers."""
