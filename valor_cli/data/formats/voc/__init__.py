"""Pascal VOC XML, one file per image."""
