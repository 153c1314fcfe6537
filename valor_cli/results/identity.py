"""What identifies a row of results, in its run and from run to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from valor_cli.results.findings import Parameters

if TYPE_CHECKING:
    from valor_cli.results.comparisons import ComparisonResult
    from valor_cli.results.history import HistoryRow
    from valor_cli.results.rows import GateResult, MetricResult, ResampledResult

    Row: TypeAlias = MetricResult | ResampledResult | GateResult | ComparisonResult | HistoryRow

Kind: TypeAlias = tuple[tuple[str, object], ...]
"""Parameters as a key."""

ValueKey: TypeAlias = tuple[str, str, Kind]
"""Metric, output and parameters."""

RowKey: TypeAlias = tuple[str, str | None, str | None, ValueKey]
"""Model, label, slice, and which value."""

_SCALARS = frozenset({str, int, float, bool, type(None)})


def row_key(row: Row) -> RowKey:
    """What no two rows of a run share."""
    return row.model, row.label, row.slice, value_key(row)


def value_key(row: Row) -> ValueKey:
    """What rows of a value share, of whichever model, label and slice."""
    return row.metric, row.output, frozen(row.parameters)


def frozen(parameters: Parameters) -> Kind:
    """Parameters as an order-independent key."""
    return tuple(
        [
            (name, value if type(value) in _SCALARS else _hashable(value))
            for name, value in sorted(parameters.items())
        ]
    )


def _hashable(value: object) -> object:
    if isinstance(value, Mapping):
        return frozenset((name, _hashable(item)) for name, item in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
