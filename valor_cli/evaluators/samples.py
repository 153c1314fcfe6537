"""Evidence of text metrics: the outcome of each metric on each sample.

A metric has two halves. Its `measure` looks at the samples of a shard and returns an outcome for
each (`Outcome`); its `compute` makes the values of the report from all of them (`Sampled`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from math import fsum
from typing import Any, Final, NamedTuple, TypeVar, cast, overload

import numpy as np
from msgspec import Struct, field, structs
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.agreements import agreements_of
from valor_cli.evaluators.memo import Memo
from valor_cli.evaluators.packed_values import ValueColumn, packed_details, packed_marks
from valor_cli.kernels.columns.text_columns import TextColumn
from valor_cli.kernels.ranking.exact_sums import exact_parts, weighted_sums
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.metric import Call, Metric, Wing
from valor_cli.results import (
    STATUSES,
    Findings,
    JudgeCalls,
    Mark,
    MetricExample,
    MetricInsight,
    MetricSamples,
    MetricTable,
    MetricValue,
    Scalar,
    Status,
    Verdict,
)

_AT_ONCE: Final = 1 << 12


class NumberColumn(Sequence[float | None]):
    """A column of numbers or None in eight bytes each."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> float | None: ...
    @overload
    def __getitem__(self, at: slice) -> NumberColumn: ...
    def __getitem__(self, at: int | slice) -> float | NumberColumn | None:
        if isinstance(at, slice):
            return NumberColumn(self.values[at])
        value = float(self.values[at])
        return value if value == value else None

    def __iter__(self) -> Iterator[float | None]:
        for low in range(0, len(self.values), _AT_ONCE):
            for value in self.values[low : low + _AT_ONCE].tolist():
                yield value if value == value else None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The floats, NaN for None."""
        if copy is False:
            return self.values if dtype is None else self.values.astype(dtype, copy=False)
        return np.array(self.values, dtype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

Secrets = Callable[[str], Iterable[tuple[int, int]]]
"""Where in a text stands what no report may show."""

WORST = 10
"""Samples that reports show of a metric."""

UNREADABLE = "parse_failures"
"""The rate of samples with input that no verdict could be read of."""

_OK = STATUSES.index("ok")
_UNREADABLE = STATUSES.index("parse_failure")


class Outcome(NamedTuple):
    """The outcome of one sample under one metric.

    Attributes:
        values: By output; one that is left out, or None, is undefined for this sample.
        status: "ok" with a value of the primary output, or why there is none.
        reason: That in words; beside "ok" what else is to be said.
        details: What the value rests on, as JSON has it; no text that is secret.
        marks: The places in the sample's texts that it rests on.
        verdicts: What a judge said.
        asked: What it was asked; None of metrics without a judge.
    """

    values: Mapping[str, float | None] = {}
    status: Status = "ok"
    reason: str | None = None
    details: Mapping[str, Any] | None = None
    marks: tuple[Mark, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    asked: JudgeCalls | None = None


def missing(what: str) -> Outcome:
    """The outcome of a sample that is missing an input: "no reference"."""
    return Outcome(status="missing_input", reason=what)


class Texts:
    """The samples of a shard, with derived values that several metrics share."""

    __slots__ = ("_memo", "data")

    def __init__(self, data: TextDataset) -> None:
        self.data = data
        self._memo = Memo()

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute `make` for these samples once and cache the result."""
        return self._memo.once(key, make)


