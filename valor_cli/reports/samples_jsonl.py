"""A run in; the bytes of samples.jsonl out: a line per model and sample."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from valor_cli.reports.naming import Names
from valor_cli.reports.results_json import dumps
from valor_cli.results import RunResult, SamplesResult, Scalar


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
    columns = zip(one.columns[primary], rest, one.undefined, strict=True)
    for value, outputs, undefined in columns:
        yield {
            "status": "not_applicable" if value is None else "ok",
            "value": value,
            "outputs": dict(zip(others, outputs, strict=True)),
            "reason": undefined,
        }


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
