"""Resamples of real files: what files have in which images stand as often as drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.detection.asking import asked
from valor_cli.evaluators.detection import WING
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.metric import Call, Selection
from valor_cli.pipeline.intervals.resamples import Draws
from valor_cli.pipeline.intervals.resampling import findings_of, resampled
from valor_cli.results import LabelMean, MetricValue
from valor_cli.statistics.label_means import shifted

DATA = Path(__file__).parents[2] / "real_data" / "detection"
# The first has detections of one image, label and score of which one is right and one is not.
SETS = ("coco-val2014-100", "voc2012-100", "valor-lite-coco-15")
NAMES = (
    *("coco", "average_precision", "average_precision_over_ious", "average_recall"),
    *("counts", "precision", "f1"),
)
CALLS = [asked(one) for name in NAMES for one in WING.metrics if one.name == name]


def evidence(truth: Path, found: Path) -> Matches:
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(found))
    loaded = load_detections(inputs, DetectionOptions(), Selection())
    return match_detections(next(iter(loaded.datasets.values())), MatchingPlan())


def copied(folder: Path, name: str, weights: dict[int, int]) -> tuple[Path, Path]:
    """Files in which each image stands as often as it weighs, under an id of its own.

    Their scores are a little higher, the more the sooner they come among equal ones: without ties
    the copies of a detection stand beside it.
    """
    truth = json.loads((DATA / name / "groundtruth.coco.json").read_text())
    found = json.loads((DATA / name / "predictions.bbox.json").read_text())
    ranked = sorted(found, key=lambda row: (-row["score"], row["image_id"]))
    for at, row in enumerate(reversed(ranked)):
        row["score"] += 1e-12 * at
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in sorted(truth["images"], key=lambda one: one["id"]):
        for _ in range(weights[image["id"]]):
            number = len(images) + 1
            images.append({**image, "id": number})
            for mine, rows in ((annotations, truth["annotations"]), (results, found)):
                mine += [
                    {**row, "image_id": number} for row in rows if row["image_id"] == image["id"]
                ]
    annotations = [{**row, "id": at + 1} for at, row in enumerate(annotations)]
    (folder / "gt.json").write_text(
        json.dumps({**truth, "images": images, "annotations": annotations})
    )
    (folder / "dt.json").write_text(json.dumps(results))
    return folder / "gt.json", folder / "dt.json"


Key = tuple[str, str, str | None, str]


def keys(call: Call, matches: Matches) -> list[tuple[Key, MetricValue]]:
    return [
        ((call.metric.name, one.output, one.label, str(one.at)), one)
        for one in findings_of(call, matches, WING.parts).values
    ]


def held_to(
    found: MetricValue, whole: MetricValue, at: Sequence[int]
) -> tuple[float, float] | None:
    """The value over the labels of all data; those of the files stand `at` these of them."""
    over = None
    if found.over is not None and whole.over is not None:
        values = np.full(whole.over.values.shape, np.nan)
        present = np.zeros(values.shape, bool)
        values[..., at], present[..., at] = found.over.values, found.over.present
        over = LabelMean(values, present)
    value = np.array([np.nan if found.value is None else found.value])
    (one,), (shift,) = shifted(value, over, whole.over)
    return told(one, shift)


def told(value: float, shift: float) -> tuple[float, float] | None:
    """A value and its shift; None: there is no value."""
    return None if np.isnan(value) else (value, shift)


@pytest.mark.parametrize("name", SETS)
def test_every_value_equals_that_of_the_copied_files(name: str, tmp_path: Path) -> None:
    whole = evidence(DATA / name / "groundtruth.coco.json", DATA / name / "predictions.bbox.json")
    draws = Draws(whole.unit_count, 2, 0)
    weights = np.array([draws.weights(number) for number in range(2)])
    findings = [findings_of(call, whole, WING.parts) for call in CALLS]
    found = resampled(CALLS, findings, whole, WING.parts, weights)
    all_data = dict(pair for call in CALLS for pair in keys(call, whole))
    named = list(all_data)
    for row, values, shifts in zip(weights, *found, strict=True):
        times = dict(zip(whole.image_ids.tolist(), row.tolist(), strict=True))
        alone = evidence(*copied(tmp_path, name, times))
        mine = dict(zip(named, map(told, values, shifts), strict=True))
        at = [whole.labels.index(label) for label in alone.labels]
        theirs = {
            key: held_to(one, all_data[key], at) for call in CALLS for key, one in keys(call, alone)
        }
        for key, expected in theirs.items():
            own = mine[key]
            assert (own is None) == (expected is None)
            if own is not None and expected is not None:
                # Of resamples, averages and shifts are added in another order.
                assert own == pytest.approx(expected, abs=1e-12)
        # A label that is in no drawn image is none of the copied files'.
        left = {mine[key] for key in mine.keys() - theirs.keys()}
        assert left <= {None, (0.0, 0.0)}
