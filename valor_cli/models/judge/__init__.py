"""Judges: backends, prompts, replays and prices."""
