"""Intervals, paired tests and corrections: arrays in, numbers out."""
