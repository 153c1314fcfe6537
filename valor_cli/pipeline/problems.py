"""List the problems of each model, most severe first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from valor_cli.metric import Call, Loaded, Output
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.rows import Computation
from valor_cli.results import (
    CoverageResult,
    MetricResult,
    ProblemResult,
    SamplesResult,
    Scalar,
    Severity,
)

LOW_COVERAGE = 0.95
"""Coverage below this is a problem."""

LONGEST = 100
"""Maximum number of characters of a reason in a message."""

NAMED = 3
"""Maximum number of metrics named that miss the same samples."""

MOST_FLIPS = 50
"""Maximum number of flips of a metric and model listed one by one, largest first."""

_SEVERITIES: tuple[Severity | None, ...] = ("high", "medium", "low", None)
_THIRDS: tuple[tuple[float, Severity], ...] = ((2 / 3, "high"), (1 / 3, "medium"), (0.0, "low"))


def problems_of(plan: Plan, loaded: Loaded[Any], found: Computation) -> list[ProblemResult]:
    """Values past their thresholds, low coverage, and perturbed samples that flipped."""
    problems: list[ProblemResult] = []
    calls = [call for part in plan.wings for call in part.calls if call.metric.outputs]
    for call in calls:
        if call.threshold is not None:
            # What is usual of a metric, and nobody asked for, is no problem: insights tell it.
            if call.threshold_given:
                problems += _past_threshold(call, call.threshold, found.rows_of(call))
            problems += _flips(call, call.threshold, found.samples, loaded.perturbed)
    problems += _uncovered(found.coverage, found.samples)
    # Sorting keeps the order of the catalogue within a severity.
    return sorted(problems, key=lambda one: _SEVERITIES.index(one.severity))


def exceeds(value: float, threshold: float, output: Output) -> bool:
    """Whether a value is strictly on the wrong side of a threshold."""
    return value > threshold if output.better == "lower" else value < threshold


def is_exceeded(
    row: MetricResult, threshold: float, output: Output
) -> Literal["past", "unsure"] | None:
    """Whether a row of all data is past a threshold; "unsure" if its interval includes it."""
    whole = row.output == output.name and row.label is None and row.slice is None
    if not whole or row.value is None or not exceeds(row.value, threshold, output):
        return None
    held = row.interval is not None and row.interval[0] <= threshold <= row.interval[1]
    return "unsure" if held else "past"


def severity_of(value: float, threshold: float, output: Output) -> Severity:
    """How far a value is past a threshold, in thirds of the distance to the worst value."""
    low, high = output.bounds
    worst = high if output.better == "lower" else low
    way = abs(threshold - (2 * threshold if worst is None else worst))
    share = abs(value - threshold) / way if way else 1.0
    return _severity(share)


def _severity(share: float) -> Severity:
    return next(name for least, name in _THIRDS if share >= least)


def _past_threshold(
    call: Call, threshold: float, rows: Sequence[MetricResult]
) -> Iterator[ProblemResult]:
    output = call.metric.outputs[0]
    if output.better is None:
        return
    for row in rows:
        found = is_exceeded(row, threshold, output)
        if found is None or row.value is None:
            continue
        unsure = found == "unsure"
        side = "above" if output.better == "lower" else "below"
        message = f"{_name(row)} is {row.value:.3f}, {side} its threshold of {threshold:g}"
        if unsure:
            message += ", yet its interval holds the threshold: cannot tell"
        yield ProblemResult(
            "threshold",
            row.metric,
            row.output,
            row.model,
            row.value,
            threshold,
            None if unsure else severity_of(row.value, threshold, output),
            (),
            message,
            row.parameters,
        )


class _Flip(NamedTuple):
    original: Scalar
    copy: Scalar
    before: float
    after: float


def _flips(
    call: Call,
    threshold: float,
    samples: Sequence[SamplesResult],
    perturbed: Mapping[str, Mapping[Scalar, Scalar]],
) -> Iterator[ProblemResult]:
    output = call.metric.outputs[0]
    for one in samples:
        links = perturbed.get(one.model, {})
        if one.metric != call.metric.name or one.parameters != call.parameters or not links:
            continue
        values = dict(zip(one.sample_ids, one.columns[output.name], strict=True))
        pairs = [
            _Flip(original, copy, before, after)
            for copy, original in links.items()
            if (before := values.get(original)) is not None
            and (after := values.get(copy)) is not None
        ]
        flipped = [
            flip
            for flip in pairs
            if exceeds(flip.before, threshold, output) != exceeds(flip.after, threshold, output)
        ]
        yield from _told(one, output, threshold, flipped, len(pairs))


def _told(
    one: SamplesResult, output: Output, threshold: float, flipped: Sequence[_Flip], pairs: int
) -> Iterator[ProblemResult]:
    """A message on flips: their number, and the largest."""
    if not flipped:
        return
    share = len(flipped) / pairs
    message = (
        f"{_name(one)}: {len(flipped):,} of {pairs:,} perturbed samples land on the other side "
        f"of the threshold {threshold:g} from their originals"
    )
    yield ProblemResult(
        "flip",
        one.metric,
        output.name,
        one.model,
        share,
        threshold,
        _severity(share),
        (),
        message,
        one.parameters,
    )
    largest = sorted(flipped, key=lambda flip: (-abs(flip.after - flip.before), str(flip.copy)))
    for flip in largest[:MOST_FLIPS]:
        yield ProblemResult(
            "flip",
            one.metric,
            output.name,
            one.model,
            flip.after,
            threshold,
            "low",
            (flip.original, flip.copy),
            f"{_name(one)} of {flip.copy} is {flip.after:.3f}; of {flip.original}, which it "
            f"perturbs, {flip.before:.3f}",
            one.parameters,
        )


def _why(row: CoverageResult, samples: Sequence[SamplesResult]) -> str:
    """The reason that most of the samples without a value have."""
    found = Counter(
        reason
        for one in samples
        if (one.metric, one.model, one.parameters) == (row.metric, row.model, row.parameters)
        for status, reason in zip(one.statuses or (), one.undefined, strict=False)
        if reason and status not in ("ok", "not_applicable")
    )
    if not found:
        return ""
    reason, _ = min(found.items(), key=lambda item: (-item[1], item[0]))
    return f"; most often: {reason if len(reason) <= LONGEST else reason[:LONGEST] + '…'}"


def _uncovered(
    coverage: Sequence[CoverageResult], samples: Sequence[SamplesResult]
) -> Iterator[ProblemResult]:
    """Low coverage by model; metrics that miss the same samples are merged."""
    alike: dict[tuple[object, ...], list[CoverageResult]] = defaultdict(list)
    for one in coverage:
        if one.slice is None and one.coverage is not None and one.coverage < LOW_COVERAGE:
            alike[one.model, one.samples, *one.statuses.items()].append(one)
    for first, *others in alike.values():
        metrics = list(dict.fromkeys(one.metric for one in (first, *others)))
        told = ", ".join(
            f"{count:,} {name.replace('_', ' ')}"
            for name, count in first.statuses.items()
            if name != "ok"
        )
        more = f" and {len(metrics) - NAMED:,} more metrics" if len(metrics) > NAMED else ""
        have = "have" if len(metrics) > 1 else "has"
        noun = "sample" if first.samples == 1 else "samples"
        message = (
            f"{first.model}: {', '.join(metrics[:NAMED])}{more} {have} a value for "
            f"{first.statuses.get('ok', 0):,} of {first.samples:,} {noun} "
            f"({told}{_why(first, samples)})"
        )
        share = first.coverage or 0.0
        yield ProblemResult(
            "coverage",
            None if others else first.metric,
            None,
            first.model,
            share,
            LOW_COVERAGE,
            _severity(1 - share / LOW_COVERAGE),
            (),
            message,
            {} if others else first.parameters,
        )


def _name(row: MetricResult | SamplesResult) -> str:
    output = row.output if isinstance(row, MetricResult) and row.output != "value" else ""
    return f"{row.model}: {row.metric} {output}".rstrip()
