"""Outcomes of metrics on single samples.

A metric has two halves. Its `measure` looks at the samples of a shard and returns an outcome for
each (`Outcome`); its `compute` makes the values of the report from all of them (`Sampled`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.memo import Memo
from valor_cli.evaluators.packed_values import ValueColumn, packed_details, packed_marks
from valor_cli.kernels.columns.text_columns import TextColumn
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.results import (
    STATUSES,
    JudgeCalls,
    Mark,
    Scalar,
    Status,
    Verdict,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

Secrets = Callable[[str], Iterable[tuple[int, int]]]
"""Where in a text stands what no report may show."""

UNREADABLE = "parse_failures"
"""The rate of samples with input that no verdict could be read of."""


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
        numbers: By name, (n, …) what else metrics of all samples read: counts of a corpus, vectors.
        verdicts: (n,) as in `Outcome`; none: no sample was judged.
        asked: (n,) likewise.
        raters: By judge and number of the repeat, (n,) the primary values that each found; NaN:
            none. Empty where there is one alone.
        beside: What stands beside every value, among the parameters: the model it rests on.
    """

    status: NDArray[np.int8]
    reasons: Sequence[str | None]
    details: Sequence[Mapping[str, Any] | None]
    marks: Sequence[tuple[Mark, ...]]
    columns: Mapping[str, Floats]
    numbers: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    verdicts: tuple[tuple[Verdict, ...], ...] = ()
    asked: tuple[JudgeCalls, ...] = ()
    raters: Mapping[tuple[str, int], Floats] = field(default_factory=dict)
    beside: Mapping[str, Scalar] = field(default_factory=dict)
    _memo: Memo = field(default_factory=Memo)

    @staticmethod
    def of(
        found: Sequence[Outcome],
        outputs: Sequence[str],
        numbers: Mapping[str, NDArray[Any]] | None = None,
        *,
        beside: Mapping[str, Scalar] | None = None,
    ) -> Outcomes:
        """Columns of outcomes, in sample order.

        Args:
            found: One for each sample.
            outputs: The names of all outputs that `Outcome.values` may have.
            numbers, beside: As in `Outcomes`.
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
            numbers or {},
            tuple(one.verdicts for one in found) if any(one.verdicts for one in found) else (),
            tuple(one.asked or JudgeCalls() for one in found)
            if any(one.asked for one in found)
            else (),
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
                JudgeCalls(
                    one.calls,
                    one.cached,
                    tuple(map(safe, one.replies)),
                    tuple(map(safe, one.prompts)),
                )
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
            at_positions(self.details, order),
            at_positions(self.marks, order),
            {name: column[order] for name, column in self.columns.items()},
            {name: column[order] for name, column in self.numbers.items()},
            tuple(self.verdicts[i] for i in at) if self.verdicts else (),
            tuple(self.asked[i] for i in at) if self.asked else (),
            {name: column[order] for name, column in self.raters.items()},
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
            chained([part.details for part in parts]),
            chained([part.marks for part in parts]),
            {
                name: np.concatenate([part.columns[name] for part in parts])
                for name in first.columns
            },
            _stacked([part.numbers for part in parts], [len(part.status) for part in parts]),
            tuple(one for part in parts for one in part._verdicts()) if judged else (),
            tuple(one for part in parts for one in part._asked()) if asked else (),
            {name: np.concatenate([part.raters[name] for part in parts]) for name in first.raters},
            first.beside,
        )

    def packed(self) -> Outcomes:
        """The same in compact form, for data that does not fit in memory otherwise."""
        return replace(self, details=packed_details(self.details), marks=packed_marks(self.marks))

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute what rests on nothing but these outcomes, once for all resamples."""
        return self._memo.once(key, make)

    def _verdicts(self) -> tuple[tuple[Verdict, ...], ...]:
        return self.verdicts or ((),) * len(self.status)

    def _asked(self) -> tuple[JudgeCalls, ...]:
        return self.asked or (JudgeCalls(),) * len(self.status)


def at_positions(values: Sequence[T], at: Ints) -> Sequence[T]:
    """Those at some positions."""
    if isinstance(values, ValueColumn | TextColumn):
        found: Any = values.take(at)
        return cast(Sequence[T], found)
    return tuple(values[one] for one in at.tolist())


def chained(parts: Sequence[Sequence[T]]) -> Sequence[T]:
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
