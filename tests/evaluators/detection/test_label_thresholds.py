"""A score threshold for each label: what best_f1 finds, fed back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.problems import random_dataset
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import Closeness, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.best_f1 import best_f1
from valor_cli.evaluators.detection.metrics.confusion_matrix import confusion_matrix
from valor_cli.evaluators.detection.metrics.counts import counts
from valor_cli.evaluators.detection.metrics.precision_recall import (
    f1,
    precision,
)


@pytest.fixture
def matches() -> Matches:
    plan = MatchingPlan((0.5,), overlap_pairs=Closeness(0.1, -np.inf, (0.5,)))
    return match_detections(random_dataset(3, images=15, digits=2), plan)


def values(found: Any, output: str = "value") -> dict[str | None, float | None]:
    return {one.label: one.value for one in found.values if one.output == output}


def test_best_thresholds_fed_back_give_the_best_values(matches: Matches) -> None:
    best = best_f1(matches, iou_threshold=0.5)
    at = {
        label: value
        for label, value in values(best, "score_threshold").items()
        if label is not None and value is not None
    }
    assert len(at) > 2
    found = f1(matches, iou_threshold=0.5, score_threshold=at)
    assert {label: values(found)[label] for label in at} == {
        label: pytest.approx(values(best, "f1")[label], abs=1e-12) for label in at
    }
    right = precision(matches, iou_threshold=0.5, score_threshold=at)
    assert {label: values(right)[label] for label in at} == {
        label: values(best, "precision")[label] for label in at
    }
    rows = {one.label: one.at for one in found.values}
    assert all(rows[label] == {"score_threshold": value} for label, value in at.items())
    table = confusion_matrix(matches, iou_threshold=0.5, score_threshold=at).tables[0]
    tp = values(counts(matches, iou_threshold=0.5, score_threshold=at), "tp")
    assert dict(zip(table.labels, np.diag(table.matrix).tolist(), strict=True)) == {
        label: tp[label] for label in table.labels
    }


def test_labels_that_are_not_named_keep_a_half(matches: Matches) -> None:
    first, *others = matches.labels
    mixed = counts(matches, iou_threshold=0.5, score_threshold={first: 0.9})
    for output in ("tp", "fp", "fn"):
        high = values(counts(matches, iou_threshold=0.5, score_threshold=0.9), output)
        half = values(counts(matches, iou_threshold=0.5, score_threshold=0.5), output)
        expected = {first: high[first], **{label: half[label] for label in others}}
        assert values(mixed, output) == expected
