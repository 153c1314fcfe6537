"""Executors: one process, several processes, or a Dask cluster."""
