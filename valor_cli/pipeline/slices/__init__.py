"""Slices: named subsets, and the search for the worst ones."""
