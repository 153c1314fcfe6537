"""Metrics of the classification wing, one file per definition."""
