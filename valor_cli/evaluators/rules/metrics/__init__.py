"""Metrics of the rules wing, one file per definition."""
