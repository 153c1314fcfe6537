"""Objects in images to files, one file per format: what the readers hand out comes in."""
