"""ROC AUC: by hand, against scikit-learn, on real data, on resamples; its curves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classification.listing import (
    Sample,
    columns,
    dense_evidence,
    evidence,
    random_listing,
    real,
)
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.roc_auc import mean_roc_auc, roc_auc

LABELS = "abcdef"


def areas(scored: Scored) -> dict[str | None, float | None]:
    return {value.label: value.value for value in roc_auc(scored).values}


def reasons(scored: Scored) -> dict[str | None, str | None]:
    return {value.label: value.undefined for value in roc_auc(scored).values}


def test_by_hand() -> None:
    # a: positives .9 and 0 (not listed) against .4 and 0. .9 beats both, 0 ties one: 2.5 of 4.
    # b: positives .6 and .3 against .1 and 0: all four pairs stand right.
    scored = evidence(
        "ab",
        [
            ("a", {"a": 0.9, "b": 0.1}),
            ("a", {}),
            ("b", {"a": 0.4, "b": 0.6}),
            ("b", {"b": 0.3}),
        ],
    )
    assert areas(scored) == {"a": 2.5 / 4, "b": 1.0}
    assert mean_roc_auc(scored).value == (2.5 / 4 + 1) / 2
    assert [value.n for value in roc_auc(scored).values] == [2, 2]
    assert mean_roc_auc(scored).n == 4


def test_a_label_has_no_area_without_both_sides_and_half_of_one_without_a_score() -> None:
    scored = evidence("abc", [("a", {"a": 0.9, "b": 0.2}), ("c", {"a": 0.3, "c": 0.0})])
    # c scores 0 in both samples: the one pair is a tie.
    assert areas(scored) == {"a": 1.0, "b": None, "c": 0.5}
    assert reasons(scored) == {"a": None, "b": "no ground truth", "c": None}
    # Undefined areas do not enter the mean.
    assert mean_roc_auc(scored).value == 0.75
    (points,) = (one.points for one in roc_auc(scored).curves if one.label == "c")
    assert points["score"] == [None, 0.0]
    assert points["true_positive_rate"] == points["false_positive_rate"] == [0.0, 1.0]


def test_a_label_that_no_sample_lists_does_not_leave_the_mean() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    samples = [("a", {"a": 0.9}), ("b", {"a": 0.3}), ("b", {"a": 0.4})]
    scored = evidence("ab", samples)
    written = [metrics.roc_auc_score([0, 1, 1], [0, 0, 0]), 1.0]
    assert areas(scored) == {"a": 1.0, "b": written[0]}
    assert mean_roc_auc(scored).value == np.mean(written)
    (again,) = scored.resamples(np.array([[2, 1, 0]]))
    assert areas(again) == {"a": 1.0, "b": 0.5}


def test_samples_of_one_label_have_no_area_at_all() -> None:
    scored = evidence("ab", [("a", {"a": 0.9}), ("a", {"b": 0.3})])
    assert reasons(scored) == {"a": "every sample has this label", "b": "no ground truth"}
    mean = mean_roc_auc(scored)
    assert (mean.value, mean.undefined, mean.n) == (None, "no label has an area under its curve", 2)
    assert not roc_auc(scored).curves


def test_no_samples() -> None:
    scored = evidence("ab", [("a", {"a": 0.9})]).select(np.array([False]))
    assert set(reasons(scored).values()) == {"no ground truth"}
    assert mean_roc_auc(scored).undefined == "no samples"


@pytest.mark.parametrize("seed", range(5))
def test_partial_lists_equal_scikit_learn_on_scores_written_out(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    samples = random_listing(seed, LABELS, 200, digits=1 + seed % 3)
    truth = np.array([label for label, _ in samples])
    found = areas(evidence(LABELS, samples))
    for label, column in zip(LABELS[:-1], columns(LABELS, samples).T, strict=False):
        assert found[label] == pytest.approx(
            metrics.roc_auc_score(truth == label, column), abs=1e-12
        )
    assert found["f"] is None


def test_complete_lists_equal_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    score, truth = rng.dirichlet(np.ones(5), 400), rng.integers(0, 5, 400)
    scored = dense_evidence(tuple("abcde"), truth, score)
    each = metrics.roc_auc_score(truth, score, multi_class="ovr", average=None)
    assert list(areas(scored).values()) == pytest.approx(each.tolist(), abs=1e-12)
    mean = metrics.roc_auc_score(truth, score, multi_class="ovr")
    assert mean_roc_auc(scored).value == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    "name",
    ["cifar10-10000", "digits-899-naivebayes-overconfident", "digits-899-randomforest"],
)
def test_real_data(name: str) -> None:
    scored, expected = real(name)
    per_class = expected["roc_auc_ovr_per_class"]
    assert areas(scored) == pytest.approx(per_class, abs=1e-9)
    mean = np.mean(list(per_class.values()))
    assert mean_roc_auc(scored).value == pytest.approx(mean, abs=1e-12)
    # scikit-learn's own mean wants rows that sum to 1: the stored mean is that of rows divided by
    # their sum, which ranks some samples otherwise than the scores in the file.
    score = scored.scores.sparse().score.reshape(-1, len(scored.labels))
    divided = dense_evidence(scored.labels, scored.truth, score / score.sum(1, keepdims=True))
    assert mean_roc_auc(divided).value == pytest.approx(expected["roc_auc_ovr_macro"], abs=1e-9)


def test_real_data_of_two_labels() -> None:
    scored, expected = real("breastcancer-342-binary")
    found = areas(scored)["benign"]
    assert found == pytest.approx(expected["roc_auc_positive_benign"], abs=1e-9)


def resampled(samples: list[Sample], weights: np.ndarray) -> list[Sample]:
    return [one for one, count in zip(samples, weights, strict=True) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_resamples_are_as_if_written_out(seed: int) -> None:
    samples = random_listing(seed, LABELS, 25)
    weights = np.random.default_rng(seed).multinomial(25, np.full(25, 1 / 25), 3)
    whole = evidence(LABELS, samples)
    for row in weights:
        (scored,) = whole.resamples(row[None])
        written = evidence(LABELS, resampled(samples, row))
        assert roc_auc(scored).values == roc_auc(written).values
        assert mean_roc_auc(scored) == mean_roc_auc(written)
        assert not roc_auc(scored).curves


def test_curve_by_hand() -> None:
    # Positives .9 and not listed, negatives .9 and .2 and not listed: ties come together.
    scored = evidence(
        "ab",
        [("a", {"a": 0.9}), ("a", {}), ("b", {"a": 0.9}), ("b", {"a": 0.2, "b": 1.0}), ("b", {})],
    )
    curve = next(curve for curve in roc_auc(scored).curves if curve.label == "a")
    assert curve.points == {
        "score": [None, 0.9, 0.2, 0.0],
        "false_positive_rate": [0.0, 1 / 3, 2 / 3, 1.0],
        "true_positive_rate": [0.0, 0.5, 0.5, 1.0],
    }


def test_short_curves_have_the_area() -> None:
    scored, _ = real("breastcancer-342-binary")
    values = areas(scored)
    for curve in roc_auc(scored).curves:
        x, y = curve.points["false_positive_rate"], curve.points["true_positive_rate"]
        assert len(x) <= 101
        assert np.trapezoid(y, x) == pytest.approx(values[curve.label], abs=2e-3)


def test_many_labels_have_no_curves() -> None:
    labels = tuple(f"label {at}" for at in range(101))
    score = np.random.default_rng(1).random((202, 101))
    scored = dense_evidence(labels, np.arange(202) % 101, score)
    assert len(roc_auc(scored).values) == 101
    assert not roc_auc(scored).curves
