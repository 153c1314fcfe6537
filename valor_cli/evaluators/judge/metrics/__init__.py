"""Metrics of the judge wing, one file per definition."""
