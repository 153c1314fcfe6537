"""Sections on single samples: values, texts and verdicts."""
