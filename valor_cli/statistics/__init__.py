"""Intervals, paired tests and corrections on arrays."""
