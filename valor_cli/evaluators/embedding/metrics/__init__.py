"""Metrics of the embedding wing, one file per definition."""
