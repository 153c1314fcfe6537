"""Columns: grouping, lookups, and fields parsed from text."""
