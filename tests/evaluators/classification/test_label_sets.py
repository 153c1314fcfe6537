"""Metrics of sets of labels, all of them against scikit-learn's multilabel functions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluators.classification.asking import ask, by_label, evidence, row_of
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
from valor_cli.results import Findings

LABELS = ("cat", "dog", "cow", "owl", "fox", "elk")
AT: dict[str, Any] = {"score_threshold": 0.5, "hardmax": False}

# Right; fox is one too many; none, rightly; dog is missed.
HAND = sets_scored(
    [
        Sample([0, 1], {0: 0.9, 1: 0.5}),
        Sample([0], {0: 0.6, 2: 0.7, 1: 0.2}),
        Sample([], {1: 0.4}),
        Sample([1], {}),
    ],
    ("cat", "dog", "fox"),
)
# From 0.8 on fox is not positive; dog is from 0 on, also where it is not true.
THRESHOLDS = {"cat": 0.5, "dog": 0.0, "fox": 0.8}


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12)


def test_worked_by_hand() -> None:
    exact = row_of(ask("subset_accuracy", HAND))
    assert (exact.value, exact.n, exact.proportion) == (0.5, 4, True)
    # 2 wrong decisions of 4 samples on 3 labels.
    assert row_of(ask("hamming_loss", HAND)).value == 2 / 12
    at = {"score_threshold": THRESHOLDS}
    assert row_of(ask("subset_accuracy", HAND, **at)).value == 0.25
    assert row_of(ask("hamming_loss", HAND, **at)).value == 3 / 12
    # cat: 2 of 2; dog: 1 of 2; fox has no ground truth and counts as 0 in the macro average.
    found = by_label(ask("jaccard", HAND, **AT))
    assert found == {"cat": 1.0, "dog": 0.5, "fox": None, None: 0.5}


def test_each_sample_worked_by_hand() -> None:
    # True labels {cat, dog}, positive {cat, dog}: 1. {cat}, {cat, fox}: precision 1 / 2, recall 1,
    # f1 2 / 3, jaccard 1 / 2. Both empty: 0 / 0. {dog}, none: 0, precision 0 / 0.
    found = ask("label_set_scores", HAND, zero_division=1.0)
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


@pytest.mark.parametrize(
    ("name", "found", "reason"),
    [
        *(
            (name, sets_scored([], LABELS), "no samples")
            for name in ("subset_accuracy", "hamming_loss", "label_set_scores")
        ),
        ("subset_accuracy", sets_weighed([Sample([0], {}, weight=0)], LABELS), "no samples"),
        ("hamming_loss", sets_scored([Sample([], {})], ()), "no labels"),
    ],
)
def test_undefined(name: str, found: Scored, reason: str) -> None:
    assert {(one.value, one.undefined) for one in ask(name, found).values} == {(None, reason)}


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_against_scikit_learn(seed: int, zero_division: float, *, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    drawn = random_samples(seed, partial=partial)
    for samples, found in (
        ([one._replace(weight=1) for one in drawn], sets_scored(drawn, LABELS)),
        (repeated(drawn), sets_weighed(drawn, LABELS)),
    ):
        truth, score = matrices(samples, len(LABELS))
        said = positives(score, 0.5)
        exact, wrong = (
            row_of(ask(name, found)).value for name in ("subset_accuracy", "hamming_loss")
        )
        assert exact == near(sklearn.accuracy_score(truth, said))
        assert wrong == near(sklearn.hamming_loss(truth, said))
        counts = ask("counts", found, **AT)
        cells = sklearn.multilabel_confusion_matrix(truth, said).reshape(-1, 4).T
        for output, column in zip(("tn", "fp", "fn", "tp"), cells.tolist(), strict=True):
            assert list(by_label(counts, output).values()) == column
        for name in ("precision", "recall", "f1", "jaccard"):
            reference = getattr(sklearn, f"{name}_score")
            for average in ("macro", "micro", "weighted"):
                own = by_label(ask(name, found, **AT, average=average))
                each = reference(truth, said, average=None, zero_division=0.0)
                assert [own[label] for label in LABELS] == near(each.tolist())
                assert own[None] == near(reference(truth, said, average=average, zero_division=0.0))
            means = ask("label_set_scores", found, zero_division=zero_division)
            expected = reference(truth, said, average="samples", zero_division=zero_division)
            assert row_of(means, None, name).value == near(expected)
        for name in ("roc_auc", "average_precision"):
            reference = getattr(sklearn, f"{name}_score")
            own = by_label(ask(name, found))
            each = reference(truth, score, average=None)
            assert [own[label] for label in LABELS] == near(each.tolist())
            mean = row_of(ask("mean_roc_auc", found)).value if name == "roc_auc" else own[None]
            assert mean == near(reference(truth, score))


def test_a_recall_of_sets_is_no_proportion_of_samples() -> None:
    """Of a label it is; labels of one sample are found or missed together."""
    found = ask("recall", sets_scored(random_samples(5, partial=True), LABELS), average="micro")
    assert {value.label for value in found.values if value.proportion} == set(LABELS)


def test_curves_are_the_counts_at_each_threshold() -> None:
    found = sets_scored(random_samples(7, partial=True), LABELS)
    levels = (0.0, 0.3, 0.5, 1.0)
    curves = ask("pr_curve", found, score_thresholds=levels).curves
    for at, threshold in enumerate(levels):
        own = ask("counts", found, score_threshold=threshold, hardmax=False)
        for output in ("tp", "fp", "fn", "tn"):
            points = {curve.label: curve.points[output][at] for curve in curves}
            assert points == by_label(own, output)


def test_sets_of_one_say_what_single_labels_say() -> None:
    """Where each is a decision of its own."""
    samples = [one for one in random_samples(3, partial=True) if len(one.truth) == 1]
    rows = [
        (LABELS[next(iter(one.truth))], {LABELS[at]: score for at, score in one.listed.items()})
        for one in samples
    ]
    sets, single = sets_scored(samples, LABELS), evidence(LABELS, rows)
    for name in ("subset_accuracy", "hamming_loss"):
        assert ask(name, sets) == ask(name, single)
    for name in ("counts", "f1", "jaccard"):
        assert ask(name, sets, hardmax=False) == ask(name, single, hardmax=False)
    for name in ("average_precision", "mean_roc_auc", "pr_curve"):
        assert values(ask(name, sets)) == values(ask(name, single))


def values(found: Findings) -> Any:
    """The values and curves, without what is found out of them."""
    return by_label(found), [(curve.label, curve.points) for curve in found.curves]


def test_of_a_sample_with_every_label_there_is_no_area() -> None:
    found = sets_scored([Sample(range(6), {0: 0.5}), Sample([0], {})], LABELS)
    areas = by_label(ask("roc_auc", found))
    assert (areas["cat"], areas["dog"]) == (None, 0.5)
    assert by_label(ask("average_precision", found))["dog"] == pytest.approx(0.5)
