"""The twelve numbers of the COCO detection challenge (Lin et al., Microsoft COCO, 2014)."""

from __future__ import annotations

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import COCO_IOUS, IouThresholds, Sizes
from valor_cli.evaluators.detection.evidence.rows import (
    at_thresholds,
    in_areas,
    over_labels,
)
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricValue

MAX_DETECTIONS = 100


def coco(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    areas: Sizes = ("small", "medium", "large"),
) -> Findings:
    """The 12 COCO numbers: average precision and recall over IoUs, sizes and detection limits.

    AP50 and AP75 exist when their thresholds are among `iou_thresholds`. An area range without
    ground truth has no value, where pycocotools prints -1. In a slice by area the sizes are left
    out: there is only one.

    Formula:
        AP = mean over labels, IoU thresholds 0.50, 0.55 … 0.95 and recalls 0, 0.01 … 1 of the
             highest precision at that recall or a higher one; AP50, AP75: at that threshold alone
        AR@k = mean over labels and IoU thresholds of recall, with k detections per image and label
        small: up to 32² pixels; medium: up to 96²; large: from there on

    Pitfalls:
        AP sums up all score thresholds: it does not say how a model does at the one you run it with
        (see `f1`, `best_f1`). A label counts as much with 3 objects as with 3,000, and false alarms
        of labels without ground truth do not count at all.

    Example:
        One label, one object, one detection with an IoU of 0.72: it is right at 0.50 to 0.70, at 5
        of 10 thresholds, so that AP is 0.5, AP50 1, AP75 0 and AR@1 0.5.
    """

    def in_all() -> list[MetricValue]:
        precision = matches.precision(iou_thresholds, MAX_DETECTIONS)
        recalls = [(k, matches.recalls(iou_thresholds, k)) for k in (1, 10, MAX_DETECTIONS)]
        return at_thresholds(matches, precision, iou_thresholds, "AP") + [
            over_labels(matches, recall, output=f"AR@{k}") for k, recall in recalls
        ]

    if matches.area != "all":
        areas = ()
    return Findings(in_areas(matches, areas, iou_thresholds, MAX_DETECTIONS, in_all))


COCO = Metric(
    name="coco",
    compute=coco,
    reference="pycocotools.cocoeval.COCOeval.summarize",
    citation="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014",
    outputs=tuple(
        Output(name, "higher")
        for name in (
            *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge"),
            *("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
        )
    ),
)
