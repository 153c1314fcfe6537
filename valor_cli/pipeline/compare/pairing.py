"""Compare models within a run or with a baseline, by paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from msgspec.structs import replace

from valor_cli.pipeline.compare.evidence_resamples import with_resamples
from valor_cli.pipeline.compare.paired_rows import (
    PairedRow,
    Sides,
    paired_labels,
    paired_rows,
)
from valor_cli.pipeline.compare.paired_samples import Aligned
from valor_cli.pipeline.compare.paired_tests import Tested, tested
from valor_cli.results import ComparedVerdict, ComparisonResult, RunResult
from valor_cli.results.identity import row_key
from valor_cli.statistics.corrections import holm


def comparisons_of(result: RunResult) -> list[ComparisonResult]:
    """Compare each model of a run with those before it."""
    # What no pair is tested on is put aside once, and not for every pair.
    labelled = {row_key(one) for one in result.resamples}
    result = replace(
        result,
        metrics=[
            row
            for row in result.metrics
            if row.slice is None and (row.label is None or row_key(row) in labelled)
        ],
    )
    return [
        row
        for other, model in combinations(result.models, 2)
        for row in _compared(Sides(result, model, result, other))
    ]


def against_baseline(result: RunResult, baseline: RunResult) -> list[ComparisonResult]:
    """Compare the models of a run with those of a baseline, as `paired_models` has them.

    With a run of another task there is nothing to compare.
    """
    if result.task != baseline.task:
        return []
    pairs = paired_models(result, baseline)
    baseline, result = with_resamples(baseline, result, pairs)
    return [
        row for model, other in pairs for row in _compared(Sides(result, model, baseline, other))
    ]


def paired_models(result: RunResult, baseline: RunResult) -> list[tuple[str, str]]:
    """Models of a run with those of a baseline: the one of each, else those of one name."""
    if len(result.models) == len(baseline.models) == 1:
        return [(result.models[0], baseline.models[0])]
    return [(model, model) for model in result.models if model in baseline.models]


def _compared(sides: Sides) -> list[ComparisonResult]:
    return [*compared(sides, *paired_rows(sides)), *compared_labels(sides)]


def compared_labels(sides: Sides) -> list[ComparisonResult]:
    """One measure of both models, label by label, by paired resamples.

    The p-values are adjusted by Holm's method over the labels.
    """
    rows = tested(sides, paired_labels(sides), None)
    adjusted = holm([one.p for one in rows])
    tests = sum(p is not None for p in adjusted)
    return [_judged(sides, one, p, tests) for one, p in zip(rows, adjusted, strict=True)]


def compared(sides: Sides, pairs: Sequence[PairedRow], aligned: Aligned) -> list[ComparisonResult]:
    """All values of both models, headline values first.

    The p-values of the headline values are adjusted by Holm's method; if none of them could be
    tested, the p-values of all values are.

    Args:
        sides: The two models.
        pairs, aligned: Their values, from `paired_rows`.
    """
    rows = tested(sides, pairs, aligned.clusters)
    places = {name: at for at, name in enumerate(sides.result.primary)}
    rows.sort(key=lambda one: places.get(_name(one), len(places)))
    headline = [one for one in rows if _name(one) in places and one.p is not None]
    family = {id(one) for one in headline or rows}
    adjusted = holm([one.p if id(one) in family else None for one in rows])
    tests = sum(p is not None for p in adjusted)
    return [_judged(sides, one, p, tests) for one, p in zip(rows, adjusted, strict=True)]


def _name(one: Tested) -> tuple[str, str]:
    return one.pair.row.metric, one.pair.row.output


def _judged(sides: Sides, one: Tested, adjusted: float | None, tests: int) -> ComparisonResult:
    """A row of the result; `tests` is the number of values its p was adjusted for, if any."""
    row = one.pair.row
    verdict = _verdict(one, one.p if adjusted is None else adjusted, sides.chance)
    reasons = [one.reason]
    if verdict == "cannot tell":
        reasons.append(one.why_not(1 if adjusted is None else tests, sides.chance))
    return ComparisonResult(
        metric=row.metric,
        output=row.output,
        model=sides.model,
        other=sides.other,
        baseline=sides.earlier,
        label=row.label,
        slice=None,
        parameters=row.parameters,
        unit=row.unit,
        direction=row.direction,
        value=one.value,
        other_value=one.other_value,
        difference=one.difference,
        interval=one.interval,
        level=sides.level,
        n=one.n,
        wins=one.wins,
        losses=one.losses,
        ties=one.ties,
        unpaired=one.unpaired,
        test=one.test,
        p=one.p,
        p_adjusted=adjusted,
        effect=one.effect,
        effect_kind=one.effect_kind,
        verdict=verdict,
        reason="; ".join(filter(None, reasons)) or None,
    )


def _verdict(one: Tested, p: float | None, chance: float) -> ComparedVerdict:
    if p is None:
        return "not tested"
    if p >= chance or not one.difference:
        return "cannot tell"
    higher = one.pair.row.direction == "higher"
    return "better" if (one.difference > 0) == higher else "worse"
