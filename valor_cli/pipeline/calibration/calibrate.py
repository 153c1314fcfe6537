"""Run the judges of a plan on samples with human labels and measure their agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from valor_cli.data.inputs.sample_metadata import sample_columns
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.metric import Call, Loaded, RunTerms
from valor_cli.pipeline.calibration.label_files import LabelFiles, read_label_files
from valor_cli.pipeline.calibration.labels import (
    LABEL,
    Columns,
    Labels,
    asked_for,
    called,
    check_keys,
    columns_of,
    labels_in_data,
    labels_in_files,
    names_of,
    usual_columns,
)
from valor_cli.pipeline.calibration.rows import compared
from valor_cli.pipeline.calibration.scales import is_blank
from valor_cli.pipeline.estimate import judges_part
from valor_cli.pipeline.executor.executor import Progress, ThisProcess
from valor_cli.pipeline.offline import refuse_urls
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.record import run_identity, usage_of
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.run import selection_of, session_of
from valor_cli.results import SamplesResult
from valor_cli.results.calibration import Calibrated

NAMED = "--human METRIC=COLUMN names another"


def calibrate(
    plan: Plan,
    columns: Mapping[str, Sequence[str]],
    *,
    label_files: Sequence[str] = (),
    limit: int | None = None,
    offline: bool = False,
    resume: bool = False,
    progress: Progress = lambda stage, done, total: None,
) -> Calibrated:
    """Run the judges and compare their verdicts with human labels.

    All judge metrics of the plan are run, also those without human labels, so that a
    scripted judge keeps its order and a later evaluation finds every reply in the cache.

    Args:
        plan: From `make_plan`.
        columns: Metric, or its `name` in the config, to the columns of human labels, one for
            each annotator, or patterns (`label_*`); omitted: `human_<name>` or
            `human_<name>_<annotator>`, else the same with the name of the metric.
        label_files: Files of labels, as `read_label_files` has them; what they say of a metric
            holds before what the samples say.
        limit: Number of samples to use, from the first.
        offline, resume, progress: As in `evaluate`.

    Raises:
        ConfigError: No metric asks a judge, or none has a column.
        DataError: An input cannot be used, or a column has values outside the judge's scale.
    """
    if offline:
        refuse_urls(plan.config)
    progress("reading", 0, 0)
    judged = judges_part(plan)
    calls = [call for part in judged.wings for call in part.calls]
    _check_names(columns, calls)
    inputs = cast(TextInputs, plan.config.data)  # no other task has judges
    files = read_label_files(label_files, inputs.columns)
    of_files = {name: own for name, own in columns.items() if files.have(own)}
    of_data = {name: own for name, own in columns.items() if name not in of_files}
    there = _columns_there(inputs)
    places = [columns_of(call, calls, of_data, there) for call in calls]
    loaded = _loaded(judged, of_data, places, limit)
    whole = limit is None and not plan.config.filter
    in_files, warnings = _in_files(calls, of_files, of_data, files, loaded, whole=whole)
    labels = [
        in_files.get(at) or labels_in_data(own, loaded.metadata) for at, own in enumerate(places)
    ]
    warnings += _check_held(plan, calls, columns, labels)
    held = [(call, own) for call, own in zip(calls, labels, strict=True) if own is not None]
    terms = RunTerms(
        run_identity(plan, loaded, limit),
        offline=offline,
        resume=resume,
        on_progress=progress,
    )
    with session_of(judged, terms) as session:
        found = Computation(
            judged, loaded, (), ThisProcess(), progress, illustrated=False, session=session
        )
    said = [(call, own, _of(call, found.samples)) for call, own in held]
    parts = [part for call, own, judges in said for part in compared(call, judges, own)]
    return Calibrated(
        [part.row for part in parts],
        [part.annotators for part in parts if part.annotators is not None],
        [part.threshold for part in parts if part.threshold is not None],
        [one for part in parts for one in part.differences],
        usage_of(session, judged, loaded),
        [
            *loaded.warnings,
            *found.warnings,
            *warnings,
            *(() if session is None else session.warnings),
        ],
        None if session is None else session.stopped,
        sum((one.statuses or ()).count("judge_error") for _, _, own in said for one in own),
    )


def _columns_there(inputs: TextInputs) -> list[str]:
    """The columns of the samples."""
    reading = SampleReading(columns=inputs.columns)
    paths = dict.fromkeys(inputs.files.values())
    found = (sample_columns(path, reading, inputs.format) for path in paths)
    return list(dict.fromkeys(name for own in found for name in own))


def _in_files(
    calls: Sequence[Call],
    of_files: Mapping[str, Sequence[str]],
    of_data: Mapping[str, Sequence[str]],
    files: LabelFiles,
    loaded: Loaded[Any],
    *,
    whole: bool,
) -> tuple[dict[int, Labels], list[str]]:
    """By number of the metric, the labels that files have of it, and warnings.

    Args:
        calls: The metrics.
        of_files, of_data: The columns that are named for a metric, by where they are.
        files: What was read.
        loaded: The samples.
        whole: Whether these are all samples of the data.

    Raises:
        ConfigError: They have none.
        DataError: Labels are of no sample, or of no model's answer.
    """
    if not files.paths:
        return {}, []
    samples = {model: list(map(str, one.sample_ids)) for model, one in loaded.datasets.items()}
    warnings = check_keys(files, samples, whole=whole)
    there = list(files.cells)
    found = {}
    for at, call in enumerate(calls):
        if asked_for(call, of_data) is not None:
            continue
        candidates = columns_of(call, calls, of_files, there)
        if asked_for(call, of_files) is None:
            bare = [*names_of(call), *([LABEL] if len(calls) == 1 else [])]
            candidates += [one for name in bare for one in called(name, there)]
        labels = labels_in_files(candidates, files, samples)
        if labels is not None:
            found[at] = labels
    if not found:
        message = f"no column has labels of a metric; there is {', '.join(there) or 'none'}"
        hint = f"they are called human_METRIC or METRIC, or label of a single metric; {NAMED}"
        raise ConfigError(Problem(", ".join(files.paths), message), hint=hint)
    return found, warnings


def _loaded(
    judged: Plan,
    named: Mapping[str, Sequence[str]],
    places: Sequence[Sequence[Columns]],
    limit: int | None,
) -> Loaded[Any]:
    """The data, with every column that may hold human labels."""
    selection = selection_of(judged, limit)
    optional = dict.fromkeys(column for own in places for one in own for column in one.annotators)
    # A column of objects is read by its keys.
    objects = {column.partition(".")[0] for column in optional if "." in column}
    wanted = [one for own in named.values() for one in own if "*" not in one]
    required = list(dict.fromkeys([*selection.metadata, *wanted]))
    return judged.task.load(
        judged.config.data,
        judged.config.options,
        replace(
            selection,
            metadata=required,
            optional=[one for one in optional if one not in required and one not in objects],
            # What people said of one model's answers says nothing of another's.
            of_answers=list(optional),
        ),
    )


def _check_held(
    plan: Plan,
    calls: Sequence[Call],
    columns: Mapping[str, Sequence[str]],
    labels: Sequence[Labels | None],
) -> list[str]:
    """Warnings of metrics and models that have no labels.

    Raises:
        ConfigError: No metric has any.
    """
    held = {own.column: own for own in labels if own is not None}
    pairs = zip(calls, labels, strict=True)
    left = dict.fromkeys(
        one
        for call, own in pairs
        if own is None
        for one in asked_for(call, columns) or usual_columns(call)
    )
    if not held:
        problem = Problem(str(plan.config.path), f"the data have no labels in {', '.join(left)}")
        hint = f"such a column holds what people said of each answer; {NAMED}"
        raise ConfigError(problem, hint=hint)
    warnings = (
        [f"not compared, because the data have no labels in {', '.join(left)}"] if left else []
    )
    for column, own in held.items():
        models = own.annotators[0].by_model
        silent = [model for model in models if all(map(is_blank, own.of(model)))]
        if silent:
            warnings.append(f"{column} says nothing of the answers of {', '.join(silent)}")
    return warnings


def _of(call: Call, found: Sequence[SamplesResult]) -> list[SamplesResult]:
    return [
        own for own in found if own.metric == call.metric.name and own.parameters == call.parameters
    ]


def _check_names(columns: Mapping[str, Sequence[str]], calls: Sequence[Call]) -> None:
    """Check that the names in `columns` are judge metrics of the config.

    Raises:
        ConfigError: There is no such judge metric.
    """
    names = dict.fromkeys(name for call in calls for name in names_of(call))
    problems = [
        Problem(
            "--human",
            f"the config has no judge metric {name!r}{did_you_mean(name, names)}; it has "
            + ", ".join(names),
        )
        for name in columns
        if name not in names
    ]
    if problems:
        raise ConfigError(problems)
