"""Values of a run as flat rows for data frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from valor_cli.results import MetricResult, RunResult, Scalar
from valor_cli.results.document import dumps

BEFORE = ("metric", "output", "model", "label", "slice")
AFTER = ("value", "unit", "direction", "n")
LAST = ("method", "caution", "undefined")


def flat_rows(result: RunResult) -> list[dict[str, Scalar]]:
    """A row for each row of `metrics` in results.json, in their order, all with the same keys.

    A parameter is under `parameters.NAME`; lists and mappings are JSON text.
    """
    names = list(dict.fromkeys(name for row in result.metrics for name in row.parameters))
    return [_flat(row, names) for row in result.metrics]


def _flat(row: MetricResult, names: Iterable[str]) -> dict[str, Scalar]:
    low, high = row.interval or (None, None)
    return {
        **{name: getattr(row, name) for name in BEFORE},
        **{f"parameters.{name}": _scalar(row.parameters.get(name)) for name in names},
        **{name: getattr(row, name) for name in AFTER},
        "interval_low": low,
        "interval_high": high,
        **{name: getattr(row, name) for name in LAST},
    }


def _scalar(value: Any) -> Scalar:
    if value is None or isinstance(value, str | int | float):
        return value
    return dumps(value).decode()
