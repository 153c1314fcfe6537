"""Loading of segmentation inputs: read, join, check and select."""