class Outcomes(Struct, frozen=True):
    """The outcomes of a shard's samples under one metric, columns of equal length.

    Attributes:
        status: (n,) positions in `STATUSES`.
        reasons, details, marks: (n,) as in `Outcome`.
        columns: By output, (n,) values; NaN where undefined.
        counts: By name, (n, …) whole numbers that add up over samples, for metrics of a corpus.
        verdicts: (n,) as in `Outcome`; none: no sample was judged.
        asked: (n,) likewise.
        raters: By judge and number of the repeat, (n,) the primary values that each found; NaN:
            none. Empty where there is one alone.
        vectors: By name, (n, …) numbers that metrics of the whole data read; not of resamples.
        beside: What stands beside every value, among the parameters: the model it rests on.
    """

    status: NDArray[np.int8]
    reasons: Sequence[str | None]
    details: Sequence[Mapping[str, Any] | None]
    marks: Sequence[tuple[Mark, ...]]
    columns: Mapping[str, Floats]
    counts: Mapping[str, Ints] = field(default_factory=dict)
    verdicts: tuple[tuple[Verdict, ...], ...] = ()
    asked: tuple[JudgeCalls, ...] = ()
    raters: Mapping[tuple[str, int], Floats] = field(default_factory=dict)
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    beside: Mapping[str, Scalar] = field(default_factory=dict)

    @staticmethod
    def of(
        found: Sequence[Outcome],
        outputs: Sequence[str],
        counts: Mapping[str, Ints] | None = None,
        *,
        vectors: Mapping[str, Floats] | None = None,
        beside: Mapping[str, Scalar] | None = None,
    ) -> Outcomes:
        """Columns of outcomes, in sample order.

        Args:
            found: One for each sample.
            outputs: The names of all outputs that `Outcome.values` may have.
            counts, vectors, beside: As in `Outcomes`.
        """
        return Outcomes(
            np.array([STATUSES.index(one.status) for one in found], np.int8),
            tuple(one.reason for one in found),
            tuple(one.details for one in found),
            tuple(one.marks for one in found),
            {
                name: np.array([one.values.get(name) for one in found], np.float64)
                for name in outputs
            },
            counts or {},
            tuple(one.verdicts for one in found) if any(one.verdicts for one in found) else (),
            tuple(one.asked or JudgeCalls() for one in found)
            if any(one.asked for one in found)
            else (),
            vectors=vectors or {},
            beside=beside or {},
        )

    def without_secrets(self, secrets: Secrets, *, quoted: bool = False) -> Outcomes:
        """The outcomes with secrets masked in their reasons and details.

        Reasons may quote a condition, or a text; judges quote whatever they were shown.

        Args:
            secrets: Where in a text stands what no report may show.
            quoted: Whether details quote texts, too; those of judges always may.
        """
        memo: dict[str, str] = {}

        def safe(text: str) -> str:
            if text not in memo:
                memo[text] = masked(text, [Span(start, end, "") for start, end in secrets(text)])
            return memo[text]

        details = self.details
        if quoted or self.asked:
            details = tuple(_each_text(one, safe) for one in details)
        return replace(
            self,
            reasons=tuple(None if one is None else safe(one) for one in self.reasons),
            details=details,
            verdicts=tuple(
                tuple(
                    Verdict(safe(one.text), safe(one.verdict), one.good, safe(one.reason))
                    for one in own
                )
                for own in self.verdicts
            ),
            asked=tuple(
                JudgeCalls(one.calls, one.cached, tuple(map(safe, one.replies)))
                for one in self.asked
            ),
        )

    def rows(self, chosen: Sequence[int] | Ints) -> Outcomes:
        """Select outcomes by position."""
        order = np.asarray(chosen, np.int64)
        at = order.tolist()
        return Outcomes(
            self.status[order],
            tuple(self.reasons[i] for i in at),
            _some(self.details, order),
            _some(self.marks, order),
            {name: column[order] for name, column in self.columns.items()},
            {name: column[order] for name, column in self.counts.items()},
            tuple(self.verdicts[i] for i in at) if self.verdicts else (),
            tuple(self.asked[i] for i in at) if self.asked else (),
            {name: column[order] for name, column in self.raters.items()},
            {name: column[order] for name, column in self.vectors.items()},
            self.beside,
        )

    @staticmethod
    def joined(parts: Sequence[Outcomes]) -> Outcomes:
        """Concatenate the outcomes of several shards."""
        first = parts[0]
        judged = any(part.verdicts for part in parts)
        asked = any(part.asked for part in parts)
        return Outcomes(
            np.concatenate([part.status for part in parts]),
            tuple(one for part in parts for one in part.reasons),
            _chained([part.details for part in parts]),
            _chained([part.marks for part in parts]),
            {
                name: np.concatenate([part.columns[name] for part in parts])
                for name in first.columns
            },
            _stacked([part.counts for part in parts], [len(part.status) for part in parts]),
            tuple(one for part in parts for one in part._verdicts()) if judged else (),
            tuple(one for part in parts for one in part._asked()) if asked else (),
            {name: np.concatenate([part.raters[name] for part in parts]) for name in first.raters},
            _stacked([part.vectors for part in parts], [len(part.status) for part in parts]),
            first.beside,
        )

    def packed(self) -> Outcomes:
        """The same in compact form, for data that does not fit in memory otherwise."""
        return replace(self, details=packed_details(self.details), marks=packed_marks(self.marks))

    def _verdicts(self) -> tuple[tuple[Verdict, ...], ...]:
        return self.verdicts or ((),) * len(self.status)

    def _asked(self) -> tuple[JudgeCalls, ...]:
        return self.asked or (JudgeCalls(),) * len(self.status)


