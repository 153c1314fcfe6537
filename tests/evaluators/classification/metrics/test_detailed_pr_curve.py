"""The detailed curve: worked by hand, and its counts and examples against the slow oracle."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.classification.listing import SAMPLES, Sample, evidence, random_listing
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.detailed_pr_curve import detailed_pr_curve
from valor_cli.evaluators.classification.metrics.pr_curve import pr_curve
from valor_cli.evaluators.parameters import SCORES
from valor_cli.results import MetricExample

COLUMNS = (
    "tp",
    "fp",
    "fn",
    "tn",
    "fp_misclassifications",
    "fn_misclassifications",
    "fn_no_predictions",
)
LABELS = "abcd"


def curves(scored: Scored, thresholds: tuple[float, ...]) -> dict[str | None, list[list[Any]]]:
    """By label the rows of its curve."""
    found = detailed_pr_curve(scored, score_thresholds=thresholds)
    return {
        curve.label: [list(row) for row in zip(*(curve.points[c] for c in COLUMNS), strict=True)]
        for curve in found.curves
    }


SIX: list[Sample] = [
    ("a", {"a": 0.9, "b": 0.6}),  # right; b is a false positive up to .6
    ("a", {"b": 0.8, "a": 0.3}),  # found up to .3; then b stands for it up to .8
    ("a", {"a": 0.9}),  # right
    ("b", {"a": 0.4}),  # a stands for it up to .4; then nothing
    ("b", {}),  # nothing
    ("b", {"b": 0.7, "c": 0.2}),  # right
]


def test_counts_by_hand() -> None:
    assert curves(evidence("abc", SIX), (0.2, 0.5, 0.85)) == {
        #      tp fp fn tn  fp_mis fn_mis fn_none
        "a": [
            [3, 1, 0, 2, 1, 0, 0],
            [2, 0, 1, 3, 0, 1, 0],
            [2, 0, 1, 3, 0, 0, 1],
        ],
        "b": [
            [1, 2, 2, 1, 2, 1, 1],
            [1, 2, 2, 1, 2, 0, 2],
            [0, 0, 3, 3, 0, 0, 3],
        ],
        "c": [
            [0, 1, 0, 5, 1, 0, 0],
            [0, 0, 0, 6, 0, 0, 0],
            [0, 0, 0, 6, 0, 0, 0],
        ],
    }


def told(scored: Scored, example: MetricExample) -> tuple[Any, ...]:
    """Kind, label, sample, labels of the objects (the truth, the prediction) and thresholds."""
    objects = [thing.label for thing in example.objects]
    thresholds = example.at["score_thresholds"]
    return (
        example.kind,
        example.label,
        example.sample_id,
        "".join(objects),
        thresholds,
    )


def test_examples_by_hand() -> None:
    scored = evidence("abc", SIX)
    found = detailed_pr_curve(scored, score_thresholds=(0.2, 0.5, 0.85)).examples
    assert [told(scored, one) for one in found] == [
        # Equal scores: the first sample.
        ("true_positive", "a", "s0", "aa", (0.2, 0.5, 0.85)),
        ("true_positive", "b", "s5", "bb", (0.2, 0.5)),
        # False positives, best score first.
        ("misclassification", "a", "s3", "ba", (0.2,)),
        ("misclassification", "b", "s1", "ab", (0.2, 0.5)),
        ("misclassification", "c", "s5", "bc", (0.2,)),
        # False negatives that another label stands for.
        ("misclassification", "a", "s1", "ab", (0.5,)),
        ("misclassification", "b", "s3", "ba", (0.2,)),
        # False negatives without any prediction, the first sample: s3 comes before s4.
        ("no_prediction", "a", "s1", "a", (0.85,)),
        ("no_prediction", "b", "s3", "b", (0.5, 0.85)),
        ("no_prediction", "b", "s4", "b", (0.2,)),
        # True negatives, the first sample.
        ("true_negative", "a", "s3", "b", (0.5, 0.85)),
        ("true_negative", "a", "s4", "b", (0.2,)),
        ("true_negative", "b", "s0", "a", (0.85,)),
        ("true_negative", "b", "s2", "a", (0.2, 0.5)),
        ("true_negative", "c", "s0", "a", (0.2, 0.5, 0.85)),
    ]


def passing(row: dict[str, float], level: float) -> set[str]:
    return {label for label, score in row.items() if score != 0 and score >= level}


def cases(samples: list[Sample], level: float) -> dict[tuple[str, str], list[tuple[float, int]]]:
    """Every case at a threshold by what it is and label: minus the score that makes it, sample."""
    found = defaultdict(list)
    for at, (truth, row) in enumerate(samples):
        passed = passing(row, level)
        for label in LABELS:
            if label in passed:
                found["tp" if label == truth else "fp", label].append((-row[label], at))
            elif label != truth:
                found["tn", label].append((0.0, at))
            elif passed:
                best = max(row[one] for one in passed)
                found["fn_misclassifications", label].append((-best, at))
            else:
                found["fn_no_predictions", label].append((0.0, at))
    return found


KINDS = {
    "tp": "true_positive",
    "fp": "misclassification",
    "tn": "true_negative",
    "fn_misclassifications": "misclassification",
    "fn_no_predictions": "no_prediction",
}


def check(samples: list[Sample], thresholds: tuple[float, ...], most: int) -> None:
    """Counts and examples are those of the oracle."""
    scored = evidence(LABELS, samples)
    found = detailed_pr_curve(scored, score_thresholds=thresholds, max_examples=most)
    by_label = curves(scored, thresholds)
    shown: dict[Any, list[int]] = defaultdict(list)
    for one in found.examples:
        kind, label, sample, objects, at = told(scored, one)
        for level in at:
            shown[kind, label, objects[0] == label, level].append(int(str(sample)[1:]))
    expected: dict[Any, list[int]] = {}
    for number, level in enumerate(thresholds):
        some = cases(samples, level)
        for (what, label), rows in some.items():
            key = KINDS[what], label, what not in ("fp", "tn"), level
            expected[key] = [at for _, at in sorted(rows)][:most]
        for label, rows in by_label.items():
            count = {what: len(some[what, label]) for what in KINDS}
            fn = count["fn_misclassifications"] + count["fn_no_predictions"]
            assert dict(zip(COLUMNS, rows[number], strict=True)) == {
                **count,
                "fn": fn,
                "fp_misclassifications": count["fp"],
            }
    assert {key: sorted(rows) for key, rows in shown.items()} == {
        key: sorted(rows) for key, rows in expected.items() if most
    }


@given(
    SAMPLES,
    st.sets(st.sampled_from([-1.0, -0.5, -0.2, 0.0, 0.1, 0.15, 0.5, 1.0]), min_size=1),
    st.integers(0, 3),
)
@settings(max_examples=100, deadline=None)
def test_equals_the_oracle(samples: list[Sample], levels: set[float], most: int) -> None:
    check(samples, tuple(sorted(levels)), most)


def test_a_label_below_zero_stands_for_one_that_is_zero() -> None:
    # At -1 b and c pass, a's 0 never does: b is the higher one.
    found = detailed_pr_curve(
        evidence("abc", [("a", {"a": 0.0, "c": -0.75, "b": -0.5})]), score_thresholds=(-1.0, 0.0)
    )
    points = {curve.label: curve.points for curve in found.curves}
    assert points["a"]["fn_misclassifications"] == [1, 0]
    assert points["a"]["fn_no_predictions"] == [0, 1]
    (wrong,) = (one for one in found.examples if one.label == "a" and one.kind != "no_prediction")
    assert (wrong.kind, wrong.at) == ("misclassification", {"score_thresholds": (-1.0,)})
    assert [(thing.number, thing.score) for thing in wrong.objects] == [(0, None), (0, -0.5)]


@pytest.mark.parametrize("most", [1, 2, 40])
def test_many_samples_equal_the_oracle(most: int) -> None:
    check(random_listing(most, LABELS, 700, digits=2), SCORES, most)


def test_true_negatives_are_found_behind_many_that_pass() -> None:
    # 300 samples of b that score for a, then one that does not.
    samples: list[Sample] = [("b", {"a": 0.97, "b": 0.5})] * 300 + [("b", {"b": 0.5})]
    check(samples, SCORES, 1)


@given(SAMPLES)
@settings(max_examples=50, deadline=None)
def test_counts_are_those_of_the_plain_curve(samples: list[Sample]) -> None:
    scored = evidence(LABELS, samples)
    plain = {curve.label: curve.points for curve in pr_curve(scored).curves}
    detailed = {curve.label: curve.points for curve in detailed_pr_curve(scored).curves}
    assert detailed.keys() == plain.keys()
    for label, points in detailed.items():
        for name in ("tp", "fp", "fn", "tn"):
            assert list(points[name]) == list(plain[label][name])


def test_no_samples() -> None:
    found = detailed_pr_curve(evidence("ab", [("a", {"a": 0.9})]).select(np.array([False])))
    assert not found.curves
    assert not found.examples


def test_numbers_of_objects_are_those_of_the_whole_dataset() -> None:
    # Samples of a part keep the numbers that they have in the whole.
    samples: list[Sample] = [("a", {"a": 0.9}), ("c", {"c": 0.9}), ("b", {"c": 0.9})]
    part = evidence("abc", samples).select(np.array([False, True, True]))
    wrong = next(one for one in detailed_pr_curve(part).examples if one.kind == "misclassification")
    assert [thing.number for thing in wrong.objects] == [2, 2]
    assert wrong.sample_id == "s2"
