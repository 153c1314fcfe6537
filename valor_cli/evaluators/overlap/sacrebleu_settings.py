"""Compute values and signatures with sacrebleu from per-sample counts.

Sacrebleu's metrics are for a corpus. Each sample keeps integer counts that add up, and the value
of any samples together is computed from their sums; a sample's own value is sacrebleu's sentence
score. The signature lists every setting (Post, A Call for Clarity in Reporting BLEU Scores, WMT
2018) and is reported among the parameters of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.outcomes import Ints
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.results import Findings

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacrebleuMetric

STATISTICS = "statistics"
"""The numbers that add up: sacrebleu's, in its order."""

NO_WORDS = "no words in the references"

REFERENCES = "references"
"""The numbers that say how many references each sample has."""


def reference_counts(data: TextDataset) -> Ints:
    """(n,) number of references of each sample."""
    return np.array([len(each) for each in data.references], np.int64)


def of_corpus(
    sampled: Sampled,
    settings: Callable[[], SacrebleuMetric],
    score: Callable[[NDArray[Any]], ArrayLike],
) -> Findings:
    """The values of all "ok" samples together, with their number and the signature.

    Args:
        sampled: With `STATISTICS` and `REFERENCES` among the numbers.
        settings: Makes sacrebleu's metric.
        score: Of (replicas, k) summed statistics, the (outputs, replicas) values; NaN: there are no
            words in the references.
    """
    outputs, statistics = sampled.metric.outputs, sampled.outcomes.numbers[STATISTICS]
    n, *sums = sampled.sums(sampled.scored, *statistics.T)
    found = np.asarray(score(np.array(sums).T.astype(statistics.dtype)), np.float64)
    none = NO_WORDS if n[0] else None
    values = [
        sampled.value(column, n, output.name, none)
        for column, output in zip(np.where(n > 0, found, np.nan), outputs, strict=True)
    ]
    if not sampled.scored.any():
        return sampled.findings(values)
    references = sampled.outcomes.numbers[REFERENCES][sampled.scored]
    said = sampled.outcomes.once("signature", lambda: signature(settings(), references))
    return sampled.findings([replace(one, at={"signature": said}) for one in values])


def signature(metric: SacrebleuMetric, references: Ints) -> str:
    """Sacrebleu's signature, given the number of references of each sample."""
    distinct = np.unique(references).tolist()
    # sacrebleu sets this when it reads a corpus; -1 stands for numbers that vary.
    setattr(metric, "num_refs", distinct[0] if len(distinct) == 1 else -1)  # noqa: B010
    return str(metric.get_signature())
