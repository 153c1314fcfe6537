"""Ranking: matching, sorting, curves, and precision at recall."""
