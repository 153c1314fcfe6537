"""Metrics of top labels, probabilities and ranks, worked by hand, and where they are undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.evaluators.classification.asking import (
    HALF_RIGHT,
    Sample,
    ask,
    by_label,
    called,
    evidence,
    reasons,
    resampled,
    row_of,
)
from tests.oracles.classification_problems import random_samples
from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL
from valor_cli.evaluators.classification.evidence.scores import by_key, score_samples
from valor_cli.results import Findings, MetricSamples

# Right; wrong; wrong, for of equal scores the first listed counts; none; right.
TIED: list[Sample] = [
    ("a", {"a": 0.6, "b": 0.4}),
    ("a", {"a": 0.4, "b": 0.6}),
    ("b", {"a": 0.5, "b": 0.5}),
    ("b", {"a": 0.0, "b": 0.0}),
    ("b", {"b": 0.001}),
]
PLACES: list[Sample] = [
    ("a", {"a": 0.2, "b": 0.5, "c": 0.3}),  # third
    ("b", {"a": 0.4, "b": 0.4, "c": 0.2}),  # second, of equal ones; last listed first: first
    ("c", {"a": 0.0, "b": 1.0, "c": 0.0}),  # third, of equal zeros; second
    ("d", {"a": 1.0}),  # not listed
    ("a", {"a": 0.0, "b": 0.0}),  # no prediction
]
LAST = {"ties": "last_listed"}
ROUNDED: list[Sample] = [("a", {"a": 0.5, "b": 0.499})]
FAR: list[Sample] = [("a", {"a": 0.5, "b": 0.3})]
NORMALIZED = {"normalize": True}


@pytest.mark.parametrize(
    ("name", "parameters", "samples", "expected"),
    [
        ("accuracy", {}, TIED, 0.4),
        # Of scores below 0 the highest counts, too.
        ("accuracy", {}, [("a", {"a": -1.0, "b": -2.0})], 1),
        # a: 2 of 3 right; b: 0 of 1; c, which is predicted only, enters no mean.
        ("balanced_accuracy", {}, HALF_RIGHT, 1 / 3),
        # Observed 2/4; by chance a 3/4 * 2/4, b 0: 3/8. (1/2 - 3/8) / (1 - 3/8).
        ("cohen_kappa", {}, HALF_RIGHT, 1 / 5),
        ("cohen_kappa", {}, [("a", {}), ("b", {})], 0),
        # n 4, right 2; truths a 3, b 1; predictions a 2, c 1, none 1.
        # (4*2 - 3*2) / sqrt((16 - 9 - 1) * (16 - 4 - 1 - 1)) = 2 / sqrt(6 * 10)
        ("matthews_corrcoef", {}, HALF_RIGHT, 2 / 60**0.5),
        *(
            ("top_k_accuracy", {"k": k}, PLACES, x)
            for k, x in ((1, 0), (2, 0.2), (3, 0.6), (9, 0.6))
        ),
        *(
            ("top_k_accuracy", {"k": k, **LAST}, PLACES, x)
            for k, x in ((1, 0.2), (2, 0.4), (3, 0.6), (9, 0.6))
        ),
        # -ln(1/4) and -ln(1/2): three times ln 2 over two samples.
        (
            "log_loss",
            {},
            [("a", {"a": 0.25, "b": 0.75}), ("b", {"a": 0.5, "b": 0.5})],
            1.5 * math.log(2),
        ),
        # A certain error is dear but finite: the smallest probability there is.
        ("log_loss", {}, [("a", {"b": 1.0})], 52 * math.log(2)),
        # Rounding is divided away, and more only if asked.
        ("log_loss", {}, ROUNDED, -math.log(0.5 / 0.999)),
        ("log_loss", {}, FAR, -math.log(0.5)),
        ("log_loss", NORMALIZED, FAR, -math.log(0.5 / 0.8)),
        (
            "brier_score",
            {},
            [
                ("a", {"a": 0.7, "b": 0.2, "c": 0.1}),  # .09 + .04 + .01
                ("b", {"a": 1.0, "b": 0.0}),  # 1 + 1
                ("b", {}),  # 1
            ],
            3.14 / 3,
        ),
        ("expected_calibration_error", {}, [("a", {"a": 0.4, "b": 0.1})], 0.6),
        ("expected_calibration_error", NORMALIZED, [("a", {"a": 0.4, "b": 0.1})], 0.2),
    ],
)
def test_one_value(
    name: str, parameters: Mapping[str, Any], samples: Sequence[Sample], expected: float
) -> None:
    labels = sorted({label for truth, row in samples for label in (truth, *row)})
    found = row_of(ask(name, evidence(labels, samples), **parameters))
    assert found.value == pytest.approx(expected, abs=1e-15)
    assert (found.n, found.undefined) == (len(samples), None)
    # Of samples that are each right or wrong: Wilson's interval is theirs.
    assert found.proportion == (name in ("accuracy", "top_k_accuracy"))


@pytest.mark.parametrize("listed", [{"a": 0.1}, {"a": 1 / 3, "b": 0.0}])
def test_a_sure_and_right_row_has_no_error(listed: Mapping[str, float]) -> None:
    # 0.1 * 0.1 is no tidy number, but rounds away.
    found = evidence("ab", [("a", listed)])
    assert row_of(ask("brier_score", found, normalize=True)).value == 0


def test_large_counts_do_not_overflow() -> None:
    # 3 million samples: the product of the squares has 26 digits.
    samples: list[Sample] = [(true, {said: 1.0}) for true, said in ("aa", "bb", "ab", "ba")]
    weights = [1_000_000, 1_000_000, 500_000, 500_000]
    found = ask("matthews_corrcoef", resampled(evidence("ab", samples), weights))
    # (2/3 of the rows right - 1/3 wrong), both sides even.
    assert row_of(found).value == pytest.approx(1 / 3, abs=1e-15)


SURE: list[Sample] = [("a", {"a": 1.0}), ("a", {"a": 0.5})]


@pytest.mark.parametrize(
    ("name", "samples", "label", "reason"),
    [
        *(
            (name, [], None, "no samples")
            for name in (
                *("accuracy", "balanced_accuracy", "cohen_kappa", "matthews_corrcoef"),
                *("top_k_accuracy", "log_loss", "brier_score", "expected_calibration_error"),
                "mean_roc_auc",
            )
        ),
        ("cohen_kappa", SURE, None, "0/0: both sides have one and the same label only"),
        ("matthews_corrcoef", SURE, None, "a single label has ground truth"),
        (
            "matthews_corrcoef",
            [("a", {"a": 1}), ("b", {"a": 1})],
            None,
            "a single label is predicted",
        ),
        ("roc_auc", SURE, "a", "every sample has this label"),
        ("roc_auc", SURE, "b", "no ground truth"),
        ("mean_roc_auc", SURE, None, "no label has an area under its curve"),
        ("average_precision", SURE, "b", "no ground truth"),
        ("average_precision", [], None, "no label has ground truth"),
    ],
)
def test_undefined(name: str, samples: Sequence[Sample], label: str | None, reason: str) -> None:
    found = ask(name, evidence("ab", samples))
    assert (row_of(found, label).value, reasons(found)[label]) == (None, reason)
    assert not any(curve.label == label for curve in found.curves)


def test_calibration() -> None:
    # Confidence and whether right: .625 yes, .75 yes, .75 no (upper end of a bin of .25), 1 yes,
    # 0 no. (.5, .75]: confidence 2.125/3, right 2/3: gap .125/3. (.75, 1]: none. [0, .25]: none.
    samples: list[Sample] = [
        ("a", {"a": 0.625, "b": 0.375}),
        ("a", {"a": 0.75, "b": 0.25}),
        ("a", {"b": 0.75, "a": 0.25}),
        ("b", {"b": 1.0}),
        ("b", {}),
    ]
    found = ask("expected_calibration_error", evidence("ab", samples), bins=4)
    assert row_of(found).value == pytest.approx(0.125 / 5, abs=1e-15)
    assert row_of(found, None, "maximum").value == pytest.approx(0.125 / 3, abs=1e-15)
    (table,) = found.curves
    assert dict(table.points) == {
        "confidence_low": [0, 0.25, 0.5, 0.75],
        "confidence_high": [0.25, 0.5, 0.75, 1],
        "n": [1, 0, 3, 1],
        "confidence": [0, None, pytest.approx(2.125 / 3), 1],
        "accuracy": [0, None, pytest.approx(2 / 3), 1],
    }


def test_roc_auc() -> None:
    # a: positives .9 and 0 (not listed) against .4 and 0. .9 beats both, 0 ties one: 2.5 of 4.
    # b: positives .6 and .3 against .1 and 0: all four pairs stand right.
    samples: list[Sample] = [
        *(("a", {"a": 0.9, "b": 0.1}), ("a", {})),
        *(("b", {"a": 0.4, "b": 0.6}), ("b", {"b": 0.3})),
    ]
    found = evidence("ab", samples)
    assert by_label(ask("roc_auc", found)) == {"a": 2.5 / 4, "b": 1.0}
    assert [value.n for value in ask("roc_auc", found).values] == [2, 2]
    mean = row_of(ask("mean_roc_auc", found))
    assert (mean.value, mean.n) == ((2.5 / 4 + 1) / 2, 4)


def test_a_label_that_no_sample_lists_does_not_leave_the_mean() -> None:
    samples: list[Sample] = [("a", {"a": 0.9}), ("c", {"a": 0.3}), ("c", {"a": 0.4})]
    whole = evidence("abc", samples)
    for found in (whole, resampled(whole, [2, 1, 0])):
        assert by_label(ask("roc_auc", found)) == {"a": 1.0, "b": None, "c": 0.5}
        # Undefined areas do not enter it.
        assert row_of(ask("mean_roc_auc", found)).value == 0.75
    curves = {one.label: one.points for one in ask("roc_auc", whole).curves}
    assert curves["c"]["score"] == [None, 0.0]
    assert curves["c"]["true_positive_rate"] == curves["c"]["false_positive_rate"] == [0.0, 1.0]
    assert not ask("roc_auc", resampled(whole, [2, 1, 0])).curves


def test_the_curve_under_which_the_area_is() -> None:
    # Positives .9 and not listed, negatives .9 and .2 and not listed: ties come together.
    samples: list[Sample] = [
        *(("a", {"a": 0.9}), ("a", {}), ("b", {"a": 0.9})),
        *(("b", {"a": 0.2, "b": 1.0}), ("b", {})),
    ]
    curve = ask("roc_auc", evidence("ab", samples)).curves[0]
    assert curve.points == {
        "score": [None, 0.9, 0.2, 0.0],
        "false_positive_rate": [0.0, 1 / 3, 2 / 3, 1.0],
        "true_positive_rate": [0.0, 0.5, 0.5, 1.0],
    }


def test_long_curves_are_thinned_out_and_many_are_left_out() -> None:
    rng = np.random.default_rng(1)
    labels = [f"{at:03}" for at in range(101)]
    scores = rng.random((606, 101))
    samples = [
        (labels[at % 101], dict(zip(labels, row, strict=True)))
        for at, row in enumerate(scores.tolist())
    ]
    found = ask("roc_auc", evidence(labels, samples))
    assert (len(found.values), len(found.curves)) == (101, 0)
    few = [("ab"[at % 2], {"a": float(row[0]), "b": 0.5}) for at, row in enumerate(scores)]
    found = ask("roc_auc", evidence("ab", few))
    for curve in found.curves:
        x, y = curve.points["false_positive_rate"], curve.points["true_positive_rate"]
        assert len(x) <= 101
        assert np.trapezoid(y, x) == pytest.approx(by_label(found)[curve.label], abs=5e-3)


def test_average_precision() -> None:
    # a: .9 right (1/1), .6 wrong, .5 right (2/3), not listed: right among all five (3/5).
    #    (1 + 2/3 + 3/5) / 3 = 34/45.
    # b: .7 right (1/1), .4 and .4 together, one of them right (2/3): (1 + 2/3) / 2 = 5/6.
    samples: list[Sample] = [
        *(("a", {"a": 0.9}), ("b", {"a": 0.6, "b": 0.7}), ("a", {"a": 0.5, "b": 0.4})),
        *(("a", {}), ("b", {"b": 0.4})),
    ]
    found = ask("average_precision", evidence("abc", samples))
    assert by_label(found) == {
        "a": pytest.approx(34 / 45),
        "b": pytest.approx(5 / 6),
        "c": None,
        None: pytest.approx((34 / 45 + 5 / 6) / 2),
    }
    assert [value.n for value in found.values] == [3, 2, 0, 5]


# ---- scores of samples


def samples_of(findings: Findings) -> MetricSamples:
    assert findings.samples is not None
    return findings.samples


def test_sample_scores() -> None:
    found = ask("sample_scores", evidence("abc", HALF_RIGHT))
    own = samples_of(found)
    # A label that is not listed has the smallest probability there is, 2⁻⁵².
    losses = [-math.log(0.9), math.log(2), 52 * math.log(2), -math.log(0.3)]
    assert own.columns == {
        "correct": [1, 1, 0, 0],
        "true_label_score": [0.9, 0.5, 0, 0.3],
        "log_loss": pytest.approx(losses, abs=1e-12),
    }
    assert (list(own.sample_ids), own.undefined) == (["s0", "s1", "s2", "s3"], [None] * 4)
    assert [(one.output, one.value, one.proportion) for one in found.values] == [
        ("correct", 0.5, True),
        ("true_label_score", pytest.approx(1.7 / 4), False),
        ("log_loss", pytest.approx(sum(losses) / 4), False),
    ]
    again = ask("sample_scores", resampled(evidence("abc", HALF_RIGHT), [2, 0, 0, 1]))
    assert again.samples is None
    assert [one.value for one in again.values] == pytest.approx(
        [2 / 3, 2.1 / 3, (2 * losses[0] + losses[3]) / 3]
    )


def test_scores_that_are_no_probabilities() -> None:
    logits = evidence("ab", [("a", {"a": 7.5, "b": -2.0}), ("b", {"a": 3.0, "b": 2.0})])
    found = ask("sample_scores", logits, probabilities=False)
    nothing = [None, None]
    own = samples_of(found).columns
    assert own == {"correct": [1, 0], "true_label_score": nothing, "log_loss": nothing}
    reason = "probabilities: false; scores may be anything"
    assert [(one.value, one.undefined) for one in found.values] == [
        (0.5, None),
        (None, reason),
        (None, reason),
    ]
    assert called("sample_scores", probabilities=False).needs == ONE_LABEL
    assert "probabilities" in called("sample_scores").needs


def test_samples_with_several_labels_have_scores_of_each_key() -> None:
    whole = score_samples(random_samples(3, samples=12, keys=2), None)
    # The first sample has lost its row of the second key.
    kept = whole._rows(np.arange(len(whole.truth)) != 1)
    (_, first), (at, second) = by_key(kept)
    assert at == {"label_key": "key 1"}
    assert samples_of(ask("sample_scores", first)).undefined == [None] * 12
    found = ask("sample_scores", second)
    own = samples_of(found)
    assert own.undefined == ["has no label of this key", *[None] * 11]
    assert [column[0] for column in own.columns.values()] == [None] * 3
    assert None not in own.columns["correct"][1:]
    assert row_of(found, None, "correct").n == 11
