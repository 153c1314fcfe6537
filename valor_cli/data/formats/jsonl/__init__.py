"""JSON Lines."""
