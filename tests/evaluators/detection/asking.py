"""What tests of metrics share: problems with wrong labels, and evidence for any questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.oracles.confusion import Scene, Verdict, coco, settle, valor
from tests.oracles.problems import random_dataset
from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import AREAS, MatchingPlan, plan_matching
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.metric import Call, Metric
from valor_cli.results import Findings, MetricValue

Box = tuple[float, float, float, float]
RULES = {"coco": coco, "valor": valor}
PARTS = (
    *("tp", "fp", "fn", "fp_misclassifications", "fp_hallucinations"),
    *("fn_misclassifications", "fn_no_predictions"),
)
"""The columns of a detailed curve."""


def confused_dataset(seed: int, *, matching: str = "coco", **options: Any) -> DetectionDataset:
    """A random problem in which a third of the detections have any label.

    A third of the ground truths stand close to another of their image and label, or on it.
    Under `matching: valor` without what it leaves out: crowds, and scores that are not above 0.
    """
    dataset = random_dataset(seed, **options)
    rng = np.random.default_rng(seed + 1)
    truths, found = dataset.ground_truths, dataset.detections
    other = rng.integers(0, len(dataset.labels), len(found))
    found = replace(found, label=np.where(rng.random(len(found)) < 0.3, other, found.label))
    truths = _beside(truths, rng)
    if matching == "valor":
        everywhere = np.arange(dataset.unit_count)
        truths = truths.where(~truths.crowd, everywhere)
        found = found.where(found.score > 0, everywhere)
    return replace(dataset, ground_truths=truths, detections=found, matching=matching)


def _beside(truths: GroundTruths, rng: np.random.Generator) -> GroundTruths:
    """Some moved to where others stand, by a few whole pixels, or by none."""
    moved = np.flatnonzero(rng.random(len(truths)) < 0.3)
    source = np.arange(len(truths))
    source[moved] = rng.integers(0, len(truths), len(moved))
    shift = np.zeros((len(truths), 4))
    shift[moved, :2] = rng.integers(-2, 3, (len(moved), 2))
    box = truths.shapes.box[source] + shift
    image, label = truths.image[source], truths.label[source]
    return replace(
        truths, image=image, label=label, shapes=Shapes.boxes(box), area=truths.area[source]
    )


def small_dataset(
    labels: Sequence[str],
    truths: Sequence[tuple[int, str, Box]],
    found: Sequence[tuple[int, str, float, Box]],
    *,
    images: int = 2,
    crowds: Sequence[int] = (),
    matching: str = "coco",
) -> DetectionDataset:
    """Ground truths (image, label, box) and detections (image, label, score, box), as written.

    Images are named 10, 11 and so on; `crowds` are positions of ground truths.
    """
    boxes = np.array([box for *_, box in truths], float).reshape(-1, 4)
    return DetectionDataset(
        np.arange(images) + 10,
        tuple(labels),
        GroundTruths(
            np.array([image for image, *_ in truths], np.int64),
            np.array([labels.index(label) for _, label, _ in truths], np.int64),
            Shapes.boxes(boxes),
            boxes[:, 2] * boxes[:, 3],
            np.isin(np.arange(len(truths)), crowds),
            np.arange(len(truths)),
        ),
        Detections(
            np.array([image for image, *_ in found], np.int64),
            np.array([labels.index(label) for _, label, *_ in found], np.int64),
            Shapes.boxes(np.array([box for *_, box in found], float).reshape(-1, 4)),
            np.array([score for _, _, score, _ in found], float),
            np.arange(len(found)),
        ),
        matching,
    )


def scene(labels: str, truths: str, found: str, **how: Any) -> DetectionDataset:
    """The same as text: "image label x y" and "image label score x y", apart by commas.

    Boxes are 10 by 10 unless width and height follow.
    """

    def box(x: str, y: str, width: str = "10", height: str = "10") -> Box:
        return float(x), float(y), float(width), float(height)

    rows, scored = ([one.split() for one in text.split(",") if one] for text in (truths, found))
    return small_dataset(
        labels.split(),
        [(int(image), label, box(*sides)) for image, label, *sides in rows],
        [(int(image), label, float(score), box(*sides)) for image, label, score, *sides in scored],
        **how,
    )


def asked(metric: Metric[Matches], **parameters: Any) -> Call:
    """A call with every parameter, as a config would make it."""
    return Call(metric, {one.name: one.default for one in metric.parameters} | parameters)


def plan_of(*calls: Call, area: bool = False) -> MatchingPlan:
    return plan_matching(calls, ["area"] if area else [])


def findings(matches: Matches, call: Call) -> Findings:
    """What a metric says, always as findings."""
    found = call.metric.compute(matches, **call.parameters)
    return Findings([found]) if isinstance(found, MetricValue) else found


def ask(
    dataset: DetectionDataset, metric: Metric[Matches], *, area: str = "all", **parameters: Any
) -> Findings:
    """What a metric says of a dataset, or of one area range in it."""
    call = asked(metric, **parameters)
    matches = match_detections(dataset, plan_of(call, area=area != "all"))
    return findings(matches.within(area), call)


def numbers(found: Findings, output: str) -> dict[str | None, float | None]:
    """The values of one output by label; None is all labels together."""
    return {value.label: value.value for value in found.values if value.output == output}


@dataclass(frozen=True)
class Problem:
    """A random problem, and what may be asked about it."""

    seed: int
    digits: int | None
    iou: float
    score: float
    area: str
    matching: str
    limit: int | None
    most: int

    @cached_property
    def dataset(self) -> DetectionDataset:
        # Of equal scores in one image, matching: valor takes the higher IoU first and a limit the
        # earlier detection: what both together mean is nowhere written.
        both = self.matching == "valor" and self.limit is not None
        digits = None if both else self.digits
        return confused_dataset(self.seed, images=8, digits=digits, matching=self.matching)

    @cached_property
    def scene(self) -> Scene:
        return Scene.of(self.dataset)

    def verdict(self, score: float | None = None, *, limited: bool = True) -> Verdict:
        """What became of everything from a score on, the problem's own if none is given."""
        return settle(
            self.scene,
            self.iou,
            self.score if score is None else score,
            most=self.limit if limited else None,
            limits=AREAS[self.area],
            rule=RULES[self.matching],
        )

    def ask(self, metric: Metric[Matches], **parameters: Any) -> Findings:
        return ask(self.dataset, metric, area=self.area, **parameters)


PROBLEMS = st.builds(
    Problem,
    seed=st.integers(0, 10_000),
    digits=st.sampled_from([0, 1, 2, None]),
    iou=st.sampled_from([0.05, 0.2, 0.3, 0.5, 0.75, 1.0]),
    score=st.sampled_from([0.0, 0.3, 0.5, 0.9]),
    area=st.sampled_from(list(AREAS)),
    matching=st.sampled_from(list(RULES)),
    limit=st.sampled_from([None, 1, 3, 100]),
    most=st.sampled_from([0, 1, 3, 1000]),
)
