"""valor-lite's evaluator of COCO ground truth and a COCO results list, both as they were read."""

from __future__ import annotations

from typing import Any


def evaluator_of(truth: dict[str, Any], found: list[dict[str, Any]]) -> Any:
    """All boxes, crowd regions too; images in the order of the ground truth."""
    from valor_lite.object_detection import BoundingBox, Detection, Loader

    names = {one["id"]: one["name"] for one in truth["categories"]}

    def boxes(objects: list[dict[str, Any]], image: int) -> list[Any]:
        return [
            BoundingBox(
                uid=str(number),
                xmin=one["bbox"][0],
                xmax=one["bbox"][0] + one["bbox"][2],
                ymin=one["bbox"][1],
                ymax=one["bbox"][1] + one["bbox"][3],
                labels=[names[one["category_id"]]],
                scores=[one["score"]] if "score" in one else [],
            )
            for number, one in enumerate(objects)
            if one["image_id"] == image
        ]

    loader = Loader.in_memory()
    loader.add_bounding_boxes(
        [
            Detection(
                uid=str(one["id"]),
                groundtruths=boxes(truth["annotations"], one["id"]),
                predictions=boxes(found, one["id"]),
            )
            for one in truth["images"]
        ]
    )
    return loader.finalize()
