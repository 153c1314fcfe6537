"""Metrics of the detection wing, one file per definition."""
