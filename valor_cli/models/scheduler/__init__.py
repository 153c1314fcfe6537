"""Scheduler: calls, retries, concurrency and budget."""
