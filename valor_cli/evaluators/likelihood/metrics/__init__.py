"""Metrics of the likelihood wing, one file per definition."""
