"""Evidence that segmentation metrics share."""
