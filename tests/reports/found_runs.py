"""Parts of runs that comparisons and searches fill: made up, no two numbers alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from msgspec.structs import replace

from tests.reports.task_runs import filled
from valor_cli.results import (
    ComparisonResult,
    FoundSlice,
    IntervalsResult,
    RunResult,
    SliceSearchResult,
)


def compared(model: str, other: str, difference: float | None, **rest: Any) -> ComparisonResult:
    """A headline value of one model against another's: better from 0.1 on, worse likewise."""
    told: dict[str, Any] = {
        "metric": "coco",
        "output": "AP",
        "unit": "fraction",
        "direction": "higher",
        "level": 0.95,
        "unpaired": 0,
        "baseline": False,
        "verdict": "cannot tell",
        "reason": "no value",
    }
    if difference is not None:
        told |= {"value": 0.371, "other_value": 0.371 - difference, "reason": None}
        told |= {"interval": (difference - 0.02, difference + 0.03), "test": "paired_bootstrap"}
        told |= {"n": 100, "wins": 50, "losses": 30, "ties": 20, "p": 0.004, "p_adjusted": 0.012}
        if abs(difference) >= 0.1:
            told["verdict"] = "better" if difference > 0 else "worse"
    told |= {"model": model, "other": other, "difference": difference}
    return filled(ComparisonResult, **{**told, **rest})


def each_pair(models: Sequence[str], **rest: Any) -> tuple[ComparisonResult, ...]:
    """Every later model against every earlier one, by two headline values."""
    pairs = list(combinations(models, 2))
    return tuple(
        compared(later, earlier, 0.01 * at - 0.2, output=output, **rest)
        for output in ("AP", "AP50")
        for at, (earlier, later) in enumerate(pairs)
    )


def searched(model: str, *names: str) -> SliceSearchResult:
    """A search that found these slices."""
    found = [FoundSlice(name, 41 + at, 0.31, 0.52, 0.0001, 0.0014) for at, name in enumerate(names)]
    columns = ("metadata.camera",)
    return SliceSearchResult(model, "coco", "AP", {}, columns, 14, 30, 0.95, tuple(found))


def unsure(run: RunResult) -> RunResult:
    """The run with its intervals told, and its first value resting on few images."""
    few = replace(run.metrics[0], caution="small_n")
    rows = [few, *run.metrics[1:]]
    rows = [replace(row, method="bootstrap") if row.interval else row for row in rows]
    return replace(run, metrics=rows, intervals=IntervalsResult(0.95, 200, 3, None))
