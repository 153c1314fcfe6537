"""Catalogue of tasks, their metrics, and the config options of each.

Tasks are imported on demand, so that a run pays only for the wing it uses.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, create_model

from valor_cli.errors import Problem, UnknownNameError, did_you_mean
from valor_cli.metric import Measure, Metric, Task
from valor_cli.metric.peers import nearest
from valor_cli.results import OWN_SPACE, THRESHOLD


def _object_detection() -> Task[Any]:
    from valor_cli.evaluators.detection import OBJECT_DETECTION

    return OBJECT_DETECTION


def _instance_segmentation() -> Task[Any]:
    from valor_cli.evaluators.detection import INSTANCE_SEGMENTATION

    return INSTANCE_SEGMENTATION


def _semantic_segmentation() -> Task[Any]:
    from valor_cli.evaluators.segmentation import SEMANTIC_SEGMENTATION

    return SEMANTIC_SEGMENTATION


def _text_generation() -> Task[Any]:
    from valor_cli.evaluators.text_generation import TEXT_GENERATION

    return TEXT_GENERATION


def _classification() -> Task[Any]:
    from valor_cli.evaluators.classification import CLASSIFICATION

    return CLASSIFICATION


TASKS: Mapping[str, Callable[[], Task[Any]]] = {
    "classification": _classification,
    "object_detection": _object_detection,
    "instance_segmentation": _instance_segmentation,
    "semantic_segmentation": _semantic_segmentation,
    "text_generation": _text_generation,
}


def task(name: str) -> Task[Any]:
    """The task of that name.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in TASKS:
        problem = Problem("task", f"no task '{name}'{did_you_mean(name, TASKS)}")
        raise UnknownNameError(problem, hint=f"tasks: {', '.join(TASKS)}")
    return TASKS[name]()


def find_metrics(name: str, tasks: Sequence[Task[Any]]) -> list[tuple[Task[Any], Metric[Any]]]:
    """All metrics of that name or alias, with their tasks.

    Raises:
        UnknownNameError: None of the tasks has one.
    """
    found: list[tuple[Task[Any], Metric[Any]]] = []
    known: list[str] = []
    for one in tasks:
        names = metric_names(one.name)
        known += names
        if name in names:
            found.append((one, metric(one.name, names[name])))
    if not found:
        message, hint = (
            f"no metric '{name}'{did_you_mean(name, known)}",
            "valor metrics lists them all",
        )
        if peer := nearest(name):
            message = f"{name!r:.40} is a metric of {peer[0]}"
            hint = "\n".join(f"nearest here: valor metrics {one}" for one in peer[1])
        raise UnknownNameError(Problem("metric", message), hint=hint)
    return found


def metric(task_name: str, name: str) -> Metric[Any]:
    """The metric of that canonical name."""
    return next(metric for metric in task(task_name).metrics if metric.name == name)


def task_names() -> Sequence[str]:
    """Names of all tasks."""
    return tuple(TASKS)


def inputs(task_name: str) -> type[BaseModel]:
    """The model of a task's `data:` block."""
    model: type[BaseModel] = task(task_name).inputs
    return model


def options(task_name: str) -> type[BaseModel]:
    """The model of the keys that a task adds to the top of a config."""
    model: type[BaseModel] = task(task_name).options
    return model


def metric_names(task_name: str) -> Mapping[str, str]:
    """Every accepted metric name of a task, aliases included, mapped to its canonical name."""
    metrics = task(task_name).metrics
    return {name: metric.name for metric in metrics for name in (metric.name, *metric.aliases)}


