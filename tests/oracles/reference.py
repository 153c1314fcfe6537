"""pycocotools, run on a problem."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def pycocotools(
    ground_truth: dict[str, Any],
    results: list[dict[str, Any]],
    kind: str = "bbox",
    sigmas: Sequence[float] | None = None,
) -> COCOeval:
    """The evaluated and accumulated COCOeval, its `stats` filled.

    Args:
        ground_truth: As a file has it.
        results: As a file has them.
        kind: Boxes ("bbox"), masks ("segm") or "keypoints".
        sigmas: Of keypoints, other ones than those of a person.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = ground_truth
        for annotation in ground_truth["annotations"]:
            width, height = annotation["bbox"][2:]
            annotation.setdefault("area", width * height)
            annotation.setdefault("iscrowd", 0)
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), kind)
        if sigmas is not None:
            evaluation.params.kpt_oks_sigmas = np.array(sigmas)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation
