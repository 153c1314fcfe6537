"""The thirteen numbers of the LVIS challenge (Gupta et al., LVIS, 2019).

Section 3.3: an image is searched for some labels only, so a detection is judged where its label was
marked in the image, or is known not to be there. Where not every object of a label is marked, a
detection that matches nothing is no mistake.

The rules are those of lvis-api's `LVISEval`, to its quirks: there are no crowd regions, a ground
truth marked as one counts like any other; objects without area do not exist. Unlike there, the
area of a detected mask is that of its pixels also where the file has a box beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, Federation
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.evidence.matches import STORED, Matches
from valor_cli.evaluators.detection.evidence.object_outcomes import outcomes_of_objects
from valor_cli.evaluators.detection.evidence.parameters import (
    COCO_IOUS,
    IouThresholds,
    MatchingPlan,
    MaxDetections,
    Sizes,
    plan_matching,
)
from valor_cli.evaluators.detection.evidence.rows import (
    at_thresholds,
    in_areas,
    over_labels,
)
from valor_cli.evaluators.detection.evidence.shards import match_detections, merge_matches
from valor_cli.kernels.columns.grouping import places_in_runs, ranked
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.metric import Call, Metric, Output, Wing
from valor_cli.results import Findings, MetricValue, ObjectsResult

FREQUENCIES: Mapping[str, str] = {"r": "rare", "c": "common", "f": "frequent"}
"""LVIS's groups of labels: in up to 10, up to 100, or more images of the training set."""


class FederatedMatches(Struct, frozen=True):
    """Matches under the LVIS rules, with the frequency of labels.

    Attributes:
        matches: Of the detections that are judged. Their `rank` is their place among all detections
            of the image, so that a limit of detections holds for an image over all labels.
        frequency: (labels,) "r", "c" or "f".
    """

    matches: Matches
    frequency: tuple[str, ...]

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return self.matches.unit_count

    def select(self, units: NDArray[np.bool_]) -> FederatedMatches:
        """Select images."""
        return replace(self, matches=self.matches.select(units))

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[FederatedMatches]:
        """As `Matches.resamples`."""
        for again in self.matches.resamples(weights):
            yield replace(self, matches=again)


def match_federated(dataset: DetectionDataset, plan: MatchingPlan) -> FederatedMatches:
    """Match one shard of images by the LVIS rules.

    Raises:
        DataError: Detections are not to be matched by COCO's rule.
        ValueError: The dataset was read without its federation.
    """
    if dataset.matching != "coco":
        raise DataError(
            Problem("matching", f"lvis follows COCO's rule, not {dataset.matching}'s"),
            hint="set `matching: coco`, or leave the metric lvis out",
        )
    federation = dataset.federation
    if federation is None:
        raise ValueError("lvis: the dataset was read without its federation")
    truths, found = dataset.ground_truths, dataset.detections
    images = np.arange(dataset.unit_count)
    truths = replace(truths, crowd=np.zeros(len(truths), bool)).where(truths.area > 0, images)
    searched = federation.negative.copy()
    searched[truths.image, truths.label] = True
    judged = searched[found.image, found.label] & (areas(found.shapes) > 0)
    rows = np.arange(len(found))
    matches = match_detections(
        replace(
            dataset,
            ground_truths=truths,
            detections=replace(found, number=rows).where(judged, images),
        ),
        plan,
    )
    # Numbered by their rows in the shard, so that the ranked detections tell which they are.
    return FederatedMatches(
        replace(
            matches,
            number=found.number[matches.number],
            rank=_places_in_images(found)[matches.number],
            out_of_range=matches.out_of_range | _unfinished(federation, matches),
        ),
        federation.frequency,
    )


def merge_federated(parts: Sequence[FederatedMatches]) -> FederatedMatches:
    """Merge the evidence of several shards of images, in any order.

    Raises:
        ValueError: The shards are of different runs or data sets, or are views.
    """
    if len({part.frequency for part in parts}) > 1:
        raise ValueError("shards of one evidence share the frequencies of their labels")
    return replace(parts[0], matches=merge_matches([part.matches for part in parts]))


