"""COCO panoptic JSON with its PNGs."""
