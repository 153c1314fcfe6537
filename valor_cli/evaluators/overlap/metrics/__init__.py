"""Metrics of the overlap wing, one file per definition."""
