"""Compare two runs: their values, and the samples that changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.pipeline.compare.changes import changes_of
from valor_cli.pipeline.compare.evidence_resamples import with_resamples
from valor_cli.pipeline.compare.incompatible import run_differences
from valor_cli.pipeline.compare.paired_rows import Sides, judged_rows, paired_rows
from valor_cli.pipeline.compare.pairing import compared, compared_labels, paired_models
from valor_cli.reports.digests.naming import Names, output_name
from valor_cli.results import (
    ChangeCount,
    ChangedSample,
    ComparedRun,
    ComparedRuns,
    ComparisonResult,
    MetricResult,
    RunResult,
)
from valor_cli.results.identity import value_key

Pairs = Sequence[tuple[str, str]]

MOST_ALONE = 20
"""Maximum number of values of only one run that are named; the rest are counted."""


def compare_runs(
    first: RunResult,
    second: RunResult,
    *,
    first_path: str,
    second_path: str,
    pairs: Pairs | None = None,
) -> ComparedRuns:
    """Compare the second run with the first.

    Args:
        first: The baseline run, with its samples and resamples.
        second: The candidate run. It may be the first itself, to compare its models.
        first_path, second_path: Their paths.
        pairs: (model of the second, model of the first) to compare. None: the one model of each,
            else models of one name; within one run each model with each before it.

    Raises:
        ConfigError: Runs of different tasks, or models that cannot be paired.
    """
    if first.task != second.task:
        message = f"a run of {second.task}; {first_path} is one of {first.task}"
        raise ConfigError(Problem(second_path, message), hint="compare runs of one task")
    chosen = _paired(first, second) if pairs is None else tuple(dict.fromkeys(pairs))
    _check(first, second, chosen)
    first, second = with_resamples(first, second, chosen)
    comparisons: list[ComparisonResult] = []
    changes: list[ChangeCount] = []
    changed: list[ChangedSample] = []
    for model, other in chosen:
        sides = Sides(second, model, first, other)
        rows, aligned = paired_rows(sides)
        comparisons += [*compared(sides, rows, aligned), *compared_labels(sides)]
        counts, samples = changes_of(sides, rows, aligned)
        changes += counts
        changed += samples
    only_first = _alone(first, second, [(other, model) for model, other in chosen])
    return ComparedRuns(
        task=second.task,
        first=ComparedRun(first_path, tuple(first.models), first.run),
        second=ComparedRun(second_path, tuple(second.models), second.run),
        primary=second.primary,
        pairs=chosen,
        level=Sides(second, "", first, "").level,
        comparisons=tuple(comparisons),
        changes=tuple(changes),
        changed=tuple(changed),
        only_first=only_first,
        only_second=_alone(second, first, chosen),
        warnings=tuple(dict.fromkeys(run_differences(first, second, chosen))),
    )


def _paired(first: RunResult, second: RunResult) -> tuple[tuple[str, str], ...]:
    """The models to compare if none are named.

    Raises:
        ConfigError: No model has the same name in both runs.
    """
    if first is second:
        found = tuple((model, other) for other, model in combinations(first.models, 2))
        if found:
            return found
        message = f"the run has one model alone, {first.models[0]}"
        raise ConfigError(Problem("", message), hint="name a second run to compare it with")
    found = tuple(paired_models(second, first))
    if found:
        return found
    there, here = ", ".join(first.models), ", ".join(second.models)
    message = f"no model has the same name in both: the first run has {there}; the second {here}"
    hint = f"say which to compare: --model {second.models[0]}={first.models[0]}"
    raise ConfigError(Problem("--model", message), hint=hint)


def _check(first: RunResult, second: RunResult, pairs: Pairs) -> None:
    """Reject pairs that cannot be compared.

    Raises:
        ConfigError: A pair names a model that its run does not have, or one model twice.
    """
    problems = []
    for model, other in pairs:
        for name, run, which in ((model, second, "second"), (other, first, "first")):
            if name not in run.models:
                there = did_you_mean(name, run.models) or f"; it has {', '.join(run.models)}"
                message = f"the {which} run has no model '{name}'{there}"
                problems.append(Problem(f"--model {model}={other}", message))
        if first is second and model == other:
            problems.append(
                Problem(f"--model {model}={other}", "a model cannot be compared with itself")
            )
    if problems:
        raise ConfigError(problems, hint="--model SECOND=FIRST names one of each run")


def _alone(run: RunResult, against: RunResult, pairs: Pairs) -> tuple[str, ...]:
    """Values of the first of each pair that are missing in the second, in words."""
    rows = [*run.metrics, *against.metrics]
    names = Names((row.metric, row.parameters) for row in rows)
    told: dict[str, None] = {}
    for model, other in pairs:
        there = {value_key(row) for row in judged_rows(against, other)}
        for row in judged_rows(run, model):
            if value_key(row) not in there:
                told[_words(row, names, model if len(pairs) > 1 else None)] = None
    found = list(told)
    if len(found) > MOST_ALONE:
        found = [*found[:MOST_ALONE], f"… and {len(found) - MOST_ALONE:,} more"]
    return tuple(found)


def _words(row: MetricResult, names: Names, model: str | None) -> str:
    detail = names.detail(row.metric, row.parameters)
    name = output_name(row.metric, row.output)
    name = f"{name} ({detail})" if detail else name
    return name if model is None else f"{name} of {model}"
