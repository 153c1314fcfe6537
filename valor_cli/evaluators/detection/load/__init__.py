"""Loading of detection inputs: read, join, check and select."""
