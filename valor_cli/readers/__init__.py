"""Bytes to columns: one file per format, a `Table` out, no knowledge of tasks."""
