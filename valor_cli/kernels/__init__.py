"""Kernels: arithmetic on arrays and texts, independent of tasks."""
