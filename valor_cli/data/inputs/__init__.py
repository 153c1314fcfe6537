"""Inputs as configs name them: one or more files of a shape, whatever the format."""
