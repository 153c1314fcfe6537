"""Runs made by hand for comparisons: values of samples, their means, resamples, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from valor_cli.results import (
    CoverageResult,
    Direction,
    InputFile,
    IntervalsResult,
    MetricResult,
    Parameters,
    RunInfo,
    RunResult,
    SamplesResult,
    Scalar,
    TextsResult,
)

Column = Sequence[float | None]

INFO = RunInfo(
    valor_version="0.1.0",
    started_at="2026-03-01T09:30:00+00:00",
    duration_s=1.0,
    command="valor evaluate a.yaml",
    config="a.yaml",
    config_sha256="c0" * 32,
    inputs=(InputFile("answers.jsonl", "ab" * 32, 12),),
    packages={"python": "3"},
)


def row(metric: str, model: str, value: float | None, **rest: Any) -> MetricResult:
    """A value of the whole data."""
    fields: dict[str, Any] = {
        "output": "value",
        "label": None,
        "slice": None,
        "parameters": {},
        "unit": "fraction",
        "direction": "higher",
        "n": None,
        "interval": None,
        "undefined": None if value is not None else "no samples",
    }
    return MetricResult(metric=metric, model=model, value=value, **{**fields, **rest})


def values(
    metric: str,
    model: str,
    column: Column,
    ids: Sequence[Scalar] | None = None,
    *,
    parameters: Parameters | None = None,
    direction: Direction = "higher",
    groups: Sequence[Scalar] | None = None,
) -> tuple[MetricResult, SamplesResult, CoverageResult]:
    """The mean of a column, the column itself, and how many samples have a value."""
    names = tuple(f"s{at:02}" for at in range(len(column))) if ids is None else tuple(ids)
    ok = [one for one in column if one is not None]
    mean = fsum(ok) / len(ok) if ok else None
    with_value = ["ok" if one is not None else "missing_input" for one in column]
    counted = {name: with_value.count(name) for name in dict.fromkeys(with_value)}
    at: Parameters = parameters or {}
    why = tuple(None if one is not None else "no reference" for one in column)
    return (
        row(metric, model, mean, parameters=at, direction=direction, n=len(ok)),
        SamplesResult(metric, model, at, names, {"value": list(column)}, why,
                      with_value, groups=groups),  # type: ignore[arg-type]
        CoverageResult(metric, model, None, at, len(column), counted, 1.0),
    )  # fmt: skip


def run(
    found: Sequence[tuple[MetricResult, SamplesResult, CoverageResult]],
    *,
    primary: Sequence[str] = (),
    intervals: IntervalsResult | None = None,
    texts: Mapping[str, Mapping[str, Sequence[str | None]]] | None = None,
    **rest: Any,
) -> RunResult:
    """A run of texts with those values; models in the order that they are first named.

    Args:
        found: From `values`.
        primary: The metrics whose values are headlines.
        intervals: How the run found its own.
        texts: By model and field, what its samples say.
        rest: Whatever else `RunResult` holds.
    """
    models = tuple(dict.fromkeys(one.model for one, _, _ in found))
    ids = {samples.model: samples.sample_ids for _, samples, _ in found}
    fields: dict[str, Any] = {
        "task": "text_generation",
        "models": models,
        "primary": tuple((name, "value") for name in primary),
        "data": {"samples": 12},
        "settings": {},
        "run": INFO,
        "metrics": tuple(one for one, _, _ in found),
        "samples": tuple(one for _, one, _ in found),
        "coverage": tuple(one for _, _, one in found),
        "texts": tuple(
            TextsResult(model, ids[model], columns) for model, columns in (texts or {}).items()
        ),
        "intervals": intervals,
    }
    empty: dict[str, Any] = dict.fromkeys(
        ("curves", "tables", "examples", "gates", "warnings"), ()
    ) | {"missing_prediction_labels": {}, "ignored_prediction_labels": {}}
    return RunResult(**{**empty, **fields, **rest})
