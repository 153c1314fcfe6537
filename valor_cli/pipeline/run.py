"""Execute a plan: load the data, compute the rows, check the gates."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs
from msgspec.structs import replace

from valor_cli.config import RunConfig
from valor_cli.data.partition.pieces import UnsplittableError
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import METADATA, Evidence, Loaded, RunTerms, Selection
from valor_cli.pipeline.compare.baseline import has_baseline_gates
from valor_cli.pipeline.compare.incompatible import baseline_differences
from valor_cli.pipeline.engines import Engine, workers
from valor_cli.pipeline.executor.executor import Progress, ThisProcess, Workers
from valor_cli.pipeline.gates import check_gates, judge_gates
from valor_cli.pipeline.insights import insights_of
from valor_cli.pipeline.offline import refuse_urls
from valor_cli.pipeline.piece_size import input_paths, piece_size
from valor_cli.pipeline.plan import Plan, is_optional, settled, without
from valor_cli.pipeline.problems import problems_of
from valor_cli.pipeline.record import own_sources, record_of, run_identity
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.slices.slices import (
    Slice,
    memberships,
    metadata_names,
    resolve_slices,
)
from valor_cli.results import (
    THRESHOLD,
    ComparisonResult,
    IntervalsResult,
    MetricResult,
    RunResult,
    Scalar,
    TextsResult,
)

if TYPE_CHECKING:
    from valor_cli.models.session import Session


def check(plan: Plan) -> Sequence[str]:
    """Read every input of a plan and check the config against it, without evaluating.

    Returns:
        Warnings about models that are not on this machine.

    Raises:
        DataError: An input cannot be used.
        ConfigError: The config names something that the data does not have.
        MissingExtraError: A package that loads a model is not installed.
    """
    plan = settled(plan)
    _, loaded, _ = _load(plan, None)
    for dataset in loaded.datasets.values():
        dataset.verify()
    # Prompts and files of replies are read when the models are opened; none of them is asked.
    with session_of(plan, RunTerms("", dry_run=True)) as session:
        if session is None:
            return ()
        session.look()
        return session.missing_models


def _load(plan: Plan, limit: int | None) -> tuple[Plan, Loaded[Any], list[Slice]]:
    """The data; and the plan without default metrics whose inputs are missing."""
    config = plan.config
    loaded = plan.task.load(config.data, config.options, selection_of(plan, limit))
    plan, loaded = _served(plan, loaded)
    return plan, loaded, _checked(plan, loaded)


def _checked(plan: Plan, loaded: Loaded[Any]) -> list[Slice]:
    """The slices, after checking the config against the data.

    Raises:
        ConfigError: It names something that the data does not have.
    """
    config = plan.config
    _check_thresholds(plan, loaded)
    slices = resolve_slices(config, [part.wing for part in plan.wings], loaded)
    if config.gates:
        check_gates(config, plan.task, loaded, slices, _shape(plan, loaded))
    return slices


def _read(
    plan: Plan, limit: int | None, pool: Workers, progress: Progress
) -> tuple[Plan, Loaded[Any], list[Slice], Mapping[tuple[str, int], Evidence]]:
    """As `_load`; and the evidence, by model and number of the wing, that reading made already."""
    size = None if plan.task.stream is None else piece_size(plan.config.data, pool.count)
    if size is not None:
        # Small inputs, which are loaded whole, do without.
        from valor_cli.pipeline.streaming import streamed

        with suppress(UnsplittableError):
            found = streamed(plan, selection_of(plan, limit), pool, progress, size)
            plan, loaded = _served(plan, found.loaded)
            return plan, loaded, _checked(plan, loaded), found.evidence
    plan, loaded, slices = _load(plan, limit)
    return plan, loaded, slices, {}


def _served(plan: Plan, loaded: Loaded[Any]) -> tuple[Plan, Loaded[Any]]:
    """The plan without default metrics whose inputs are missing, and warnings.

    Raises:
        ConfigError: No metric is left.
    """
    missing = loaded.missing_columns.union(loaded.unfit)
    if not missing:
        return plan, loaded
    served = without(plan, missing)
    kept = {call.metric.name for part in served.wings for call in part.calls}
    out = [call.metric.name for part in plan.wings for call in part.calls]
    left_out = [name for name in out if name not in kept]
    if not left_out:
        return plan, loaded
    words = " and ".join(sorted(name.replace("_", " ") for name in loaded.missing_columns))
    if not kept:
        message = f"the data has no {words}, which every default metric needs"
        problem = Problem(plan.config.place("data"), message)
        raise ConfigError(problem, hint="name the columns with `columns:`, or list `metrics:`")
    reasons = [f"the data has no {words}"] if words else []
    reasons += filter(None, loaded.unfit.values())
    told = [f"{'; '.join(reasons)}; left out of the default metrics: {', '.join(left_out)}"]
    return served, replace(loaded, warnings=[*loaded.warnings, *(told if reasons else ())])


def selection_of(plan: Plan, limit: int | None) -> Selection:
    """The data selection of a plan."""
    config = plan.config
    calls = [call for part in plan.wings for call in part.calls]
    needs = frozenset(need for call in calls for need in call.needs)
    wanted = needs.difference(
        *(call.needs for call in calls if not is_optional(plan, call)),
    )
    texts = sorted(need.removeprefix(METADATA) for need in needs if need.startswith(METADATA))
    search = config.slice_search
    return Selection(
        config.label_map,
        config.filter,
        list(dict.fromkeys([*metadata_names(config), *texts])),
        limit,
        needs,
        wanted,
        texts=texts,
        every_metadata=search is not None and search.columns is None,
    )


def _check_thresholds(plan: Plan, loaded: Loaded[Any]) -> None:
    """Check that parameters with a value per label name existing labels.

    Raises:
        ConfigError: A label does not occur, or no value can reach its threshold.
    """
    known = dict.fromkeys([*loaded.labels, *loaded.known_labels])
    problems = [
        Problem(
            plan.config.place("metrics", request.index, name),
            f"no label '{label}'{did_you_mean(label, known)}",
        )
        for request in plan.config.metrics or ()
        for name, value in request.parameters.items()
        if name == "score_threshold" and isinstance(value, Mapping)
        for label in value
        if label not in known
    ]
    outputs = {metric.name: metric.outputs[0] for metric in plan.task.metrics if metric.outputs}
    for request in plan.config.metrics or ():
        if request.threshold is None:
            continue
        low, high = outputs[request.name].bounds
        if request.threshold < low or (high is not None and request.threshold > high):
            top = "" if high is None else f" to {high:g}"
            message = f"values of {request.name} go from {low:g}{top}, not to {request.threshold:g}"
            problems.append(
                Problem(plan.config.place("metrics", request.index, THRESHOLD), message)
            )
    if problems:
        raise ConfigError(problems)


def _shape(plan: Plan, loaded: Loaded[Any]) -> list[MetricResult]:
    """The rows of the plan, computed cheaply on the first unit."""
    first = {
        model: dataset.shard(np.arange(dataset.unit_count) < 1)
        for model, dataset in loaded.datasets.items()
    }
    values_only = replace(plan, config=plan.config.model_copy(update={"interval": None}))
    one = replace(loaded, datasets=first)
    return Computation(
        values_only, one, (), ThisProcess(), lambda stage, done, total: None, illustrated=False
    ).metrics


def evaluate(
    plan: Plan,
    *,
    command: str,
    jobs: int | None = None,
    engine: Engine = "local",
    scheduler: str | None = None,
    limit: int | None = None,
    baseline: RunResult | None = None,
    baseline_lost: str | None = None,
    offline: bool = False,
    resume: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> RunResult:
    """Execute a plan.

    Args:
        plan: From `make_plan`.
        command: How the run was called, for the record.
        jobs, engine, scheduler: Who does the work (`workers`); the result is the same for all.
        limit: Evaluate only the first N images or samples.
        baseline: An earlier result to compare with, with its per-sample values.
        baseline_lost: Why the given baseline could not be read; its gates are not checked.
        offline: Use only models on this machine, and read no URL.
        resume: Go on with an earlier run of the same config and inputs.
        progress: Called with the progress of the run.

    Raises:
        DataError: An input cannot be used.
        ConfigError: The config names something that the data does not have.
        JudgeError: A judge cannot be reached.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    if offline:
        refuse_urls(plan.config)
    plan = settled(plan)
    config = plan.config
    # Workers come first: nothing runs beside this process yet, so that they start fast.
    with workers(jobs, engine, scheduler, input_paths(config.data)) as pool:
        progress("reading", 0, 0)
        plan, loaded, slices, evidence = _read(plan, limit, pool, progress)
        terms = RunTerms(
            run_identity(plan, loaded, limit),
            offline=offline,
            resume=resume,
            on_progress=progress,
        )
        with session_of(plan, terms) as session:
            if session is not None:
                session.look()
            found = Computation(
                plan,
                loaded,
                slices,
                pool,
                progress,
                session=session,
                search=config.slice_search,
                evidence=evidence,
            )
    before = None if baseline is None else baseline.metrics
    settings = {
        **loaded.settings,
        **({} if session is None else session.settings),
        **own_sources(config),
    }
    warnings = [
        *(() if session is None else session.missing_models),
        *loaded.warnings,
        *plan.warnings,
        *found.warnings,
        *(() if session is None else session.warnings),
        *_unsliced(plan),
    ]
    if baseline_lost is not None:
        warnings.append(f"--baseline: {baseline_lost}")
    if baseline is not None:
        held = _compared(config, session)
        warnings += baseline_differences(
            baseline, plan.task.name, loaded.sizes, settings, held=held
        )
    result = RunResult(
        task=plan.task.name,
        models=tuple(loaded.datasets),
        primary=plan.task.primary,
        data=loaded.sizes,
        settings=settings,
        run=record_of(plan, loaded, session, command=command, started=started),
        metrics=tuple(found.metrics),
        curves=tuple(found.curves),
        tables=tuple(found.tables),
        examples=tuple(found.examples),
        gates=(),
        warnings=tuple(warnings),
        missing_prediction_labels={name: found.one_sided[name].missing for name in loaded.datasets},
        ignored_prediction_labels={name: found.one_sided[name].ignored for name in loaded.datasets},
        samples=tuple(found.samples),
        resamples=tuple(found.resamples),
        evidence=tuple(found.evidence),
        objects=tuple(found.objects),
        slices=tuple(memberships(loaded, found.slices, found.columns)),
        searches=tuple(found.searches),
        texts=(*_texts(loaded), *found.texts),
        images=_images(config, loaded),
        intervals=_intervals(config, loaded),
        coverage=tuple(found.coverage),
        problems=tuple(problems_of(plan, loaded, found)),
        agreements=tuple(found.agreements),
        prompts=() if session is None else tuple(session.prompts_used),
    )
    progress("comparing", 0, 0)
    among, earlier = _comparisons(result, baseline)
    gates = judge_gates(
        config, plan.task, found.metrics, before, found.coverage, earlier, baseline_lost
    )
    return structs.replace(
        result,
        comparisons=(*among, *earlier),
        insights=tuple(insights_of(plan, loaded, found, among)),
        gates=tuple(gates),
        run=structs.replace(result.run, duration_s=round(time.perf_counter() - clock, 3)),
    )


