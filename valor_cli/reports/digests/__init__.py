"""What reports say of a run, as records: no sections, no media."""
