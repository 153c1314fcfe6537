"""Lists of a run's objects or samples by what became of them."""
