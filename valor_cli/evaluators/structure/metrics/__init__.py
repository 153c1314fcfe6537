"""Metrics of the structure wing, one file per definition."""
