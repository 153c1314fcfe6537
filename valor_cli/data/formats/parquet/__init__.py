"""Parquet, read with pyarrow."""
