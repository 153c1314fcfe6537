"""pycocotools, run on a problem."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def pycocotools(
    ground_truth: dict[str, Any], results: list[dict[str, Any]], kind: str = "bbox"
) -> COCOeval:
    """The evaluated and accumulated COCOeval of boxes or of masks ("segm"), its `stats` filled."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = ground_truth
        for annotation in ground_truth["annotations"]:
            width, height = annotation["bbox"][2:]
            annotation.setdefault("area", width * height)
            annotation.setdefault("iscrowd", 0)
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation
