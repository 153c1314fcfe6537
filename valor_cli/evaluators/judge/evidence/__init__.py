"""Evidence that judge metrics share."""
