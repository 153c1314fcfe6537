"""Convert records of samples.jsonl to columns by metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from valor_cli.errors import DataError, Problem
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.reports.files.samples_jsonl import named
from valor_cli.results import (
    STATUSES,
    CoverageResult,
    JudgeCalls,
    MetricResult,
    Parameters,
    RunResult,
    Status,
)

NEXT = "evaluate again, or compare with the files that valor wrote"

MISSHAPEN = (LookupError, TypeError, AttributeError, ValueError)
"""What a record of another form raises."""

T = TypeVar("T")

_NUMBERS: Set[type] = {float, int, type(None)}
_TEXTS: Set[type] = {str, type(None)}
_STATUS = {name: name for name in STATUSES}


class Measure(Struct, frozen=True):
    """A metric with its parameters, whole-data values and number of samples.

    Attributes:
        outputs: Names of its values, in the order of the metric's.
        n: How many samples have a primary value, where there is no coverage.
    """

    metric: str
    parameters: Parameters
    outputs: Sequence[str]
    coverage: CoverageResult | None
    n: int | None


class Columns(NamedTuple):
    """The per-sample columns of a measure, as in `SamplesResult`."""

    columns: dict[str, list[float | None]]
    undefined: list[str | None]
    statuses: list[Status] | None
    details: list[dict[str, Any] | None] | None
    asked: list[JudgeCalls] | None

    @property
    def form(self) -> tuple[object, ...]:
        """The properties that all lines must share."""
        return tuple(self.columns), self.details is None, self.asked is None

    def extend(self, more: Columns) -> None:
        """Append the columns of further samples."""
        for name, column in self.columns.items():
            column += more.columns[name]
        self.undefined.extend(more.undefined)
        self._extend(self.statuses, more.statuses)
        self._extend(self.details, more.details)
        self._extend(self.asked, more.asked)

    @staticmethod
    def _extend(own: list[T] | None, more: list[T] | None) -> None:
        if own is not None and more is not None:
            own.extend(more)


def measures_of(result: RunResult, model: str) -> dict[str, Measure]:
    """Measures of a model that may have per-sample values, by name in the file.

    Coverage has the parameters of the call, which those of values may say more than.
    """
    covered = [row for row in result.coverage if row.slice is None]
    judged = {row.metric for row in covered}
    whole = [row for row in result.metrics if row.slice is None and row.label is None]
    rows: list[MetricResult | CoverageResult] = [
        *covered,
        *(row for row in whole if row.metric not in judged),
    ]
    names = Names((row.metric, row.parameters) for row in rows)
    outputs: dict[str, dict[str, None]] = {}
    for row in whole:
        outputs.setdefault(row.metric, {})[row.output] = None
    own: dict[tuple[object, ...], Measure] = {}
    for one in rows:
        key = one.metric, frozen(one.parameters)
        if one.model == model and key not in own:
            coverage, n = (one, None) if isinstance(one, CoverageResult) else (None, one.n)
            values = tuple(outputs.get(one.metric, ()))
            own[key] = Measure(one.metric, one.parameters, values, coverage, n)
    called = named(names, ((measure.metric, measure.parameters) for measure in own.values()))
    return dict(zip(called, own.values(), strict=True))


def columns_of(
    measure: Measure, records: Sequence[Mapping[str, Any]], like: Columns | None
) -> Columns:
    """Columns of records with equal keys.

    Args:
        measure: Whose they are.
        records: Of each sample.
        like: Those of records before; None: there are none.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: A record has another form.
    """
    first = records[0]
    outputs = [record["outputs"] for record in records]
    others = tuple(outputs[0])
    primary = next((name for name in measure.outputs if name not in others), "value")
    columns = {primary: [record["value"] for record in records]}
    columns |= {name: [output[name] for output in outputs] for name in others}
    reasons = [record["reason"] for record in records]
    statuses = [_STATUS[record["status"]] for record in records]
    details = [record["details"] for record in records] if "details" in first else None
    numbers = all(_are(column, _NUMBERS) for column in columns.values())
    alike = numbers and set(map(len, outputs)) == {len(others)}
    if not alike or not _are(reasons, _TEXTS) or not _are([*outputs, *(details or ())], {dict}):
        raise ValueError
    asked = [_asked(record) for record in records] if "calls" in first else None
    told = statuses if measure.coverage is not None else None
    if details is not None:
        details = [one or None for one in details]
    found = Columns(columns, reasons, told, details, asked)
    if like is not None and found.form != like.form:
        raise ValueError
    return found


def _are(values: Iterable[object], kinds: Set[type]) -> bool:
    return set(map(type, values)) <= kinds


def _asked(record: Mapping[str, Any]) -> JudgeCalls:
    """Judge calls for one sample.

    Raises:
        ValueError, KeyError: The record has another form.
    """
    counts, said = (
        (record["calls"], record["cached"]),
        (record["replies"], record.get("prompts", [])),
    )
    if not _are(counts, {int}) or not _are(said, {list}) or not _are(chain(*said), {str}):
        raise ValueError
    return JudgeCalls(*counts, *map(tuple, said))


def check_count(path: str, name: str, measure: Measure, found: Columns) -> None:
    """Check the number of samples against results.json.

    Raises:
        DataError: It says another number.
    """
    column = next(iter(found.columns.values()))
    if measure.coverage is not None:
        count, expected, what = len(column), measure.coverage.samples, "samples"
    else:
        count = len(column) - column.count(None)
        expected, what = count if measure.n is None else measure.n, "samples with a value"
    if count != expected:
        message = (
            f"{count:,} {what} of {name}; results.json says {expected:,}; is it from another run?"
        )
        raise DataError(Problem(path, message), hint=NEXT)
