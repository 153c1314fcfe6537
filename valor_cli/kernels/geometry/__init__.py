"""Geometry: boxes, polygons, masks, keypoints and label maps."""