def _some(values: Sequence[T], at: Ints) -> Sequence[T]:
    """Those at some positions."""
    if isinstance(values, ValueColumn | TextColumn):
        found: Any = values.take(at)
        return cast(Sequence[T], found)
    return tuple(values[one] for one in at.tolist())


def _chained(parts: Sequence[Sequence[T]]) -> Sequence[T]:
    """Those of several shards, one after the other."""
    for kind in (ValueColumn, TextColumn):
        if all(isinstance(part, kind) for part in parts):
            columns: Any = parts
            return cast(Sequence[T], kind.joined(columns))
    return tuple(one for part in parts for one in part)


def _stacked(
    parts: Sequence[Mapping[str, NDArray[Any]]], lengths: Sequence[int]
) -> dict[str, NDArray[Any]]:
    """Columns of several shards, one after the other; a shard in which no sample is "ok" may lack
    them, and has zeros.

    Args:
        parts: By name, the columns of each shard.
        lengths: The samples of each.
    """
    known = {name: column for part in parts for name, column in part.items()}
    return {
        name: np.concatenate(
            [
                part[name] if name in part else np.zeros((length, *like.shape[1:]), like.dtype)
                for part, length in zip(parts, lengths, strict=True)
            ]
        )
        for name, like in known.items()
    }


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each_text(one, change) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each_text(one, change) for one in value]
    return value


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


class SampleEvidence(Struct, frozen=True):
    """The outcomes of all calls of one wing.

    Attributes:
        calls: The metrics and their parameters.
        outcomes: Of each call, of all samples.
        sample_ids: (n,) as in the dataset.
        number: (n,) position of each sample in the whole data; ascending.
        weights: (n,) how often each sample counts; None: once each.
    """

    calls: tuple[Call, ...]
    outcomes: tuple[Outcomes, ...]
    sample_ids: Sequence[str]
    number: Ints
    weights: Ints | None = None
    memos: tuple[Memo, ...] = field(default=())

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.sample_ids)

    def of(self, call: Call) -> Sampled:
        """The outcomes of one call."""
        at = self.calls.index(call)
        memo = self.memos[at] if self.memos else Memo()
        return Sampled(call, self.sample_ids, self.outcomes[at], self.weights, memo)

    def select(self, units: NDArray[np.bool_]) -> SampleEvidence:
        """Select samples."""
        return self._taken(np.flatnonzero(units))

    def resamples(self, weights: Ints) -> Iterator[SampleEvidence]:
        """For each b, the evidence in which sample i counts weights[b, i] times."""
        memos = tuple(Memo() for _ in self.calls)
        for row in weights:
            yield replace(self, weights=row, memos=memos)

    def _taken(self, chosen: Ints) -> SampleEvidence:
        return SampleEvidence(
            self.calls,
            tuple(one.rows(chosen) for one in self.outcomes),
            _some(self.sample_ids, chosen),
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
    return SampleEvidence(calls, tuple(outcomes), data.sample_ids, data.number)


def merge_samples(parts: Sequence[SampleEvidence]) -> SampleEvidence:
    """Merge the evidence of several shards, in the order of the whole data."""
    whole = SampleEvidence(
        parts[0].calls,
        tuple(map(Outcomes.joined, zip(*(part.outcomes for part in parts), strict=True))),
        _chained([part.sample_ids for part in parts]),
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
