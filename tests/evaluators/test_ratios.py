"""Ratios of labels and their averages, worked by hand, and scikit-learn's on random samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from valor_cli.evaluators.ratios import (
    NO_GROUND_TRUTH,
    NO_LABEL,
    Average,
    Margins,
    Ratios,
    Words,
    labels_and_average,
    over_labels,
    per_label,
)
from valor_cli.results import MetricValue

LABELS = ("cat", "dog", "cow", "elk", "fox")
WORDS = Words("never predicted", "nothing is predicted")
# cat: 3 of 4 found, 2 false; dog: never predicted; cow: predicted, not there; elk: on neither side;
# fox: both of 2 found.
RIGHT, PREDICTED, TRUTH = (3, 0, 0, 0, 2), (5, 0, 3, 0, 2), (4, 2, 0, 0, 2)


def margins(*seen: bool) -> Margins:
    return Margins(np.array(RIGHT), np.array(PREDICTED), np.array(TRUTH), np.array(seen))


WITH_TRUTH = margins(True, True, False, False, True)
ON_EITHER_SIDE = margins(True, True, True, False, True)


def rows(ratios: Ratios, labels: Sequence[str] = LABELS) -> list[tuple[Any, ...]]:
    values = per_label(labels, ratios, WORDS)
    return [(one.label, one.value, one.undefined, one.n) for one in values]


def test_precision_of_each_label() -> None:
    assert rows(WITH_TRUTH.precision(0.25)) == [
        ("cat", 3 / 5, None, 4),
        ("dog", 0.25, "never predicted", 2),
        ("cow", 0.0, None, 0),
        ("elk", 0.25, "never predicted", 0),
        ("fox", 1.0, None, 2),
    ]


def test_recall_of_each_label() -> None:
    assert rows(WITH_TRUTH.recall()) == [
        ("cat", 3 / 4, None, 4),
        ("dog", 0.0, None, 2),
        ("cow", None, NO_GROUND_TRUTH, 0),
        ("elk", None, NO_GROUND_TRUTH, 0),
        ("fox", 1.0, None, 2),
    ]


def test_f1_of_each_label() -> None:
    # cat: 2 * 3 / (5 + 4); dog is 0/0 as its precision is.
    assert rows(WITH_TRUTH.f1(0.25)) == [
        ("cat", 6 / 9, None, 4),
        ("dog", 0.25, "never predicted", 2),
        ("cow", None, NO_GROUND_TRUTH, 0),
        ("elk", None, NO_GROUND_TRUTH, 0),
        ("fox", 1.0, None, 2),
    ]


@pytest.mark.parametrize(
    ("found", "how", "precision", "recall", "f1"),
    [
        # cat, dog, fox; the predictions of cow count nowhere.
        (WITH_TRUTH, "macro", (0.6 + 0.25 + 1) / 3, (0.75 + 0 + 1) / 3, (6 / 9 + 0.25 + 1) / 3),
        (WITH_TRUTH, "weighted", (4 * 0.6 + 2 * 0.25 + 2) / 8, 5 / 8, (24 / 9 + 0.5 + 2) / 8),
        (WITH_TRUTH, "micro", 5 / 7, 5 / 8, 10 / 15),
        # And cow: its precision is 0; its recall and F1, which it does not have, are 0/0.
        (ON_EITHER_SIDE, "macro", (0.6 + 0.25 + 0 + 1) / 4, 1.75 / 4, (6 / 9 + 0.25 + 1) / 4),
        (ON_EITHER_SIDE, "weighted", (4 * 0.6 + 2 * 0.25 + 2) / 8, 5 / 8, (24 / 9 + 0.5 + 2) / 8),
        (ON_EITHER_SIDE, "micro", 5 / 10, 5 / 8, 10 / 18),
    ],
)
def test_averages_over_the_labels_seen(
    found: Margins, how: Average, precision: float, recall: float, f1: float
) -> None:
    ratios = (found.precision(0.25), found.recall(), found.f1(0.25))
    values = [over_labels(one, how, WORDS) for one in ratios]
    assert [one.value for one in values] == pytest.approx([precision, recall, f1], abs=1e-15)
    assert [(one.undefined, one.label, one.n) for one in values] == [(None, None, 8)] * 3


def test_nothing_predicted() -> None:
    none, truth = np.zeros(2, np.int64), np.array([2, 0])
    found = Margins(none, none, truth, truth > 0)
    for ratios in (found.precision(0.5), found.f1(0.5)):
        for how in ("macro", "micro", "weighted"):
            value = over_labels(ratios, how, WORDS)
            assert value == MetricValue(0.5, "nothing is predicted", n=2)
    assert over_labels(found.recall(), "micro", WORDS) == MetricValue(0.0, n=2)


def test_no_label_has_ground_truth() -> None:
    none, predicted = np.zeros(2, np.int64), np.array([0, 3])
    found = Margins(none, predicted, none, predicted > 0)
    for ratios in (found.precision(1.0), found.recall(), found.f1(1.0)):
        assert over_labels(ratios, "macro", WORDS) == MetricValue(None, NO_LABEL, n=0)


def test_no_labels() -> None:
    none = np.zeros(0, np.int64)
    ratios = Margins(none, none, none, none > 0).precision(0.0)
    found = labels_and_average((), ratios, "macro", WORDS)
    assert found.values == [MetricValue(None, NO_LABEL, n=0)]


def test_ratios_of_labels_with_ground_truth() -> None:
    ratios = Ratios.of_truth(np.array([1, 2, 0]), np.array([4, 4, 3]), np.array([2, 3, 0]))
    assert rows(ratios, ("a", "b", "c")) == [
        ("a", 0.25, None, 2),
        ("b", 0.5, None, 3),
        ("c", None, NO_GROUND_TRUTH, 0),
    ]
    assert over_labels(ratios, "weighted", WORDS).value == (2 * 0.25 + 3 * 0.5) / 5


def test_a_wing_has_words_of_its_own() -> None:
    none, truth = np.zeros(1, np.int64), np.array([1])
    words = Words("a", "b", "c", "d")
    unseen = Margins(none, none, none, none > 0).recall()
    assert per_label(("x",), unseen, words)[0].undefined == "c"
    assert over_labels(unseen, "macro", words).undefined == "d"
    missed = Margins(none, none, truth, truth > 0).precision(0.0)
    values = labels_and_average(("x",), missed, "macro", words).values
    assert [one.undefined for one in values] == ["a", "b"]


def test_rows_of_labels_say_their_own_parameters() -> None:
    found = labels_and_average(
        LABELS, WITH_TRUTH.recall(), "macro", WORDS, lambda label: {"letters": len(label)}
    )
    assert [one.at for one in found.values] == [*[{"letters": 3}] * 5, {}]


@pytest.mark.parametrize("how", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_equals_scikit_learn(how: Average, zero_division: float) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(11)
    for _ in range(20):
        # Labels 0 … 5 in the ground truth, 1 … 7 predicted: 0 never is, 6 and 7 are not there.
        truth, predicted = generator.integers(0, 6, 60), generator.integers(1, 8, 60)
        columns = (truth[truth == predicted], predicted, truth)
        right, positive, truths = (np.bincount(column, minlength=8) for column in columns)
        found = Margins(right, positive, truths, positive + truths > 0)
        expected = sklearn.precision_recall_fscore_support(
            truth, predicted, average=how, zero_division=zero_division
        )
        recall = over_labels(found.recall(), how, WORDS).value
        precision = over_labels(found.precision(zero_division), how, WORDS).value
        assert precision == pytest.approx(expected[0], abs=1e-15)
        if not zero_division:  # that of recall is 0 here, always
            f1 = over_labels(found.f1(0.0), how, WORDS).value
            assert (recall, f1) == pytest.approx(expected[1:3], abs=1e-15)
