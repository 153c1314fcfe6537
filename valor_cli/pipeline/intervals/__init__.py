"""Confidence intervals by resampling."""
