"""Evidence that classification metrics share."""
