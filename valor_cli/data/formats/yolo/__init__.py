"""YOLO label files, one per image."""
