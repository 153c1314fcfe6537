"""Values of all samples together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from math import fsum
from typing import Any

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from valor_cli.evaluators.agreements import agreements_of
from valor_cli.evaluators.memo import Memo
from valor_cli.evaluators.packed_values import NumberColumn
from valor_cli.evaluators.samples.outcomes import UNREADABLE, Floats, Ints, Outcomes
from valor_cli.kernels.ranking.exact_sums import exact_parts, weighted_sums
from valor_cli.metric import Call, Metric
from valor_cli.results import (
    STATUSES,
    Findings,
    MetricExample,
    MetricInsight,
    MetricSamples,
    MetricTable,
    MetricValue,
)

WORST = 10
"""Samples that reports show of a metric."""

_OK = STATUSES.index("ok")
_UNREADABLE = STATUSES.index("parse_failure")


class Sampled(Struct, frozen=True):
    """The outcomes of one call, as read by its `compute`.

    Attributes:
        call: The metric and its parameters.
        sample_ids: (n,) as in the dataset.
        outcomes: Of those samples.
        weights: (n,) how often each counts in this resample; None: once each, not a resample.
        memo: Holds what does not depend on the weights.
    """

    call: Call
    sample_ids: Sequence[str]
    outcomes: Outcomes
    weights: Ints | None = None
    memo: Memo = field(default_factory=Memo)

    @property
    def metric(self) -> Metric[Any]:
        """The metric."""
        return self.call.metric

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Every parameter of the call."""
        return self.call.parameters

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(n,) which samples have status "ok"."""
        return np.asarray(self.outcomes.status == _OK)

    @property
    def read(self) -> NDArray[np.bool_]:
        """(n,) which samples have input, parsed or not: the denominator of rates."""
        return np.asarray(self.scored | (self.outcomes.status == _UNREADABLE))

    def times(self) -> Ints:
        """(n,) weight of each sample."""
        return np.ones(len(self.sample_ids), np.int64) if self.weights is None else self.weights

    def summed(self, name: str) -> Ints:
        """(…) weighted sum of a count over the "ok" samples."""
        counted = self.times() * self.scored
        return np.asarray(np.tensordot(counted, self.outcomes.counts[name], 1))

    def mean(self, output: str, within: NDArray[np.bool_] | None = None) -> MetricValue:
        """Mean of an output over the "ok" samples that have it.

        Args:
            output: Its name.
            within: (n,) the samples to count, in place of those that are "ok".
        """
        column = self.outcomes.columns[output]
        counted = (self.scored if within is None else within) & ~np.isnan(column)
        weights = self.times()[counted]
        n = int(weights.sum())
        if not n:
            return MetricValue(None, self.why_none(), output, n=0)
        return MetricValue(self.total(output, column, counted) / n, output=output, n=n)

    def total(self, name: str, column: Floats, counted: NDArray[np.bool_]) -> float:
        """Weighted sum of a column over some samples, independent of their order.

        Args:
            name: Of the column, among all of the call.
            column: (n,) values.
            counted: (n,) the samples.
        """
        if self.weights is None:
            # An exact sum.
            return fsum(column[counted])
        parts = self.memo.once((name, counted.tobytes()), lambda: exact_parts(column[counted]))
        return float(weighted_sums(self.weights[counted].astype(np.float64), parts))

    def why_none(self) -> str:
        """Why no sample has a value: the reasons, most frequent first."""
        if self.weights is not None:
            return "not in this resample"
        if not self.sample_ids:
            return "no samples"
        found = Counter(
            reason or STATUSES[status]
            for reason, status in zip(self.outcomes.reasons, self.outcomes.status, strict=True)
            if status != _OK
        )
        if not found:
            return "no sample has what it looks at"
        told = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:3]
        return "no sample has one: " + "; ".join(f"{n} × {why}" for why, n in told)

    def rate(self, output: str) -> MetricValue:
        """An output as a share of the samples with input.

        It is undefined where no sample has the output; a sample without it counts as 0. Where none
        could be read, nothing but that is known.
        """
        column = self.outcomes.columns[output]
        counted = self.read & (self.times() > 0)
        n = int(self.times()[counted].sum())
        if not n or (output != UNREADABLE and not (counted & self.scored).any()):
            return MetricValue(None, self.why_none(), output, n=0)
        if np.isnan(column[counted]).all():
            return MetricValue(None, "no sample has what it looks at", output, n=0)
        passed = np.nan_to_num(column[counted])
        found = weighted_sums(self.times()[counted].astype(np.float64), exact_parts(passed))
        flags = bool(((passed == 0) | (passed == 1)).all())
        return MetricValue(float(found) / n, output=output, n=n, proportion=flags)

    def findings(
        self,
        values: Sequence[MetricValue],
        *,
        tables: Sequence[MetricTable] = (),
        warnings: Sequence[str] = (),
        insights: Sequence[MetricInsight] = (),
    ) -> Findings:
        """Findings with these values; per-sample outcomes are included unless this is a
        resample.
        """
        if beside := self.outcomes.beside:
            values = [structs.replace(value, at={**beside, **value.at}) for value in values]
        if self.weights is not None:
            return Findings(values)
        outcomes = self.outcomes
        counted = np.bincount(outcomes.status, minlength=len(STATUSES)).tolist()
        return Findings(
            values,
            tables=tables,
            examples=tuple(self._worst()),
            samples=MetricSamples(
                self.sample_ids,
                {name: NumberColumn(column) for name, column in self._told().items()},
                outcomes.reasons,
                [STATUSES[status] for status in outcomes.status.tolist()],
                outcomes.details,
                outcomes.asked or None,
            ),
            warnings=warnings,
            statuses={name: count for name, count in zip(STATUSES, counted, strict=True) if count},
            agreements=agreements_of(
                outcomes.raters, self.sample_ids, rated=self.metric.outputs[0].name == "pass"
            ),
            insights=insights,
        )

    def _told(self) -> dict[str, Floats]:
        """The columns per sample; None where the reply was not readable."""
        unreadable = self.outcomes.status == _UNREADABLE
        primary = self.metric.outputs[0].name
        columns = dict(self.outcomes.columns)
        columns[primary] = np.where(unreadable, np.nan, columns[primary])
        return columns

    def _worst(self) -> Iterator[MetricExample]:
        """The samples furthest from the best value; behind them, those that cannot be read."""
        primary = self.metric.outputs[0]
        if primary.better is None:
            return
        column = self.outcomes.columns[primary.name]
        low, high = primary.bounds
        best = high if primary.better == "higher" else low
        scored, sign = self.scored, 1.0 if primary.better == "higher" else -1.0
        distance = np.where(scored, sign * column, np.inf)
        valued = ~np.isnan(column) & (column != best)
        wrong = np.flatnonzero(np.where(scored, valued, self.read))
        if len(wrong) > WORST:
            # Ties apart, the search is done in columns.
            wrong = wrong[distance[wrong] <= np.partition(distance[wrong], WORST - 1)[WORST - 1]]
        first = nsmallest(WORST, wrong.tolist(), key=lambda at: (distance[at], self.sample_ids[at]))
        for at in first:
            yield MetricExample(
                "worst_sample" if scored[at] else "unreadable",
                self.sample_ids[at],
                value=float(column[at]) if scored[at] else None,
                marks=self.outcomes.marks[at],
                reason=self.outcomes.reasons[at],
                verdicts=self.outcomes.verdicts[at] if self.outcomes.verdicts else (),
                replies=self.outcomes.asked[at].replies if self.outcomes.asked else (),
            )


def mean_of_samples(sampled: Sampled) -> Findings:
    """Mean of every output over the samples that have a value."""
    return sampled.findings([sampled.mean(output.name) for output in sampled.metric.outputs])


def rate_of_samples(sampled: Sampled) -> Findings:
    """The share of samples with input that pass, for each output of a pass/fail metric."""
    return sampled.findings([sampled.rate(output.name) for output in sampled.metric.outputs])
