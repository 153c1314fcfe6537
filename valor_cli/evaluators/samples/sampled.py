"""Values of all samples together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from valor_cli.evaluators.agreements import agreements_of
from valor_cli.evaluators.packed_values import NumberColumn
from valor_cli.evaluators.samples.outcomes import UNREADABLE, Floats, Outcomes
from valor_cli.kernels.columns.grouping import quotient
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
from valor_cli.statistics.label_means import first_and_all

WORST = 10
"""Samples that reports show of a metric."""

NOTHING_TO_LOOK_AT = "no sample has what it looks at"

_OK = STATUSES.index("ok")
_UNREADABLE = STATUSES.index("parse_failure")


class Sampled(Struct, frozen=True):
    """The outcomes of one call, as read by its `compute`.

    Attributes:
        call: The metric and its parameters.
        sample_ids: (n,) as in the dataset.
        outcomes: Of those samples.
        weights: (replicas, n) how often each counts, whole numbers. All data are one replica, in
            which each counts once.
    """

    call: Call
    sample_ids: Sequence[str]
    outcomes: Outcomes
    weights: Floats

    @property
    def metric(self) -> Metric[Any]:
        """The metric."""
        return self.call.metric

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Every parameter of the call."""
        return self.call.parameters

    @property
    def whole(self) -> bool:
        """Whether these are all data: reports tell of single samples."""
        return len(self.weights) == 1 and bool((self.weights == 1).all())

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(n,) which samples have status "ok"."""
        return np.asarray(self.outcomes.status == _OK)

    @property
    def read(self) -> NDArray[np.bool_]:
        """(n,) which samples have input, parsed or not: the denominator of rates."""
        return np.asarray(self.scored | (self.outcomes.status == _UNREADABLE))

    def sums(self, *columns: NDArray[Any]) -> Floats:
        """(columns, replicas) weighted sums of (n,) columns, exact, whatever the order."""
        return weighted_sums(self.weights, exact_parts(np.array(columns, np.float64)))

    def means(
        self,
        *outputs: str,
        within: NDArray[np.bool_] | None = None,
        proportion: bool = False,
    ) -> list[MetricValue]:
        """Means of outputs over the "ok" samples that have them.

        Args:
            outputs: Their names; none: all of the metric.
            within: (n,) the samples to count; None for those with status "ok".
            proportion: Whether every sample has 0 or 1.
        """
        names = outputs or tuple(one.name for one in self.metric.outputs)
        columns = np.array([self.outcomes.columns[name] for name in names])
        counted = (self.scored if within is None else within) & ~np.isnan(columns)
        totals, counts = np.split(self.sums(*np.where(counted, columns, 0.0), *counted), 2)
        found = zip(quotient(totals, counts, np.nan), counts, names, strict=True)
        return [self.value(mean, n, name, proportion=proportion) for mean, n, name in found]

    def rate(self, output: str) -> MetricValue:
        """An output as a share of the samples with input.

        It is undefined where no sample has the output; a sample without it counts as 0. Where none
        could be read, nothing but that is known.
        """
        column = self.outcomes.columns[output]
        known = self.read & ~np.isnan(column)
        passed = np.where(known, column, 0.0)
        total, n, told, scored = self.sums(passed, self.read, known, self.scored)
        n = np.where((told > 0) & ((scored > 0) | (output == UNREADABLE)), n, 0)
        none = NOTHING_TO_LOOK_AT if self.scored.any() else None
        flags = n[0] > 0 and bool(((passed == 0) | (passed == 1)).all())
        return self.value(quotient(total, n, np.nan), n, output, none, proportion=flags)

    def value(
        self,
        found: Floats,
        n: Floats,
        output: str = "value",
        none: str | None = None,
        *,
        proportion: bool = False,
    ) -> MetricValue:
        """A value of the report.

        Args:
            found: (replicas,) what it is in each; NaN: undefined.
            n: (replicas,) samples that it is computed from.
            output: Its name.
            none: Why it is undefined; None: as `why_none` says.
            proportion: Whether it is a share of n samples.
        """
        value, why, replicas = first_and_all(found, none or "")
        if value is None:
            why = none or self.why_none()
        return MetricValue(
            value,
            why,
            output,
            n=int(n[0]),
            proportion=proportion,
            replicas=replicas,
        )

    def why_none(self) -> str:
        """Why no sample has a value: the reasons, most frequent first."""
        return self.outcomes.once("why none", self._why_none)

    def findings(
        self,
        values: Sequence[MetricValue],
        *,
        tables: Iterable[MetricTable] = (),
        warnings: Iterable[str] = (),
        insights: Iterable[MetricInsight] = (),
    ) -> Findings:
        """Findings with these values; all else is of all data alone, and made of nothing else."""
        if beside := self.outcomes.beside:
            values = [structs.replace(value, at={**beside, **value.at}) for value in values]
        if not self.whole:
            return Findings(values)
        outcomes = self.outcomes
        counted = np.bincount(outcomes.status, minlength=len(STATUSES)).tolist()
        return Findings(
            values,
            tables=tuple(tables),
            examples=tuple(self._worst()),
            samples=MetricSamples(
                self.sample_ids,
                {name: NumberColumn(column) for name, column in self._told().items()},
                outcomes.reasons,
                [STATUSES[status] for status in outcomes.status.tolist()],
                outcomes.details,
                outcomes.asked or None,
            ),
            warnings=tuple(warnings),
            statuses={name: count for name, count in zip(STATUSES, counted, strict=True) if count},
            agreements=agreements_of(
                outcomes.raters, self.sample_ids, rated=self.metric.outputs[0].name == "pass"
            ),
            insights=tuple(insights),
        )

    def _why_none(self) -> str:
        if not self.sample_ids:
            return "no samples"
        found = Counter(
            reason or STATUSES[status]
            for reason, status in zip(self.outcomes.reasons, self.outcomes.status, strict=True)
            if status != _OK
        )
        if not found:
            return NOTHING_TO_LOOK_AT
        told = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:3]
        return "no sample has one: " + "; ".join(f"{n} × {why}" for why, n in told)

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
    return sampled.findings(sampled.means())


def rate_of_samples(sampled: Sampled) -> Findings:
    """The share of samples with input that pass, for each output of a pass/fail metric."""
    return sampled.findings([sampled.rate(output.name) for output in sampled.metric.outputs])
