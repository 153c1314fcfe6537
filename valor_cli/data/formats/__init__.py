"""File formats: bytes to batches of values, and values to bytes."""
