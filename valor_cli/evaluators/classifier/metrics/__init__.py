"""Metrics of the classifier wing, one file per definition."""
