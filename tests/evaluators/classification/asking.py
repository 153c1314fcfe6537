"""What tests of classification share: evidence of samples as written, and values by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.oracles.classification_problems import dataset_of
from valor_cli.evaluators.classification import CLASSIFICATION
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored, score_samples
from valor_cli.metric import Call
from valor_cli.results import Findings, MetricValue

Sample = tuple[str, Mapping[str, float]]
"""The true label, and the scores of the labels that are listed, in order."""

METRICS = {metric.name: metric for metric in CLASSIFICATION.metrics}

SAMPLES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.dictionaries(
            st.sampled_from("abcd"), st.sampled_from([-0.5, 0.0, 0.1, 0.2, 0.5, 1.0]), max_size=4
        ),
    ),
    min_size=1,
    max_size=14,
)
"""Samples of the labels a, b and c; d is only ever predicted."""

HALF_RIGHT: list[Sample] = [
    ("a", {"a": 0.9, "b": 0.1}),
    ("a", {"a": 0.5, "b": 0.5}),
    ("a", {}),
    ("b", {"c": 0.7, "b": 0.3}),
]
"""Truth a, a, a, b; top label a, a, none, c."""


def evidence(labels: Sequence[str], samples: Sequence[Sample]) -> Scored:
    """Evidence of samples s0, s1 …"""
    return score_samples(dataset_of(labels, samples), None)


def called(name: str, **parameters: Any) -> Call:
    """A call with every parameter, as a config would make it."""
    metric = METRICS[name]
    return Call(metric, {one.name: one.default for one in metric.parameters} | parameters)


def ask(name: str, scored: Evidence, **parameters: Any) -> Findings:
    """What a metric says of evidence, always as findings."""
    found = called(name, **parameters).findings(scored)
    return Findings([found]) if isinstance(found, MetricValue) else found


def by_label(findings: Findings, output: str = "value") -> dict[str | None, float | None]:
    """Values of one output by label; None is all labels together."""
    return {value.label: value.value for value in findings.values if value.output == output}


def reasons(findings: Findings) -> dict[str | None, str | None]:
    """Why values are undefined, or a stand-in, by label."""
    return {value.label: value.undefined for value in findings.values}


def row_of(findings: Findings, label: str | None = None, output: str = "value") -> MetricValue:
    """The one value of a label."""
    (found,) = [one for one in findings.values if (one.label, one.output) == (label, output)]
    return found


def resampled(scored: Scored, weights: Sequence[int]) -> Scored:
    """The resample in which each sample stands as often as its weight says."""
    (again,) = scored.resamples(np.array([weights], np.int64))
    return again
