"""COCO panoptic JSON and its folder of PNGs, as objects and as label maps."""
