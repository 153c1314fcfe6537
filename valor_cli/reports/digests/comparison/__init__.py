"""Sections that compare runs or models."""
