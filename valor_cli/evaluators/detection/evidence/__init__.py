"""Evidence that detection metrics share."""
