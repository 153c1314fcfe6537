"""Precision, recall and F1: worked by hand, against scikit-learn, and where they are undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.evaluators.classification.asking import (
    LABELS,
    by_label,
    plain,
    reasons,
    repeated,
    row_of,
    scored,
    weighed,
)
from tests.evaluators.classification.metrics.test_counts import ROWS
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.precision_recall import (
    NO_PREDICTIONS,
    f1,
    precision,
    recall,
)
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH
from valor_cli.results import Findings

METRICS: tuple[Callable[..., Findings], ...] = (precision, recall, f1)


def test_worked_by_hand() -> None:
    # At 0.3 under hardmax (test_counts): cat tp 1 fp 1 fn 1, dog fn 1, cow fp 1 fn 2.
    found = scored(ROWS, LABELS[:3])
    assert by_label(precision(found, score_threshold=0.3)) == {
        "cat": 0.5,
        "dog": 0,
        "cow": 0,
        None: pytest.approx(1 / 6),
    }
    assert by_label(recall(found, score_threshold=0.3)) == {
        "cat": 0.5,
        "dog": 0,
        "cow": 0,
        None: pytest.approx(1 / 6),
    }
    assert by_label(f1(found, score_threshold=0.3, average="weighted")) == {
        "cat": 0.5,
        "dog": 0,
        "cow": 0,
        None: pytest.approx(0.5 * 2 / 5),
    }
    # tp 1, fp 2, fn 4.
    micro = [
        by_label(metric(found, score_threshold=0.3, average="micro"))[None] for metric in METRICS
    ]
    assert micro == pytest.approx([1 / 3, 1 / 5, 2 / 8])


def test_zero_division_stands_in_for_what_is_never_predicted() -> None:
    found = scored(ROWS, LABELS[:3])
    for metric in (precision, f1):
        values = metric(found, score_threshold=0.3, zero_division=1.0)
        assert row_of(values, "dog").value == 1
        assert row_of(values, "dog").undefined == NO_PREDICTIONS
        assert row_of(values, "cow").undefined is None
        # cat .5, dog 1, cow 0.
        assert row_of(values, None).value == 0.5


def test_a_label_without_ground_truth() -> None:
    # dog is predicted for a cat; nothing has to do with the other labels.
    found = scored([Row(0, [(0, 1.0)]), Row(0, [(1, 1.0)])])
    assert by_label(precision(found)) == {
        "cat": 1,
        "dog": 0,
        "cow": 0,
        "owl": 0,
        "fox": 0,
        None: 0.5,
    }
    assert reasons(precision(found))["cow"] == NO_PREDICTIONS
    for metric in (recall, f1):
        values = metric(found)
        assert by_label(values)["dog"] is None
        assert reasons(values)["dog"] == reasons(values)["cow"] == NO_GROUND_TRUTH
        # scikit-learn counts the predicted label as 0, and one seen on neither side not at all.
        assert by_label(values)[None] == by_label(values)["cat"] / 2  # type: ignore[operator]


def test_nothing_predicted() -> None:
    found = scored([Row(0, []), Row(1, [(1, 0.0)])])
    for average in ("macro", "micro", "weighted"):
        assert row_of(precision(found, average=average, zero_division=1.0), None).value == 1
        assert row_of(precision(found, average=average), None).undefined
        assert row_of(recall(found, average=average), None).value == 0
        assert row_of(recall(found, average=average), None).undefined is None


@pytest.mark.parametrize("metric", METRICS)
def test_no_samples(metric: Callable[..., Findings]) -> None:
    for value in metric(scored([])).values:
        assert value.value is None
        assert value.undefined


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_learn(seed: int, partial: bool, hardmax: bool, average: str) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = random_rows(seed, partial=partial)
    thresholds = {0: 0.2, 1: 0.3, 3: 0.25}
    by_name: dict[str, float] = {LABELS[label]: at for label, at in thresholds.items()}
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        truth = np.eye(5, dtype=int)[[row.truth for row in read]]
        said = np.array(
            [
                [label in oracle.positives(row, thresholds, hardmax=hardmax) for label in range(5)]
                for row in read
            ],
            int,
        )
        seen = np.flatnonzero(truth.any(axis=0) | said.any(axis=0))
        options: dict[str, Any] = {"labels": seen, "zero_division": 0}
        each = sklearn.precision_recall_fscore_support(truth, said, average=None, **options)
        total = sklearn.precision_recall_fscore_support(truth, said, average=average, **options)
        for metric, values, overall in zip(METRICS, each, total, strict=False):
            got = by_label(metric(found, score_threshold=by_name, hardmax=hardmax, average=average))
            assert got[None] == pytest.approx(overall, abs=1e-12)
            for label, expected in zip(seen, values, strict=True):
                if got[LABELS[label]] is not None:
                    assert got[LABELS[label]] == pytest.approx(expected, abs=1e-12)
                else:
                    assert not truth[:, label].any()


def test_a_labels_row_says_its_threshold() -> None:
    found: Scored = scored(ROWS, LABELS[:3])
    values = precision(found, score_threshold={"dog": 0.45})
    assert row_of(values, "dog").at == {"score_threshold": 0.45}
    assert row_of(values, "cow").at == {"score_threshold": 0.0}
    assert row_of(values, None).at == {}


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_a_recall_is_a_share_of_its_samples(average: str, hardmax: bool) -> None:
    read = scored(random_rows(2, partial=True), LABELS)
    options = {"average": average, "hardmax": hardmax, "score_threshold": 0.2}
    values = recall(read, **options).values
    for value in values:
        counted = value.label is not None or average != "macro"
        assert value.proportion == (counted and value.value is not None)
        if value.proportion:
            assert value.value is not None
            assert value.n
            found = value.value * value.n
            assert found == pytest.approx(round(found), abs=1e-9)
    assert len(values) > 3
    # What is predicted, the denominator of the others, is no number of samples drawn.
    others = [*precision(read, **options).values, *f1(read, **options).values]
    assert not any(value.proportion for value in others)


def test_a_recall_that_is_undefined_is_no_share() -> None:
    (value, *_) = recall(scored([Row(1, [(1, 1.0)])])).values
    assert (value.value, value.proportion) == (None, False)
