"""Metrics of sets of labels, all of them against scikit-learn's multilabel functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.evaluators.classification.asking import by_label
from tests.oracles.label_sets import (
    Sample,
    matrices,
    positives,
    random_samples,
    repeated,
    sets_scored,
    sets_weighed,
)
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.average_precision import average_precision
from valor_cli.evaluators.classification.metrics.counts import counts
from valor_cli.evaluators.classification.metrics.hamming_loss import hamming_loss
from valor_cli.evaluators.classification.metrics.jaccard import jaccard
from valor_cli.evaluators.classification.metrics.label_set_scores import label_set_scores
from valor_cli.evaluators.classification.metrics.pr_curve import pr_curve
from valor_cli.evaluators.classification.metrics.precision_recall import f1, precision, recall
from valor_cli.evaluators.classification.metrics.roc_auc import mean_roc_auc, roc_auc
from valor_cli.evaluators.classification.metrics.subset_accuracy import subset_accuracy
from valor_cli.evaluators.ratios import Average
from valor_cli.results import Findings

LABELS = ("cat", "dog", "cow", "owl", "fox", "elk")
EXACT = 1e-12

HAND = [
    # Right; fox is one too many; none, rightly; dog is missed.
    Sample([0, 1], {0: 0.9, 1: 0.5}),
    Sample([0], {0: 0.6, 2: 0.7, 1: 0.2}),
    Sample([], {1: 0.4}),
    Sample([1], {}),
]


def test_worked_by_hand() -> None:
    found = sets_scored(HAND, ("cat", "dog", "fox"))
    assert subset_accuracy(found).value == 0.5
    assert (subset_accuracy(found).n, subset_accuracy(found).proportion) == (4, True)
    # 2 wrong decisions of 4 samples on 3 labels.
    assert hamming_loss(found).value == 2 / 12
    # cat: 2 of 2; dog: 1 of 2; fox has no ground truth and counts as 0 in the macro average.
    assert by_label(jaccard(found, score_threshold=0.5, hardmax=False)) == {
        "cat": 1.0,
        "dog": 0.5,
        "fox": None,
        None: 0.5,
    }


def test_each_sample_worked_by_hand() -> None:
    # True labels {cat, dog}, positive {cat, dog}: 1. {cat}, {cat, fox}: precision 1 / 2, recall 1,
    # f1 2 / 3, jaccard 1 / 2. Both empty: 0 / 0. {dog}, none: 0, precision 0 / 0.
    found = label_set_scores(sets_scored(HAND, ("cat", "dog", "fox")), zero_division=1.0)
    assert found.samples is not None
    columns = {name: list(column) for name, column in found.samples.columns.items()}
    assert columns == {
        "f1": [1.0, 2 / 3, 1.0, 0.0],
        "precision": [1.0, 0.5, 1.0, 1.0],
        "recall": [1.0, 1.0, 1.0, 0.0],
        "jaccard": [1.0, 0.5, 1.0, 0.0],
    }
    means = {one.output: one.value for one in found.values}
    assert means == {name: pytest.approx(sum(column) / 4) for name, column in columns.items()}


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_each_sample_against_scikit_learn(
    seed: int, zero_division: float, *, partial: bool
) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    for samples, found in cases(seed, partial=partial):
        truth, score = matrices(samples, len(LABELS))
        said = positives(score, 0.5)
        values = label_set_scores(found, zero_division=zero_division).values
        for one in values:
            reference = getattr(sklearn, f"{one.output}_score")
            expected = reference(truth, said, average="samples", zero_division=zero_division)
            assert one.value == pytest.approx(expected, abs=EXACT), one.output


def test_a_threshold_for_each_label() -> None:
    found = sets_scored(HAND, ("cat", "dog", "fox"))
    # From 0.8 on fox is not positive; dog is from 0 on, also where it is not true.
    thresholds = {"cat": 0.5, "dog": 0.0, "fox": 0.8}
    assert subset_accuracy(found, score_threshold=thresholds).value == 0.25
    assert hamming_loss(found, score_threshold=thresholds).value == 3 / 12


def test_no_samples_have_no_label_sets() -> None:
    found = label_set_scores(sets_scored([], LABELS))
    assert {(one.value, one.undefined) for one in found.values} == {(None, "no samples")}


@pytest.mark.parametrize("metric", [subset_accuracy, hamming_loss])
def test_no_samples(metric: Any) -> None:
    assert metric(sets_scored([], LABELS)).value is None
    assert metric(sets_scored([], LABELS)).undefined == "no samples"
    none = sets_weighed([Sample([0], {}, weight=0)], LABELS)
    assert metric(none).undefined == "no samples"


def test_no_labels() -> None:
    found = sets_scored([Sample([], {})], ())
    assert (subset_accuracy(found).value, hamming_loss(found).undefined) == (1.0, "no labels")


def cases(seed: int, *, partial: bool) -> list[tuple[list[Sample], Scored]]:
    """Samples once each, and weighed, with the evidence of each."""
    samples = random_samples(seed, partial=partial)
    once = [one._replace(weight=1) for one in samples]
    return [
        (once, sets_scored(samples, LABELS)),
        (repeated(samples), sets_weighed(samples, LABELS)),
    ]


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_decisions_against_scikit_learn(seed: int, *, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    for samples, found in cases(seed, partial=partial):
        truth, score = matrices(samples, len(LABELS))
        said = positives(score, 0.5)
        expected = sklearn.accuracy_score(truth, said)
        assert subset_accuracy(found).value == pytest.approx(expected, abs=EXACT)
        expected = sklearn.hamming_loss(truth, said)
        assert hamming_loss(found).value == pytest.approx(expected, abs=EXACT)
        cells = sklearn.multilabel_confusion_matrix(truth, said)
        own = counts(found, score_threshold=0.5, hardmax=False)
        for output, (row, column) in {
            "tn": (0, 0),
            "fp": (0, 1),
            "fn": (1, 0),
            "tp": (1, 1),
        }.items():
            assert list(by_label(own, output).values()) == cells[:, row, column].tolist()


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_ratios_against_scikit_learn(seed: int, average: Average) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    pairs: list[tuple[Any, Any]] = [
        (precision, sklearn.precision_score),
        (recall, sklearn.recall_score),
        (f1, sklearn.f1_score),
        (jaccard, sklearn.jaccard_score),
    ]
    for samples, found in cases(seed, partial=True):
        truth, score = matrices(samples, len(LABELS))
        said = positives(score, 0.5)
        for metric, reference in pairs:
            own = by_label(metric(found, score_threshold=0.5, hardmax=False, average=average))
            each = reference(truth, said, average=None, zero_division=0.0)
            assert [own[label] for label in LABELS] == pytest.approx(each.tolist(), abs=EXACT)
            expected = reference(truth, said, average=average, zero_division=0.0)
            assert own[None] == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_areas_against_scikit_learn(seed: int, *, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    for samples, found in cases(seed, partial=partial):
        truth, score = matrices(samples, len(LABELS))
        for metric, reference in (
            (roc_auc, sklearn.roc_auc_score),
            (average_precision, sklearn.average_precision_score),
        ):
            own = by_label(metric(found))
            each = reference(truth, score, average=None)
            assert [own[label] for label in LABELS] == pytest.approx(each.tolist(), abs=EXACT)
        expected = sklearn.average_precision_score(truth, score)
        assert by_label(average_precision(found))[None] == pytest.approx(expected, abs=EXACT)
        expected = sklearn.roc_auc_score(truth, score)
        assert mean_roc_auc(found).value == pytest.approx(expected, abs=EXACT)


def test_a_recall_of_sets_is_no_proportion_of_samples() -> None:
    """Of a label it is; labels of one sample are found or missed together."""
    found = recall(sets_scored(random_samples(5, partial=True), LABELS), average="micro")
    assert {value.label for value in found.values if value.proportion} == set(LABELS)


def test_curves_are_the_counts_at_each_threshold() -> None:
    found = sets_scored(random_samples(7, partial=True), LABELS)
    curves = pr_curve(found, score_thresholds=(0.0, 0.3, 0.5, 1.0)).curves
    for at, threshold in enumerate((0.0, 0.3, 0.5, 1.0)):
        own = counts(found, score_threshold=threshold, hardmax=False)
        for output in ("tp", "fp", "fn", "tn"):
            points = {curve.label: curve.points[output][at] for curve in curves}
            assert points == by_label(own, output)


def test_sets_of_one_say_what_single_labels_say() -> None:
    """Where each is a decision of its own."""
    from tests.evaluators.classification.asking import scored
    from tests.oracles.classification import Row

    samples = [one for one in random_samples(3, partial=True) if len(one.truth) == 1]
    rows = [Row(next(iter(one.truth)), list(one.listed.items())) for one in samples]
    sets, single = sets_scored(samples, LABELS), scored(rows, LABELS)
    assert subset_accuracy(sets) == subset_accuracy(single)
    assert hamming_loss(sets) == hamming_loss(single)
    calls: list[Any] = [counts, f1, jaccard]
    for metric in calls:
        assert metric(sets, hardmax=False) == metric(single, hardmax=False)
    for metric in (average_precision, mean_roc_auc, pr_curve):
        assert values(metric(sets)) == values(metric(single))


def values(found: Any) -> Any:
    """The values and curves, without what is found out of them."""
    if not isinstance(found, Findings):
        return found.value
    return by_label(found), [(curve.label, curve.points) for curve in found.curves]


def test_of_a_sample_with_every_label_there_is_no_area() -> None:
    found = sets_scored([Sample(range(6), {0: 0.5}), Sample([0], {})], LABELS)
    assert by_label(roc_auc(found))["cat"] is None
    assert by_label(roc_auc(found))["dog"] == 0.5
    assert np.isclose(by_label(average_precision(found))["dog"] or 0, 0.5)
