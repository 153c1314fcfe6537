"""Arithmetic on columns: arrays in, arrays out, numpy only."""
