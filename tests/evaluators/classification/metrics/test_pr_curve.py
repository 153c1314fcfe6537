"""The curves along score thresholds: by hand, against the obvious loop, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.classification.listing import SAMPLES, Sample, evidence, real
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.pr_curve import PR_CURVE, pr_curve

COLUMNS = ("tp", "fp", "fn", "tn", "precision", "recall", "accuracy", "f1")


def curves(scored: Scored, thresholds: tuple[float, ...]) -> dict[str | None, list[list[Any]]]:
    """By label the rows of its curve."""
    return {
        curve.label: [list(row) for row in zip(*(curve.points[c] for c in COLUMNS), strict=True)]
        for curve in pr_curve(scored, score_thresholds=thresholds).curves
    }


def test_by_hand() -> None:
    # The threshold itself passes. At .5, a: s0 right; s1 of b wrong; s2 (.4) missed.
    # c is only predicted, at .5 by s2: its recall and F1 are null. d is nobody's: no curve.
    scored = evidence(
        "abcd",
        [
            ("a", {"a": 0.5, "b": 0.4}),
            ("b", {"a": 0.9, "b": 0.4}),
            ("a", {"a": 0.4, "c": 0.6}),
            ("b", {"d": 0.1}),
        ],
    )
    assert curves(scored, (0.5, 0.95)) == {
        "a": [
            [1, 1, 1, 1, 1 / 2, 1 / 2, 2 / 4, 1 / 2],
            [0, 0, 2, 2, None, 0.0, 2 / 4, 0.0],
        ],
        "b": [[0, 0, 2, 2, None, 0.0, 2 / 4, 0.0]] * 2,
        "c": [
            [0, 1, 0, 3, 0.0, None, 3 / 4, None],
            [0, 0, 0, 4, None, None, 4 / 4, None],
        ],
    }


def test_a_score_of_zero_is_never_positive() -> None:
    scored = evidence("ab", [("a", {"a": 0.0, "b": 0.3}), ("a", {"a": 0.2})])
    assert curves(scored, (0.0,))["a"] == [[1, 0, 1, 0, 1.0, 1 / 2, 1 / 2, 2 / 3]]


def test_default_thresholds() -> None:
    (curve,) = pr_curve(evidence("a", [("a", {"a": 0.5})])).curves
    assert list(curve.points["score_threshold"]) == [round(x / 100, 2) for x in range(5, 100, 5)]
    assert list(curve.points["tp"]) == [1] * 10 + [0] * 9


def test_labels_alone_score_one() -> None:
    scored = evidence("ab", [("a", {"a": 1.0}), ("b", {"a": 1.0}), ("b", {})])
    assert curves(scored, (0.05, 1.0))["a"] == [[1, 1, 0, 1, 1 / 2, 1.0, 2 / 3, 2 / 3]] * 2


def test_no_samples_have_no_curve() -> None:
    scored = evidence("ab", [("a", {"a": 0.9})]).select(np.array([False]))
    assert not pr_curve(scored).curves


def counted(samples: list[Sample], label: str, level: float) -> list[int]:
    outcomes = [
        (truth == label, row.get(label, 0) >= level and row.get(label, 0) != 0)
        for truth, row in samples
    ]
    return [outcomes.count(one) for one in ((1, 1), (0, 1), (1, 0), (0, 0))]


@given(SAMPLES, st.sets(st.sampled_from([-0.6, -0.1, 0.0, 0.1, 0.15, 0.5, 1.0]), min_size=1))
@settings(max_examples=100, deadline=None)
def test_equals_the_obvious_loop(samples: list[Sample], levels: set[float]) -> None:
    thresholds = tuple(sorted(levels))
    found = curves(evidence("abcd", samples), thresholds)
    for label in "abcd":
        expected = [counted(samples, label, level) for level in thresholds]
        if label in found:
            assert [row[:4] for row in found[label]] == expected
            for tp, fp, fn, tn, precision, recall, accuracy, f1 in found[label]:
                assert precision == (tp / (tp + fp) if tp + fp else None)
                assert recall == (tp / (tp + fn) if tp + fn else None)
                assert accuracy == (tp + tn) / len(samples)
                assert f1 == (2 * tp / (2 * tp + fp + fn) if tp + fn else None)
        else:
            assert expected[0][:3] == [0, 0, 0]


def test_real_data_equals_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scored, _ = real("digits-899-randomforest")
    score = scored.scores.sparse().score.reshape(-1, len(scored.labels))
    truth = np.eye(len(scored.labels), dtype=int)[scored.truth]
    found = curves(scored, (0.05, 0.3, 0.55))
    for at, level in enumerate((0.05, 0.3, 0.55)):
        expected = metrics.multilabel_confusion_matrix(truth, score >= level)
        parts = metrics.precision_recall_fscore_support(truth, score >= level, zero_division=0)
        for label, ((tn, fp), (fn, tp)), precision, recall, f1 in zip(
            scored.labels, expected.tolist(), *parts[:3], strict=True
        ):
            row = found[label][at]
            assert row[:4] == [tp, fp, fn, tn]
            assert [row[4], row[5], row[7]] == pytest.approx([precision, recall, f1], rel=1e-14)


def test_any_order_of_samples() -> None:
    samples = [("a", {"a": 0.5, "b": 0.5}), ("b", {"b": 0.9}), ("a", {"b": 0.2})]
    scored, turned = evidence("ab", samples), evidence("ab", samples[::-1])
    assert pr_curve(scored) == pr_curve(turned)
    assert PR_CURVE.draws == "curves"
    assert not PR_CURVE.outputs
