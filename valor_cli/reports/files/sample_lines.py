"""Read samples.jsonl: its lines, and the columns by metric that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import orjson
from msgspec import Struct

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.files.samples_jsonl import named
from valor_cli.results import (
    STATUSES,
    CoverageResult,
    JudgeCalls,
    MetricResult,
    Parameters,
    RunResult,
    SamplesResult,
    Scalar,
    Status,
    TextsResult,
)
from valor_cli.results.identity import frozen

NEXT = "evaluate again, or compare with the files that valor wrote"

_MISSHAPEN = (LookupError, TypeError, AttributeError, ValueError)
"""What a record of another form raises."""

T = TypeVar("T")

_NUMBERS: Set[type] = {float, int, type(None)}
_TEXTS: Set[type] = {str, type(None)}
_STATUS = {name: name for name in STATUSES}


class _Measure(Struct, frozen=True):
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


class _Columns(NamedTuple):
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

    def extend(self, more: _Columns) -> None:
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


def _measures_of(result: RunResult, model: str) -> dict[str, _Measure]:
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
    own: dict[tuple[object, ...], _Measure] = {}
    for one in rows:
        key = one.metric, frozen(one.parameters)
        if one.model == model and key not in own:
            coverage, n = (one, None) if isinstance(one, CoverageResult) else (None, one.n)
            values = tuple(outputs.get(one.metric, ()))
            own[key] = _Measure(one.metric, one.parameters, values, coverage, n)
    called = named(names, ((measure.metric, measure.parameters) for measure in own.values()))
    return dict(zip(called, own.values(), strict=True))


def _columns_of(
    measure: _Measure, records: Sequence[Mapping[str, Any]], like: _Columns | None
) -> _Columns:
    """_Columns of records with equal keys.

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
    found = _Columns(columns, reasons, told, details, asked)
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


def _check_count(path: str, name: str, measure: _Measure, found: _Columns) -> None:
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


_Lines = Sequence[tuple[int, dict[str, Any]]]
"""(number, record) of each line, numbers from 1."""

_AT_ONCE = 500

_FORM = 'expected {"sample_id", "model", "metrics": {name: {status, value, outputs, reason}}}'
_SCALARS = {str, int, float, bool, type(None)}
_NO_TEXTS: dict[str, str | None] = {}


def from_jsonl(
    content: bytes, path: str, result: RunResult
) -> tuple[tuple[SamplesResult, ...], tuple[TextsResult, ...]]:
    """What `samples_jsonl.jsonl_blocks` wrote of a run.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.
        result: The run, as results.json has it.

    Raises:
        DataError: Not such lines, or those of another run.
    """
    measures = {model: _measures_of(result, model) for model in result.models}
    gathered = {model: _Gathered() for model in result.models}
    for lines in _chunks(content, path):
        by_model: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for number, record in lines:
            by_model.setdefault(_model(path, number, record, result.models), []).append(
                (number, record)
            )
        for model, own in by_model.items():
            gathered[model].add(path, own, measures[model])
    if result.metrics and not any(one.ids for one in gathered.values()):
        raise DataError(Problem(path, "the file is empty; was it truncated?"), hint=NEXT)
    found: list[SamplesResult] = []
    told: list[TextsResult] = []
    for model, one in gathered.items():
        ids = one.checked_ids(path)
        found += one.samples(path, model, ids, measures[model])
        if one.texts:
            columns = {name: tuple(column) for name, column in one.texts.items()}
            told.append(TextsResult(model, ids, columns))
    return _ordered(found, result), tuple(told)


def _chunks(content: bytes, path: str) -> Iterator[_Lines]:
    """The lines, some at a time: all records at once would be ten times what is kept of them."""
    lines = read_lines(content, path)
    while chunk := list(islice(lines, _AT_ONCE)):
        yield chunk


def _model(path: str, number: int, record: Mapping[str, Any], models: Sequence[str]) -> str:
    model = record.get("model")
    if type(model) is not str or model not in models:
        there = ", ".join(f"{name!r:.60}" for name in models[:LISTED])
        raise _error(path, number, f"no model {model!r:.60} in results.json; it has {there}")
    if "sample_id" not in record or type(record.get("metrics")) is not dict:
        raise _error(path, number, _FORM)
    if type(record["sample_id"]) not in _SCALARS or type(record.get("group")) not in _SCALARS:
        raise _error(path, number, "sample_id, group: expected a text or a number")
    return model