def measure(task_name: str, name: str, given: Collection[str] = ()) -> Measure | None:
    """What a name stands for in a config: None if it is none that is known.

    Names are those of metrics with their aliases, "METRIC.OUTPUT", those of the field
    ("mAP@0.75"), and those that tables show ("ROUGE-L F1").

    Args:
        task_name: The task.
        name: As the user has it.
        given: The parameters that are given with it, and "label" if it is asked of one label.
    """
    found = task(task_name).named(name, given)
    if found is not None:
        return found
    names = metric_names(task_name)
    if name in names:
        return Measure(names[name])
    of, dot, output = name.rpartition(".")
    if dot and of in names and output in outputs(task_name, names[of]):
        return Measure(names[of], output)
    return _shown_names(task_name).get(name.casefold()) or _loose_names(task_name).get(_loose(name))


_KIND_OF_NAME: Final = re.compile(r"(?:evaluator|metric)$")


def _loose(name: str) -> str:
    """A name without case, spaces, hyphens, and without "Evaluator" or "Metric" at its end."""
    return _KIND_OF_NAME.sub("", re.sub(r"[\s_-]+", "", name).casefold())


@cache
def _loose_names(task_name: str) -> Mapping[str, Measure]:
    """The metrics of a task by names that other tools spell in their way; no ambiguous ones."""
    found: dict[str, set[str]] = {}
    for name, metric_name in metric_names(task_name).items():
        found.setdefault(_loose(name), set()).add(metric_name)
    return {name: Measure(next(iter(ours))) for name, ours in found.items() if len(ours) == 1}


@cache
def _shown_names(task_name: str) -> Mapping[str, Measure]:
    """The measures of a task by what tables call them."""
    from valor_cli.reports.digests.naming import short_name

    found: dict[str, Measure] = {}
    for one in task(task_name).metrics:
        values = {parameter.name: parameter.default for parameter in one.parameters}
        for output in one.outputs:
            shown = short_name(one.name, output.name, values).casefold()
            found.setdefault(shown, Measure(one.name, output.name))
    return found


@cache
def parameters(task_name: str, metric_name: str) -> type[BaseModel]:
    """A strict model of a metric's parameters, as `parameters_of`."""
    return parameters_of(metric(task_name, metric_name))


def parameters_of(found: Metric[Any]) -> type[BaseModel]:
    """A strict model of a metric's parameters, derived from its function's signature.

    The model also has the metric's threshold.
    """
    fields: dict[str, Any] = {
        parameter.name: (parameter.kind, parameter.default) for parameter in found.parameters
    }
    if found.outputs and THRESHOLD not in fields:
        about = Field(found.threshold, description="the threshold of the value, for problems")
        fields[THRESHOLD] = (float | None, about)
    with warnings.catch_warnings():
        # A parameter may be called as what pydantic's models have had for long, such as "schema".
        warnings.simplefilter("ignore", UserWarning)
        return create_model(found.name, __base__=_Parameters, __doc__=found.description, **fields)


def own_metric(task_name: str, written: str, folder: Path, name: str | None = None) -> Metric[Any]:
    """The metric of a function of the user's; see `load_metric`."""
    from valor_cli.evaluators.own import load_metric

    return load_metric(written, folder, name, task(task_name))


def composite_metric(
    task_name: str, name: str, asked: Mapping[str, Any], own: Mapping[str, Metric[Any]]
) -> Metric[Any]:
    """The metric of a composite of a task's metrics and own ones; see the function it calls."""
    from valor_cli.evaluators.own import composite_metric as composed

    known = {one.name: one for one in task(task_name).metrics}
    return composed(name, asked, {**known, **own})


def named_metric(task_name: str, metric_name: str, name: str) -> Metric[Any]:
    """The metric of that canonical name, as "own.NAME"."""
    found = metric(task_name, metric_name)
    return replace(found, name=f"{OWN_SPACE}{name}", aliases=(metric_name,))


class _Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def outputs(task_name: str, metric_name: str) -> Sequence[str]:
    """Output names of a metric, primary first; empty for a curve."""
    return tuple(output.name for output in metric(task_name, metric_name).outputs)


def slice_values(task_name: str) -> Mapping[str, Sequence[str]]:
    """Slice keys other than metadata.*, with their values."""
    return {
        key: values for wing in task(task_name).wings for key, (values, _) in wing.slices.items()
    }
