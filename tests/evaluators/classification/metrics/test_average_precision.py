"""Average precision: by hand, against scikit-learn, on real data, on resamples."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classification.listing import columns, evidence, random_listing, real
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.average_precision import average_precision

LABELS = "abcdef"


def values(scored: Scored) -> dict[str | None, float | None]:
    return {value.label: value.value for value in average_precision(scored).values}


def test_by_hand() -> None:
    # a: .9 right (1/1), .6 wrong, .5 right (2/3), not listed: right among all five (3/5).
    #    (1 + 2/3 + 3/5) / 3 = 34/45.
    # b: .7 right (1/1), .4 and .4 together, one of them right (2/3): (1 + 2/3) / 2 = 5/6.
    scored = evidence(
        "abc",
        [
            ("a", {"a": 0.9}),
            ("b", {"a": 0.6, "b": 0.7}),
            ("a", {"a": 0.5, "b": 0.4}),
            ("a", {}),
            ("b", {"b": 0.4}),
        ],
    )
    found = average_precision(scored)
    a, b, c, mean = (value.value for value in found.values)
    assert (a, b, mean) == pytest.approx((34 / 45, 5 / 6, (34 / 45 + 5 / 6) / 2), rel=1e-15)
    assert c is None
    assert [value.label for value in found.values] == ["a", "b", "c", None]
    assert [value.n for value in found.values] == [3, 2, 0, 5]
    assert found.values[2].undefined == "no ground truth"


def test_a_label_without_scores_has_its_share_of_the_samples() -> None:
    # All samples are tied at 0: one threshold, at which everything is positive.
    scored = evidence("ab", [("a", {"a": 0.5}), ("a", {"a": 0.5}), ("a", {"a": 0.5}), ("b", {})])
    assert values(scored)["b"] == 1 / 4


def test_no_samples() -> None:
    scored = evidence("ab", [("a", {"a": 0.9})]).select(np.array([False]))
    assert set(values(scored).values()) == {None}
    assert average_precision(scored).values[-1].undefined == "no label has ground truth"


@pytest.mark.parametrize("seed", range(5))
def test_partial_lists_equal_scikit_learn_on_scores_written_out(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    samples = random_listing(seed, LABELS, 200, digits=1 + seed % 3)
    truth = np.array([label for label, _ in samples])
    expected = {
        label: metrics.average_precision_score(truth == label, column)
        for label, column in zip(LABELS[:-1], columns(LABELS, samples).T, strict=False)
    }
    found = values(evidence(LABELS, samples))
    assert {label: found[label] for label in expected} == pytest.approx(expected, abs=1e-12)
    assert found["f"] is None
    assert found[None] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)


def test_real_data() -> None:
    scored, expected = real("breastcancer-342-binary")
    found = values(scored)["benign"]
    assert found == pytest.approx(expected["average_precision_positive_benign"], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_resamples_are_as_if_written_out(seed: int) -> None:
    samples = random_listing(seed, LABELS, 25)
    weights = np.random.default_rng(seed).multinomial(25, np.full(25, 1 / 25), 3)
    whole = evidence(LABELS, samples)
    for row in weights:
        (scored,) = whole.resamples(row[None])
        copies = [one for one, count in zip(samples, row, strict=True) for _ in range(count)]
        written = evidence(LABELS, copies)
        assert values(scored) == pytest.approx(values(written), abs=1e-15)


def test_resamples_equal_scikit_learn_with_weights() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    samples = random_listing(9, LABELS, 80, digits=2)
    weight = np.random.default_rng(9).poisson(1, (1, 80))
    truth = np.array([label for label, _ in samples])
    found = values(next(iter(evidence(LABELS, samples).resamples(weight))))
    for label, column in zip(LABELS[:-1], columns(LABELS, samples).T, strict=False):
        expected = metrics.average_precision_score(truth == label, column, sample_weight=weight[0])
        assert found[label] == pytest.approx(expected, abs=1e-12)
