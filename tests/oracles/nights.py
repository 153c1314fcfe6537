"""Nightly runs made by hand: how many of twelve samples are right in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.oracles.paired_runs import INFO, row, run, values
from valor_cli.reports.writer import write_reports
from valor_cli.results import GateResult, RunResult

SAMPLES = 12
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def night(
    day: int, right: int, *, model: str = "m", gate: float | None = None, **rest: Any
) -> RunResult:
    """A run of March 2026 in which the first so many samples are right.

    Args:
        day: Of the month.
        right: Number of samples that are right.
        model: Its one model.
        gate: The least share of right samples that passes.
        rest: Whatever else a run holds.
    """
    column = [float(at < right) for at in range(SAMPLES)]
    share = right / SAMPLES
    held = {"label": None, "slice": None, "parameters": {}, "rule": "min", "reason": None}
    gates = [] if gate is None else [
        GateResult(metric="exact_match", output="value", model=model, limit=gate, value=share,
                   status="passed" if share >= gate else "failed", **held)
    ]  # fmt: skip
    made = run(
        [values("exact_match", model, column)],
        primary=["exact_match"],
        gates=tuple(gates),
        **{"run": replace(INFO, started_at=f"2026-03-{day:02}T02:30:00+00:00"), **rest},
    )
    labels = [
        row("f1", model, value, label=label, n=6)
        for label, value in (("cat", share), ("dog", 1 - share))
    ]
    return replace(made, metrics=(*made.metrics, *labels))


def written(folder: Path, *nights: RunResult) -> list[str]:
    """The folders of the runs, night-0 and so on."""
    for number, one in enumerate(nights):
        write_reports(one, folder / f"night-{number}", ["json"])
    return [str(folder / f"night-{number}") for number in range(len(nights))]
