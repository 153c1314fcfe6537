"""Detections and LVIS's federation in, evidence by the rules of LVIS out.

Gupta et al., LVIS, 2019, section 3.3: an image is searched for some labels only, so a detection is
judged where its label was marked in the image, or is known not to be there. Where not every object
of a label is marked, a detection that matches nothing is no mistake.

The rules are those of lvis-api's `LVISEval`, to its quirks: there are no crowd regions, a ground
truth marked as one counts like any other; objects without area do not exist. Unlike there, the
area of a detected mask is that of its pixels also where the file has a box beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.detection import DetectionDataset, Detections, Federation
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import MatchingPlan
from valor_cli.evaluators.detection.shards import match_detections, merge_matches
from valor_cli.kernels.columns import places_in_runs, ranked
from valor_cli.kernels.conversion import areas


@dataclass(frozen=True, slots=True)
class FederatedMatches:
    """Matches where LVIS judges, and how frequent it says the labels are.

    Attributes:
        matches: Of the detections that are judged. Their `rank` is their place among all detections
            of the image, so that a limit of detections holds for an image over all labels.
        frequency: (labels,) "r", "c" or "f".
    """

    matches: Matches
    frequency: tuple[str, ...]

    @property
    def unit_count(self) -> int:
        """How many images there are."""
        return self.matches.unit_count

    def select(self, units: NDArray[np.bool_]) -> FederatedMatches:
        """The evidence of some images alone."""
        return replace(self, matches=self.matches.select(units))

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[FederatedMatches]:
        """The evidence in which image i stands weights[b, i] times, for each b."""
        for again in self.matches.resamples(weights):
            yield replace(self, matches=again)


def match_federated(dataset: DetectionDataset, plan: MatchingPlan) -> FederatedMatches:
    """Evidence of one shard of images.

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
            outside=matches.outside | _unfinished(federation, matches),
        ),
        federation.frequency,
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


def merge_federated(parts: Sequence[FederatedMatches]) -> FederatedMatches:
    """The evidence of several shards of images together, in any order.

    Raises:
        ValueError: The shards are of different runs or data sets, or are views.
    """
    if len({part.frequency for part in parts}) > 1:
        raise ValueError("shards of one evidence share the frequencies of their labels")
    return replace(parts[0], matches=merge_matches([part.matches for part in parts]))
