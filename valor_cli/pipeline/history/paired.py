"""Paired tests between the runs of a history."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from valor_cli.pipeline.compare.evidence_resamples import with_resamples
from valor_cli.pipeline.compare.incompatible import run_differences
from valor_cli.pipeline.compare.pairing import against_baseline, paired_models
from valor_cli.pipeline.history.runs import Progress, Run
from valor_cli.pipeline.history.values import Chosen
from valor_cli.reports.run_files import read_run
from valor_cli.results import ComparisonResult, RunResult
from valor_cli.results.history import Bad, HistoryRow
from valor_cli.results.identity import ValueKey, value_key

_KEPT: Final = 3
"""Runs kept in memory with their samples: a run, the one before it, and the best so far."""

Place: TypeAlias = tuple[str | None, ValueKey]
"""The model, where there are several, and which value."""

_NOT_COMPARED: Final = "the run before has no such model"


class PairedTests:
    """Paired tests between runs; a run is read with its samples where a test needs it."""

    def __init__(self, runs: Sequence[Run], chosen: Chosen, progress: Progress) -> None:
        self._runs = runs
        self._progress = progress
        self._single = all(len(run.models) == 1 for run in runs)
        # Whatever is shown: a verdict does not depend on it, but for what is shown beside.
        self._primary = {tuple(one) for run in runs[-1:] for one in run.primary}
        self._chosen = chosen
        self._read: OrderedDict[int, RunResult] = OrderedDict()
        self._found: dict[tuple[int, int], Mapping[Place, ComparisonResult]] = {}
        self._warnings: list[str] = []

    def tested(self, rows: Sequence[HistoryRow]) -> list[HistoryRow]:
        """The rows with their verdicts."""
        order = sorted(range(len(rows)), key=lambda at: rows[at].run)
        found = list(rows)
        for at in order:
            found[at] = self._tested(rows[at])
        return found

    def warnings(self) -> list[str]:
        """What changed beside the models from each run to the next."""
        return list(dict.fromkeys(self._warnings))

    def _tested(self, row: HistoryRow) -> HistoryRow:
        if not row.trend or row.verdict is None or row.previous is None or row.reason:
            return row
        bad: list[Bad] = list(row.bad)
        one = self._between(row.run, row.previous).get(self._place(row))
        row = replace(
            row,
            verdict="not tested" if one is None else one.verdict,
            p=_deciding(one),
            reason=_NOT_COMPARED if one is None else one.reason,
        )
        if row.verdict == "worse":
            bad.append("previous")
        if row.best is not None:
            one = self._between(row.run, row.best).get(self._place(row))
            row = replace(
                row,
                best_verdict="not tested" if one is None else one.verdict,
                best_p=_deciding(one),
            )
            if row.best_verdict == "worse":
                bad.append("best")
        return replace(row, bad=tuple(bad))

    def _place(self, row: HistoryRow | ComparisonResult) -> Place:
        return None if self._single else row.model, value_key(row)

    def _between(self, later: int, earlier: int) -> Mapping[Place, ComparisonResult]:
        pair = later, earlier
        if pair not in self._found:
            self._progress("testing", later, len(self._runs))
            result, before = self._whole(later), self._whole(earlier)
            compared = against_baseline(result, before)
            self._found[pair] = {self._place(one): one for one in compared}
            if earlier == later - 1:
                self._warn(later, result, before)
        return self._found[pair]

    def _warn(self, later: int, result: RunResult, before: RunResult) -> None:
        which = f"{self._runs[later - 1].path} → {self._runs[later].path}"
        for message in run_differences(before, result, paired_models(result, before)):
            self._warnings.append(f"{which}: {message}")

    def _whole(self, number: int) -> RunResult:
        """A run with what its tests need."""
        if number not in self._read:
            result = self._lean(read_run(self._runs[number].path))
            # Resampled once here, and not again for every run that it is compared with. Where some
            # runs have intervals it depends on the pair how the others are drawn.
            alike = not any(run.has_intervals for run in self._runs)
            self._read[number] = _resampled(result) if alike else result
        self._read.move_to_end(number)
        while len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return self._read[number]

    def _lean(self, result: RunResult) -> RunResult:
        """A run without values that no history shows, and without what none shows of samples."""

        def is_needed(metric: str, output: str) -> bool:
            names = {metric, f"{metric}.{output}"}
            return (metric, output) in self._primary or bool(names & set(self._chosen.metrics))

        gated = {(gate.metric, gate.output) for gate in result.gates}
        metrics = [
            row
            for row in result.metrics
            if row.label is None
            and row.slice is None
            and (is_needed(row.metric, row.output) or (row.metric, row.output) in gated)
        ]
        used = {row.metric for row in metrics}
        evidence: list[Any] = [
            replace(one, calls=tuple(call for call in one.calls if call[0] in used))
            for one in result.evidence
        ]
        return replace(
            result,
            metrics=metrics,
            evidence=tuple(one for one in evidence if one.calls),
            curves=(),
            tables=(),
            examples=(),
            comparisons=(),
        )


def _resampled(result: RunResult) -> RunResult:
    """A run with the resamples of its evidence, of which nothing is left to compute."""
    joined, _ = with_resamples(result, result, [(model, model) for model in result.models])
    # What its units are is asked later.
    done = tuple(replace(one, calls=()) for one in joined.evidence)
    return replace(joined, evidence=done)


def _deciding(one: ComparisonResult | None) -> float | None:
    if one is None:
        return None
    return one.p if one.p_adjusted is None else one.p_adjusted
