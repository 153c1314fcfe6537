"""Comparison of two runs or two models, with paired tests."""
