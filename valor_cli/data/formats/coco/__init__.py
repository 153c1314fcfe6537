"""COCO JSON: instances, results lists, keypoints and panoptic segments."""