def outcomes_of_federated(
    model: str,
    parts: Sequence[DetectionDataset],
    federated: FederatedMatches,
    calls: Sequence[Call],
) -> ObjectsResult | None:
    """Every object of a model with its outcome; ignored where its label is not judged."""
    return outcomes_of_objects(model, parts, federated.matches, calls)


def lvis(
    federated: FederatedMatches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    areas: Sizes = ("small", "medium", "large"),
    max_detections: MaxDetections = 300,
) -> Findings:
    """The 13 LVIS numbers: AP and AR over IoUs, sizes and groups of rare to frequent labels.

    `max_detections` is the limit of an image over all labels under evaluation; None for none. APr,
    APc and APf are AP over the rare, common and frequent labels. AP50 and AP75 exist when their
    thresholds are among `iou_thresholds`. A size or group without ground truth has no value,
    where lvis-api prints -1.

    Formula:
        AP = mean over labels, IoU thresholds 0.50, 0.55 … 0.95 and recalls 0, 0.01 … 1 of the
             highest precision at that recall or a higher one; APr, APc, APf: of one group
        AR = mean over labels and IoU thresholds of recall
        a label is judged only in the images that have it or are known to be without it

    Pitfalls:
        Every label counts alike and rare ones have a handful of objects, so that APr swings widely
        between runs. The limit of detections is one for all labels of an image, not COCO's one for
        each label, and false positives in images not checked for a label are not counted.

    Example:
        A rare label has an AP of 0.1, a common one 0.3, a frequent one 0.5: AP is 0.3, APr 0.1, APc
        0.3 and APf 0.5.
    """
    matches = federated.matches
    precision = matches.precision(iou_thresholds, max_detections)
    values = at_thresholds(matches, precision, iou_thresholds, "AP")
    values += [_over_group(federated, precision, group) for group in FREQUENCIES]
    recalls = matches.recalls(iou_thresholds, max_detections)
    values.append(over_labels(matches, recalls, output="AR"))
    values += in_areas(matches, areas, iou_thresholds, max_detections)
    return Findings(values)


def _over_group(
    federated: FederatedMatches, precision: NDArray[np.float64], group: str
) -> MetricValue:
    """The mean over the labels of one frequency."""
    return over_labels(
        federated.matches,
        precision,
        output=f"AP{group}",
        among=np.array(federated.frequency, "U1") == group,
        none=f"no {FREQUENCIES[group]} label has ground truth",
    )


LVIS = Metric(
    name="lvis",
    compute=lvis,
    reference="lvis.LVISEval",
    citation="Gupta et al., LVIS: A Dataset for Large Vocabulary Instance Segmentation, CVPR 2019",
    needs=("ground_truth", "predictions", "federated"),
    outputs=tuple(
        Output(name, "higher")
        for name in (
            *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge", "APr", "APc", "APf"),
            *("AR", "ARsmall", "ARmedium", "ARlarge"),
        )
    ),
)

LVIS_WING = Wing(
    metrics=(LVIS,),
    plan=plan_matching,
    evidence=match_federated,
    merge=merge_federated,
    stored=(FederatedMatches, *STORED),
    objects=outcomes_of_federated,
)


def _places_in_images(found: Detections) -> NDArray[np.int64]:
    """(n,) place of each detection among those of its image, best score first, of any label."""
    order = ranked(found.image, found.score, np.zeros_like(found.image))
    place = np.empty(len(order), np.int64)
    place[order] = places_in_runs(found.image[order])
    return place


def _unfinished(federation: Federation, matches: Matches) -> NDArray[np.bool_]:
    """(n,) where not every object is marked; as outside an area range, what matches counts."""
    return np.asarray(federation.not_exhaustive[matches.image, matches.label])
