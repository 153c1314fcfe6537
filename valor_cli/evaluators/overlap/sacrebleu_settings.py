"""Compute values and signatures with sacrebleu from per-sample counts.

Sacrebleu's metrics are for a corpus. Each sample keeps integer counts that add up, and the value
of any samples together is computed from their sums; a sample's own value is sacrebleu's sentence
score. The signature lists every setting (Post, A Call for Clarity in Reporting BLEU Scores, WMT
2018) and is reported among the parameters of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.outcomes import Ints
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.results import Findings, MetricValue, Scalar

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacrebleuMetric

REFERENCES = "references"
"""The count that holds how many references each sample has."""


def reference_counts(data: TextDataset) -> Ints:
    """(n,) number of references of each sample."""
    return np.array([len(each) for each in data.references], np.int64)


def of_corpus(
    sampled: Sampled,
    settings: Callable[[], SacrebleuMetric],
    values: Callable[[], Sequence[MetricValue]],
) -> Findings:
    """The values of all "ok" samples together, with their number and the signature.

    Args:
        sampled: What was found of each.
        settings: Makes sacrebleu's metric.
        values: Computes the values; called where there is a sample.
    """
    n = int(sampled.times()[sampled.scored].sum())
    if not n:
        why = sampled.why_none()
        nothing = [MetricValue(None, why, one.name, n=0) for one in sampled.metric.outputs]
        return sampled.findings(nothing)
    at: dict[str, Scalar] = {}
    if sampled.weights is None:
        references = sampled.outcomes.counts[REFERENCES][sampled.scored]
        at["signature"] = signature(settings(), references)
    return sampled.findings([replace(one, n=n, at=at) for one in values()])


def signature(metric: SacrebleuMetric, references: Ints) -> str:
    """Sacrebleu's signature, given the number of references of each sample."""
    distinct = np.unique(references).tolist()
    # sacrebleu sets this when it reads a corpus; -1 stands for numbers that vary.
    setattr(metric, "num_refs", distinct[0] if len(distinct) == 1 else -1)  # noqa: B010
    return str(metric.get_signature())