class _Gathered:
    """What was read of one model so far."""

    __slots__ = ("columns", "groups", "ids", "numbers", "places", "texts")

    def __init__(self) -> None:
        self.ids: list[Scalar] = []
        self.numbers: list[int] = []
        self.groups: list[Scalar] = []
        self.texts: dict[str, list[str | None]] = {}
        self.columns: dict[str, _Columns] = {}
        self.places: dict[str, list[int]] = {}

    def add(self, path: str, lines: _Lines, measures: Mapping[str, _Measure]) -> None:
        """Take up further lines.

        Raises:
            DataError: They have another form, or a metric that results.json does not have.
        """
        before = len(self.ids)
        self.ids += [record["sample_id"] for _, record in lines]
        self.numbers += [number for number, _ in lines]
        self.groups += [record.get("group") for _, record in lines]
        self._add_texts(path, lines, before)
        names: dict[str, None] = {}
        for number, record in lines:
            metrics = record["metrics"]
            if metrics.keys() != names.keys():
                names |= dict.fromkeys(metrics)
                unknown = next((name for name in metrics if name not in measures), None)
                if unknown is not None:
                    message = f"a metric that is not in results.json: {unknown!r:.80}"
                    raise _error(path, number, f"{message}; is it from another run?")
        for name in names:
            at = [place for place, (_, record) in enumerate(lines) if name in record["metrics"]]
            own = lines if len(at) == len(lines) else [lines[place] for place in at]
            found = self._read(path, own, name, measures[name])
            self.places.setdefault(name, []).extend(before + place for place in at)
            if name not in self.columns:
                self.columns[name] = found
            else:
                self.columns[name].extend(found)

    def _add_texts(self, path: str, lines: _Lines, before: int) -> None:
        said = [record.get("texts", _NO_TEXTS) for _, record in lines]
        for (number, _), texts in zip(lines, said, strict=True):
            if type(texts) is not dict or not all(type(text) in _TEXTS for text in texts.values()):
                raise _error(path, number, "texts: expected {field: text}")
        most: dict[str, str | None] = max(said, key=len)
        fields = dict.fromkeys(most)
        for field in fields | dict.fromkeys(name for texts in said for name in texts):
            self.texts.setdefault(field, [None] * before)
        for field, column in self.texts.items():
            column += [texts.get(field) for texts in said]

    def _read(self, path: str, lines: _Lines, name: str, measure: _Measure) -> _Columns:
        """The columns of some lines.

        Raises:
            DataError: One has another form, or another than those before.
        """
        like = self.columns.get(name)
        try:
            return _columns_of(measure, [record["metrics"][name] for _, record in lines], like)
        except _MISSHAPEN:
            pass
        for number, record in lines:
            try:
                one = _columns_of(measure, [record["metrics"][name]], like)
            except _MISSHAPEN:
                raise _error(path, number, f"metrics.{name}: {_FORM}") from None
            like = like or one
        raise _error(path, lines[0][0], f"metrics.{name}: {_FORM}")

    def checked_ids(self, path: str) -> tuple[Scalar, ...]:
        """The samples, in the order of their lines.

        Raises:
            DataError: A sample is a duplicate.
        """
        keys = list(zip(map(type, self.ids), self.ids, strict=True))
        if len(set(keys)) < len(keys):
            seen: set[tuple[type, Scalar]] = set()
            for number, key in zip(self.numbers, keys, strict=True):
                if key in seen:
                    raise _error(path, number, f"sample {key[1]!r:.60} is a duplicate")
                seen.add(key)
        return tuple(self.ids)

    def samples(
        self, path: str, model: str, ids: tuple[Scalar, ...], measures: Mapping[str, _Measure]
    ) -> Iterator[SamplesResult]:
        """The values of the model, in the order that results.json has its metrics.

        Raises:
            DataError: There are more or fewer than results.json says.
        """
        grouped = any(group is not None for group in self.groups)
        groups = tuple(self.groups) if grouped else None
        for name, measure in measures.items():
            if name not in self.columns:
                continue
            found, places = self.columns[name], self.places[name]
            _check_count(path, name, measure, found)
            whole = len(places) == len(ids)
            yield SamplesResult(
                metric=measure.metric,
                model=model,
                parameters=measure.parameters,
                sample_ids=ids if whole else tuple(ids[at] for at in places),
                groups=groups if whole or groups is None else tuple(groups[at] for at in places),
                **found._asdict(),
            )


def read_lines(content: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records of a JSON Lines file with their line numbers; empty lines are skipped.

    Raises:
        DataError: A line is no JSON object.
    """
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise _error(path, number, f"not JSON: {error.msg}") from None
        if type(record) is not dict:
            raise _error(path, number, "not a JSON object")
        yield number, record


def _error(path: str, number: int, message: str) -> DataError:
    return DataError(Problem(f"{path}:{number}", message), hint=NEXT)


def _ordered(found: list[SamplesResult], result: RunResult) -> tuple[SamplesResult, ...]:
    """As a run has them: by metric, then by model."""
    names = [row.metric for row in result.metrics] + [row.metric for row in result.coverage]
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return tuple(sorted(found, key=lambda one: order[one.metric]))
