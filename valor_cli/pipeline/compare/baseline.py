"""Read the baseline of a run and match its rows to those of the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from valor_cli.config import RunConfig
from valor_cli.errors import DataError
from valor_cli.results import MetricResult, RunResult
from valor_cli.results.identity import row_key


def has_baseline_gates(config: RunConfig) -> bool:
    """Whether gates compare values with a baseline's."""
    limits = (limit for gate in config.gates for limit in (gate.max_drop, gate.not_worse))
    return any(limit is not None for limit in limits)


def read_baseline(config: RunConfig, path: str) -> tuple[RunResult | None, str | None]:
    """Read the baseline at a path, or say why it cannot be read if gates report that.

    Raises:
        DataError: It cannot be read, and no gate needs it: nothing of the run would say so.
    """
    from valor_cli.reports.run_files import read_run

    try:
        return read_run(path), None
    except DataError as error:
        if not has_baseline_gates(config):
            raise
        return None, "; ".join(map(str, error.problems))


class BaselineRows:
    """The rows of the baseline, looked up by what identifies a row."""

    def __init__(
        self, baseline: Sequence[MetricResult] | None, models: set[str], lost: str | None = None
    ) -> None:
        found = baseline or ()
        self.lost = lost
        before = {row.model for row in found}
        self.any_model = len(before) == len(models) == 1
        self.given = baseline is not None
        self.models = ", ".join(sorted(before)) or "none"
        self.rows = {self._identity(row): row for row in found}

    def row(self, row: MetricResult) -> MetricResult | None:
        """The row of the baseline that corresponds to a row."""
        return self.rows.get(self._identity(row))

    def why_none(self) -> str:
        """Why a row has no counterpart in the baseline."""
        if self.given:
            return "not in the baseline"
        return self.lost or "no --baseline was given"

    def why_other(self, row: MetricResult) -> str:
        """Why no row of the baseline corresponds to a row of this run."""
        alike = (one for one in self.rows.values() if self._place(one) == self._place(row))
        if (other := next(alike, None)) is None:
            return f"the baseline has no such value; its models are {self.models}"
        names = dict.fromkeys((*row.parameters, *other.parameters))
        told = [
            f"{name} {_told(other.parameters.get(name))}, here {_told(row.parameters.get(name))}"
            for name in names
            if _told(other.parameters.get(name)) != _told(row.parameters.get(name))
        ]
        return f"the baseline has it computed in another way: {'; '.join(told)}"

    def _identity(self, row: MetricResult) -> tuple[object, ...]:
        model, *rest = row_key(row)
        return None if self.any_model else model, *rest

    def _place(self, row: MetricResult) -> tuple[object, ...]:
        return self._identity(replace(row, parameters={}))


def _told(value: object) -> str:
    # Parameters may be any JSON; a list of the config comes back from a file as another.
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value)  # type: ignore[call-overload]
