"""Metrics of the segmentation wing, one file per definition."""
