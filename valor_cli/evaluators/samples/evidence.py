"""Measure samples: the outcomes of all calls of a wing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.outcomes import (
    Floats,
    Ints,
    Outcomes,
    Texts,
    at_positions,
    chained,
)
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Call, Metric, Wing

_WEIGHTS_AT_ONCE: Final = 1 << 22
"""Weights that are held at once as floats."""


class SampleEvidence(Struct, frozen=True):
    """The outcomes of all calls of one wing.

    Attributes:
        calls: The metrics and their parameters.
        outcomes: Of each call, of all samples.
        sample_ids: (n,) as in the dataset.
        number: (n,) position of each sample in the whole data; ascending.
        weights: (replicas, n) how often each sample counts, as in `Sampled`.
    """

    calls: tuple[Call, ...]
    outcomes: tuple[Outcomes, ...]
    sample_ids: Sequence[str]
    number: Ints
    weights: Floats

    @classmethod
    def of_all(
        cls,
        calls: tuple[Call, ...],
        outcomes: tuple[Outcomes, ...],
        sample_ids: Sequence[str],
        number: Ints,
    ) -> SampleEvidence:
        """All data: one replica, in which every sample counts once."""
        return cls(calls, outcomes, sample_ids, number, np.ones((1, len(number))))

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.sample_ids)

    def of(self, call: Call) -> Sampled:
        """The outcomes of one call."""
        outcomes = self.outcomes[self.calls.index(call)]
        return Sampled(call, self.sample_ids, outcomes, self.weights)

    def select(self, units: NDArray[np.bool_]) -> SampleEvidence:
        """Select samples."""
        return self._taken(np.flatnonzero(units))

    def resamples(self, weights: Ints) -> Iterator[SampleEvidence]:
        """The evidence whose replica b has sample i weights[b, i] times, some at a time."""
        at_once = max(_WEIGHTS_AT_ONCE // max(self.unit_count, 1), 1)
        for first in range(0, len(weights), at_once):
            yield replace(self, weights=weights[first : first + at_once].astype(np.float64))

    def _taken(self, chosen: Ints) -> SampleEvidence:
        return SampleEvidence.of_all(
            self.calls,
            tuple(one.rows(chosen) for one in self.outcomes),
            at_positions(self.sample_ids, chosen),
            self.number[chosen],
        )


def plan_samples(calls: Sequence[Call], slices: Sequence[str]) -> tuple[Call, ...]:
    """The plan of the evidence: the calls themselves."""
    return tuple(calls)


def measure_samples(data: TextDataset, calls: tuple[Call, ...]) -> SampleEvidence:
    """Measure the samples of a shard for every call; secrets are masked in reasons.

    Raises:
        ValueError: A metric of samples has no `measure`.
    """
    texts = Texts(data)
    outcomes = []
    for call in calls:
        if call.metric.measure is None:
            raise ValueError(f"{call.metric.name} has no measure")
        found: Outcomes = call.metric.measure(texts, **call.parameters)
        found = found.without_secrets(data.secrets)
        outcomes.append(found if data.prepared is None else found.packed())
    return SampleEvidence.of_all(calls, tuple(outcomes), data.sample_ids, data.number)


def merge_samples(parts: Sequence[SampleEvidence]) -> SampleEvidence:
    """Merge the evidence of several shards, in the order of the whole data."""
    whole = SampleEvidence.of_all(
        parts[0].calls,
        tuple(map(Outcomes.joined, zip(*(part.outcomes for part in parts), strict=True))),
        chained([part.sample_ids for part in parts]),
        np.concatenate([part.number for part in parts]),
    )
    if (whole.number[1:] > whole.number[:-1]).all():
        return whole
    return whole._taken(np.argsort(whole.number, kind="stable"))


def sample_wing(*metrics: Metric[Any]) -> Wing[TextDataset, SampleEvidence]:
    """A wing of metrics that look at samples one by one."""
    return Wing(
        metrics=metrics,
        plan=plan_samples,
        evidence=measure_samples,
        merge=merge_samples,
    )
