"""Objects in images: boxes, polygons, masks and keypoints."""