def _comparisons(
    result: RunResult, baseline: RunResult | None
) -> tuple[Sequence[ComparisonResult], Sequence[ComparisonResult]]:
    """The comparisons between models, and with a baseline."""
    if baseline is None and len(result.models) < 2:
        return (), ()
    # What tests pairs is imported where there are any.
    from valor_cli.pipeline.compare.pairing import against_baseline, comparisons_of

    return comparisons_of(result), () if baseline is None else against_baseline(result, baseline)


def _texts(loaded: Loaded[Any]) -> tuple[TextsResult, ...]:
    """The texts of each model's samples."""
    told = {model: dataset.sample_texts() for model, dataset in loaded.datasets.items()}
    return tuple(
        TextsResult(model, loaded.datasets[model].unit_ids, columns)
        for model, columns in told.items()
        if columns
    )


def _images(config: RunConfig, loaded: Loaded[Any]) -> Mapping[Scalar, str]:
    """The image file of each sample, if the config names their folder."""
    if getattr(config.data, "images", None) is None:
        return {}
    files: Mapping[Scalar, str] = next(iter(loaded.datasets.values())).image_files()
    return files


def _intervals(config: RunConfig, loaded: Loaded[Any]) -> IntervalsResult | None:
    asked = config.interval
    if asked is None:
        return None
    group = asked.group or ("group" if loaded.groups else None)
    return IntervalsResult(asked.level, asked.resamples, asked.seed, group)


@contextmanager
def session_of(plan: Plan, terms: RunTerms) -> Iterator[Session | None]:
    """Open the models that the plan's metrics use; None if they use none."""
    if plan.task.asking is None or all(part.wing.gather is None for part in plan.wings):
        yield None
        return
    calls = [call for part in plan.wings for call in part.calls]
    with plan.task.asking.session(plan.config.options, calls, terms) as session:
        yield session


def _unsliced(plan: Plan) -> list[str]:
    """The metrics that a slice leaves out, since their evidence cannot be cut so."""
    told = []
    for request in plan.config.slices:
        if request.key.startswith(METADATA) or request.search is not None:
            continue
        names = [
            call.metric.name
            for part in plan.wings
            if request.key not in part.wing.slices
            for call in part.calls
        ]
        if names:
            told.append(f"slices by {request.key} leave out {', '.join(dict.fromkeys(names))}")
    return told


def _compared(config: RunConfig, session: Session | None) -> bool:
    """Whether gates compare values with a baseline."""
    whole = session is None or not session.missing_models
    return whole and has_baseline_gates(config)
