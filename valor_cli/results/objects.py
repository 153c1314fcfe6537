"""Outcomes of every object of a detection run, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from valor_cli.results.findings import Parameters, Scalar
from valor_cli.results.record import Record

OUTCOMES: Final = (
    "true_positive",
    "classification",
    "localisation",
    "both",
    "duplicate",
    "background",
    "ignored",
)
"""Outcomes of a detection, at its position here the code in `ObjectsResult.outcomes`: a true
positive, the five kinds of false positive (TIDE, Bolya et al., 2020), or neither."""


TENTHS: Final = 10
"""Parts of a pixel that outlines are kept in."""


OUTLINED: Final = 5_000
"""Ground truths, the first ones, and detections, those of the best scores, that have outlines:
to trace a mask takes a tenth of a millisecond."""


class Outlines(Record, frozen=True):
    """Outlines of objects that are no boxes: ground truths first, then detections.

    Attributes:
        rings: (objects,) how many rings each has; 0 for a box, and for what is left out.
        points: (rings,) how many points each has; a ring does not repeat its first point.
        xy: (points, 2) in tenths of a pixel. Integers.
    """

    rings: Any
    points: Any
    xy: Any


class ObjectsResult(Record, frozen=True):
    """Every ground truth and every detection of a model, with its outcome at one IoU threshold.

    Detections are matched greedily by score, so what a detection is matched with does not depend on
    those of lower score: at a score threshold t the true positives are the matched detections with
    score >= t, and the false negatives are the ground truths without one.

    Images are numbered from 0; ground truths and detections are in the order of their images,
    detections of an image by descending score. Boxes are x, y, width, height in pixels, of other
    shapes those around them. Integers have 32 bits, boxes and IoUs single precision.

    Attributes:
        parameters: Settings of the matching: `iou_threshold`, `background_iou`, `max_detections`,
            and `metric`, whose they are; None if no metric of the run names an IoU threshold.
        labels: Names by number.
        image_ids, files: (images,) the id and the file name, as in the ground truth; None if it
            names no file.
        sizes: (images, 2) width and height in pixels; 0 if unknown. Integers.
        gt_images, gt_labels: (ground truths,) numbers of image and label.
        gt_ids: (ground truths,) ids as in the file, or positions there: integers, else objects.
        gt_boxes: (ground truths, 4).
        gt_ignored: (ground truths,) whether it counts neither way, as a crowd.
        images, detected: (detections,) numbers of image and label.
        scores: (detections,).
        boxes: (detections, 4).
        outcomes: (detections,) position in `OUTCOMES`, were all detections kept.
        matched: (detections,) number of the ground truth of the same label that it is matched
            with; -1 without one.
        nearest: (detections,) number of the ground truth that counts, of any label, of the greatest
            IoU; -1 if that is below both `background_iou` and `iou_threshold`.
        ious: (detections,) IoU with `matched` if there is one, else with `nearest`; 0 without.
        outlines: Of polygons, masks and rotated boxes; None where all are boxes.
    """

    model: str
    parameters: Parameters
    labels: Sequence[str]
    image_ids: Sequence[Scalar]
    files: Sequence[str | None]
    sizes: Any
    gt_images: Any
    gt_labels: Any
    gt_ids: Any
    gt_boxes: Any
    gt_ignored: Any
    images: Any
    detected: Any
    scores: Any
    boxes: Any
    outcomes: Any
    matched: Any
    nearest: Any
    ious: Any
    outlines: Outlines | None = None
