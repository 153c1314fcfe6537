"""What the field calls average precision and recall: mAP@[.50:.95], AP50, AR@100."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from valor_cli.metric import Measure

_OVER: Final = re.compile(r"m?ap@?(?:\[?0?\.50?:(?:0?\.05:)?0?\.95\]?|50[-:]95)")
_AT: Final = re.compile(r"m?ap@?(?:0?\.(\d\d?)|(\d\d))")
_RECALL: Final = re.compile(r"m?ar@?(\d{1,4})")
_BARE: Final = ("map", "ap")

_OVER_IOUS: Final = "average_precision_over_ious"
_NOTE: Final = "{} is read as mAP@[.50:.95] ({}), as COCO has it; Valor's {} is {}: write {}"


def measure_named(name: str, given: Collection[str] = ()) -> Measure | None:
    """The measure that a name of the field stands for; None if it is none of these.

    `mAP` and `AP` alone are COCO's, over IoU thresholds from 0.50 to 0.95, unless IoU thresholds
    are given beside them.

    Args:
        name: As the user has it.
        given: The parameters that are given with it, and "label" if it is asked of one label.
    """
    mean = "" if "label" in given else "mean_"
    short = re.sub(r"[\s_]", "", name).casefold()
    if short in _BARE and "iou_thresholds" not in given:
        own = "mean_average_precision" if short == "map" else "average_precision"
        instead = "mAP@0.50" if short == "map" else own
        over = f"{mean}{_OVER_IOUS}"
        return Measure(over, note=_NOTE.format(name, over, name, f"{own} at 0.50", instead))
    if _OVER.fullmatch(short):
        return Measure(f"{mean}{_OVER_IOUS}")
    if found := _AT.fullmatch(short):
        iou = float(f"0.{found[1] or found[2]}")
        ious = {"iou_thresholds": [iou]}
        return Measure(f"{mean}average_precision", None, ious, {"iou_threshold": iou})
    if found := _RECALL.fullmatch(short):
        most = {"max_detections": int(found[1])}
        return Measure(f"{mean}average_recall", None, most, most)
    return None
