"""A run in; the bytes of samples.jsonl out: a line per model and sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from valor_cli.reports.finite import finite
from valor_cli.reports.naming import Names
from valor_cli.reports.results_json import dumps
from valor_cli.results import RunResult, SamplesResult, Scalar, Status


def to_jsonl(result: RunResult) -> bytes:
    """The file, models in the order of the run, samples in the order of their first metric.

    A metric asked twice stands under two names, with the parameters in which they differ.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have.
    """
    names = Names((one.metric, one.parameters) for one in result.samples)
    lines: dict[str, dict[tuple[type, Scalar], dict[str, Any]]] = {
        model: {} for model in result.models
    }
    taken: dict[str, set[str]] = {model: set() for model in result.models}
    for one in result.samples:
        _refuse_nan(one)
        detail = names.detail(one.metric, one.parameters)
        name = _unlike(f"{one.metric} ({detail})" if detail else one.metric, taken[one.model])
        of_model = lines[one.model]
        for sample_id, record in zip(one.sample_ids, _records(one), strict=True):
            # Python takes 1 and true for one key.
            key = (type(sample_id), sample_id)
            if key in of_model:
                of_model[key][name] = record
            else:
                of_model[key] = {name: record}
    rows = [
        dumps({"sample_id": key[1], "model": model, "metrics": metrics})
        for model, samples in lines.items()
        for key, metrics in samples.items()
    ]
    return b"".join([row + b"\n" for row in rows])


def _records(one: SamplesResult) -> Iterator[dict[str, Any]]:
    primary, *others = one.columns
    rest: Any = zip(*(one.columns[name] for name in others), strict=True)
    if not others:
        rest = [()] * len(one.sample_ids)
    columns = zip(_statuses(one), one.columns[primary], rest, one.undefined, strict=True)
    details = one.details
    for index, (status, value, outputs, undefined) in enumerate(columns):
        record = {
            "status": status,
            "value": value,
            "outputs": dict(zip(others, outputs, strict=True)),
            "reason": undefined,
        }
        # Every record of a metric that tells details has the key, so that tables have the column.
        yield record if details is None else {**record, "details": details[index] or {}}


def _statuses(one: SamplesResult) -> Sequence[Status]:
    """What became of each sample, as the metric says or its primary values do."""
    if one.statuses is not None:
        return one.statuses
    primary = next(iter(one.columns.values()))
    return ["not_applicable" if value is None else "ok" for value in primary]


def _unlike(name: str, taken: set[str]) -> str:
    """The name, numbered if long parameters were cut to the same words."""
    count = 2
    found = name
    while found in taken:
        found = f"{name} {count}"
        count += 1
    taken.add(found)
    return found


def _refuse_nan(one: SamplesResult) -> None:
    for name, column in one.columns.items():
        if not all(map(isfinite, filter(None, column))):
            raise ValueError(f"samples of {one.model}, {one.metric} {name}: NaN or infinity")
    for sample_id, details in zip(one.sample_ids, one.details or (), strict=False):
        if details and not finite(details.values()):
            place = f"samples of {one.model}, {one.metric} details of {sample_id!r:.60}"
            raise ValueError(f"{place}: NaN or infinity")
