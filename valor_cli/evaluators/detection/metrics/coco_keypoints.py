"""The ten numbers of the COCO keypoint challenge (Lin et al., Microsoft COCO, 2014).

Objects are compared by object keypoint similarity (OKS) where `coco` uses IoU. Ground truth
without visible keypoints is ignored, as crowds are. The challenge has no small objects.
"""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Interval, MinLen
from pydantic import AfterValidator

from valor_cli.evaluators.detection.evidence.keypoint_matching import (
    KeypointMatches,
    match_keypoints,
    merge_keypoints,
    plan_keypoints,
)
from valor_cli.evaluators.detection.evidence.matches import STORED
from valor_cli.evaluators.detection.evidence.parameters import (
    COCO_IOUS,
    IouThresholds,
    MaxDetections,
)
from valor_cli.evaluators.detection.evidence.rows import at_thresholds, in_areas
from valor_cli.metric import Metric, Output, Wing
from valor_cli.results import Findings

# Divided as pycocotools divides them: the last bit of 0.026 depends on it.
COCO_SIGMAS: tuple[float, ...] = tuple(
    tenfold / 10
    for tenfold in (
        *(0.26, 0.25, 0.25, 0.35, 0.35),  # nose, eyes, ears
        *(0.79, 0.79, 0.72, 0.72, 0.62, 0.62),  # shoulders, elbows, wrists
        *(1.07, 1.07, 0.87, 0.87, 0.89, 0.89),  # hips, knees, ankles
    )
)
"""How far people disagree on each of the 17 keypoints of a person, in COCO's order of them."""

Sigmas = Annotated[tuple[Annotated[float, Interval(gt=0)], ...], MinLen(1)]
PoseSizes = Annotated[
    tuple[Literal["medium", "large"], ...],
    AfterValidator(lambda sizes: tuple(dict.fromkeys(sizes))),
]


def coco_keypoints(
    poses: KeypointMatches,
    *,
    oks_thresholds: IouThresholds = COCO_IOUS,
    areas: PoseSizes = ("medium", "large"),
    max_detections: MaxDetections = 20,
    sigmas: Sigmas = COCO_SIGMAS,
) -> Findings:
    """The 10 COCO keypoint numbers: average precision and recall over similarities and sizes.

    `sigmas` says how far off each keypoint may be: one for each that an object has, in their order.
    `max_detections` is the limit of an image and label. AP50, AP75, AR50 and AR75 exist when their
    thresholds are among `oks_thresholds`. A size without ground truth has no value, where
    pycocotools prints -1.

    Formula:
        AP, AR = as `coco`, with OKS in place of IoU
        OKS = mean over the marked keypoints i of exp(-d(i)² / (2·A·(2·sigma(i))²))
        d(i): distance of the keypoints in pixels; A: area of the object

    Pitfalls:
        Keypoints that are not marked in the ground truth are not judged, and whether a model says
        that one is visible is not looked at. The default `sigmas` are those of COCO's 17 keypoints
        of a person: any other skeleton needs its own.

    Example:
        One keypoint, sigma 0.05, is 10 pixels off on an object of 10,000: OKS is exp(−100 /
        (2·10,000·0.01)) = exp(−0.5) = 0.607, right at 3 of 10 thresholds; if that is all there is,
        AP is 0.3.
    """
    matches = poses.by_sigmas[sigmas]
    precision = matches.precision(oks_thresholds, max_detections)
    recalls = matches.recalls(oks_thresholds, max_detections)
    return Findings(
        [
            *at_thresholds(matches, precision, oks_thresholds, "AP"),
            *at_thresholds(matches, recalls, oks_thresholds, "AR"),
            *in_areas(matches, areas, oks_thresholds, max_detections),
        ]
    )


COCO_KEYPOINTS = Metric(
    name="coco_keypoints",
    compute=coco_keypoints,
    reference="pycocotools.cocoeval.COCOeval.summarize",
    citation="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014",
    needs=("ground_truth", "predictions", "keypoints"),
    outputs=tuple(
        Output(name, "higher")
        for name in (
            *("AP", "AP50", "AP75", "APmedium", "APlarge"),
            *("AR", "AR50", "AR75", "ARmedium", "ARlarge"),
        )
    ),
)

KEYPOINTS_WING = Wing(
    metrics=(COCO_KEYPOINTS,),
    plan=plan_keypoints,
    evidence=match_keypoints,
    merge=merge_keypoints,
    stored=(KeypointMatches, *STORED),
)
