"""Sections on errors: types, confusions, examples and worst images."""
