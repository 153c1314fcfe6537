"""Every metric against scikit-learn and plain loops, also of resamples and of odd scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json

from tests.evaluators.classification.asking import SAMPLES, ask, evidence, resampled
from tests.oracles import classification_truth as truth
from tests.oracles.classification_forms import random_samples
from tests.oracles.classification_problems import dataset_of
from tests.oracles.classification_rows import (
    CURVES,
    RANKING,
    TOP,
    Call,
    Rows,
    assert_same,
    decided,
    every_call,
    expected_rows,
    found_rows,
)
from tests.oracles.classification_truth import Sample
from valor_cli.evaluators.classification.evidence import decisions
from valor_cli.evaluators.classification.evidence.scores import Scored, score_samples
from valor_cli.evaluators.parameters import SCORES

LABELS = "abcdef"
THRESHOLDS: list[truth.Threshold] = [0.0, 0.3, {"a": 0.5, "d": 0.2}]


def scored(labels: Sequence[str], samples: Sequence[Sample]) -> Scored:
    listed = [(one.truth, dict(one.listed)) for one in samples]
    return score_samples(dataset_of(labels, listed, [one.id for one in samples]), None)


def rows_of(found: Scored, calls: Sequence[Call]) -> Rows:
    """What metrics say, as results.json has it."""
    kinds = {"metrics": "values", "curves": "curves", "tables": "tables", "examples": "examples"}
    result: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for name, asked in calls:
        parameters = dict(asked)
        if "score_thresholds" in parameters:
            parameters["score_thresholds"] = tuple(sorted(set(parameters["score_thresholds"])))
        about = {"metric": name, "model": "model", "slice": None}
        said = ask(name, found, **parameters)
        for kind, column in kinds.items():
            for one in getattr(said, column):
                own = json.decode(json.encode(one, enc_hook=lambda value: value.tolist()))
                result[kind].append({**own, **about, "parameters": {**parameters, **one.at}})
    return found_rows(result)


def assert_expected(
    found: Scored, samples: Sequence[Sample], labels: Sequence[str], calls: Sequence[Call]
) -> None:
    """Metrics say what the oracle does; examples in any order, which is that of the report."""
    own, expected = (
        rows._replace(examples={at: sorted(map(str, some)) for at, some in rows.examples.items()})
        for rows in (rows_of(found, calls), expected_rows(samples, labels, calls))
    )
    assert_same(own, expected)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_number(seed: int, partial: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:
        # With no table of cells, the pairs that occur are sorted out.
        monkeypatch.setattr(decisions, "CELLS_TABULATED", 0)
    digits = (1, 2, None)[seed % 3]
    samples = random_samples(seed, partial=partial, digits=digits, count=40)
    samples.sort(key=lambda one: one.id)
    labels = truth.labels_of(samples) if partial else LABELS
    calls = every_call([THRESHOLDS[seed % 3]])
    whole = scored(labels, samples)
    assert_expected(whole, samples, labels, calls)
    # In a resample each sample stands as often as it weighs.
    weights = np.random.default_rng(seed).integers(0, 4, len(samples)).tolist()
    copies = [one for one, count in zip(samples, weights, strict=True) for _ in range(count)]
    found, expected = (
        rows_of(resampled(whole, weights), calls),
        expected_rows(copies, labels, calls),
    )
    own = Rows(found.values, found.counts, {}, {}, {})
    assert_same(own, Rows(expected.values, expected.counts, {}, {}, {}))


@given(
    SAMPLES,
    st.sets(st.sampled_from([-1.0, -0.5, -0.2, 0.0, 0.1, 0.15, 0.5, 1.0]), min_size=1),
    st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_curves_and_examples_of_scores_below_zero_too(
    samples: list[tuple[str, dict[str, float]]], levels: set[float], most: int
) -> None:
    own = [
        Sample(f"s{at:02}", label, tuple(row.items())) for at, (label, row) in enumerate(samples)
    ]
    at = {"score_thresholds": sorted(levels)}
    calls = [("pr_curve", at), ("detailed_pr_curve", {**at, "max_examples": most})]
    assert_expected(scored("abcd", own), own, "abcd", calls)


def test_many_samples() -> None:
    samples = random_samples(1, labels="abcd", partial=True, digits=2, count=400)
    samples.sort(key=lambda one: one.id)
    # 300 samples of b that score for a, then one that does not.
    behind = [Sample(f"t{at:03}", "b", (("a", 0.97), ("b", 0.5))) for at in range(300)]
    behind.append(Sample("t300", "b", (("b", 0.5),)))
    calls: list[Call] = [
        ("detailed_pr_curve", {"score_thresholds": SCORES, "max_examples": 2}),
        *RANKING,
        *TOP[:4],
        *decided([0.2])[:2],
    ]
    for own in (samples, behind):
        assert_expected(scored("abcd", own), own, "abcd", calls)


def test_any_order_of_samples_draws_the_same_curves() -> None:
    samples = [("a", {"a": 0.5, "b": 0.5}), ("b", {"b": 0.9}), ("a", {"b": 0.2})]
    one, turned = (rows_of(evidence("ab", each), CURVES[:1]) for each in (samples, samples[::-1]))
    assert one.curves == turned.curves
