"""Check that own functions have the properties that every metric of the catalogue has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.own.columns import (
    Columns,
    ImageColumns,
    LabelColumns,
    ObjectColumns,
    TextColumns,
    taken,
)
from valor_cli.evaluators.own.declaration import declaration_of, is_metric
from valor_cli.evaluators.own.function import (
    EvidenceFunction,
    OwnFunction,
    RowFunction,
    SampleFunction,
    Value,
)
from valor_cli.evaluators.own.loading import load_metric
from valor_cli.evaluators.own.sample import COLUMNS, Sample
from valor_cli.evaluators.own.source import load_function, module_of, source_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.kernels.columns.grouping import nulls
from valor_cli.metric import EvidenceCounts, Metric, Task

_ROUNDING: Final = 1e-9


class Check(NamedTuple):
    """A property of a function, and what speaks against it; None: nothing."""

    function: str
    property: str
    fault: str | None


class _Trial(NamedTuple):
    """A function on data made for its kind.

    Attributes:
        usual: Data as it mostly is.
        odd: Data that is legal, by what is odd about it.
        run: The values of some data, one or one of each sample.
        reversed: The data in the opposite order.
    """

    usual: Any
    odd: dict[str, Any]
    run: Callable[[Any], list[Value]]
    reversed: Callable[[Any], Any]


def functions_in(file: str, folder: Path) -> tuple[list[str], list[str]]:
    """The functions of a file that are metrics, and its other public functions.

    Raises:
        ConfigError: The file cannot be imported.
    """
    module = module_of(source_of(f"{file}:any", folder))
    public = [
        name
        for name, one in vars(module).items()
        if name[0] != "_" and inspect.isfunction(one) and one.__module__ == module.__name__
    ]
    metrics = [name for name in public if is_metric(vars(module)[name])]
    return metrics, [name for name in public if name not in metrics]


def task_of(written: str, folder: Path, given: str | None) -> str:
    """The task on whose data a function is tried; `given` is for what may be of several.

    Raises:
        ConfigError: It cannot be loaded, or may be of several tasks.
    """
    function = load_function(source_of(written, folder))
    kind = declaration_of(function, None).kind if inspect.isfunction(function) else "sample"
    if kind == "sample":
        return "text_generation"
    if kind == "column" and given is None:
        message = f"{written} reads columns, which differ by task: name one"
        raise ConfigError(Problem("--task", message), hint="--task classification, for example")
    return given or "classification"


def checks_of(written: str, folder: Path, task: Task[Any]) -> Iterator[Check]:
    """The checks of a function, as `FILE.py:FUNCTION`, with its parameters' defaults.

    Raises:
        ConfigError: It cannot be loaded, or is no metric of the task.
    """
    metric = load_metric(written, folder, None, task)
    name = metric.name.removeprefix("own.")
    yield Check(name, "loads", None if metric.description else "it has no docstring")
    trial = _trial(metric, task)
    usual = trial.run(trial.usual)
    yield Check(name, "usual data", _unusable(usual) or _no_value(usual))
    for what, data in trial.odd.items():
        yield Check(name, what, _unusable(trial.run(data)))
    yield Check(name, "same twice", _unlike(usual, trial.run(trial.usual)))
    backwards = trial.run(trial.reversed(trial.usual))[::-1]
    yield Check(name, "any order", _unlike(usual, backwards))


def _unusable(values: Sequence[Value]) -> str | None:
    return next((one for one in values if isinstance(one, str)), None)


def _no_value(values: Sequence[Value]) -> str | None:
    usable = [one for one in values if not isinstance(one, str)]
    found = any(number is not None for one in usable for number in one.values())
    return None if found else "no sample has a value"


def _unlike(first: Sequence[Value], second: Sequence[Value]) -> str | None:
    for one, other in zip(first, second, strict=True):
        if isinstance(one, str) or isinstance(other, str):
            continue
        for output in {*one, *other}:
            before, after = one.get(output), other.get(output)
            if before == after:
                continue
            if before is None or after is None or abs(before - after) > _ROUNDING:
                return f"{before} is {after} then"
    return None


def _trial(metric: Metric[Any], task: Task[Any]) -> _Trial:
    function: Any = metric.declared
    parameters = {one.name: one.default for one in metric.parameters}
    if isinstance(function, SampleFunction):
        return _Trial(
            [*_SAMPLES[:3]],
            {"empty text": [_SAMPLES[3]], "nothing": [_SAMPLES[4]], "unicode": [_SAMPLES[5]]},
            lambda samples: [*map(_value, function.outcomes(samples, parameters))],
            lambda samples: samples[::-1],
        )
    if isinstance(function, EvidenceFunction):
        zero = np.zeros(3, np.int64)
        none = EvidenceCounts(_LABELS, zero, zero, zero, np.zeros((3, 3), np.int64))
        return _Trial(_counts(), {"nothing": none}, _alone(function, parameters), _reversed_counts)
    columns = _columns(task)
    odd = {"one sample": taken(columns, np.arange(1))}
    run = _by_row if isinstance(function, RowFunction) else _alone
    return _Trial(
        columns,
        odd,
        run(function, parameters),
        lambda data: taken(data, np.arange(len(data.sample_ids))[::-1]),
    )


def _value(outcome: Outcome) -> Value:
    return str(outcome.reason) if outcome.status == "parse_failure" else dict(outcome.values)


def _alone(function: OwnFunction, parameters: dict[str, Any]) -> Callable[[Any], list[Value]]:
    return lambda data: [function.value(data, parameters)]


def _by_row(function: RowFunction, parameters: dict[str, Any]) -> Callable[[Any], list[Value]]:
    def run(data: Any) -> list[Value]:
        found = function.values(data, parameters)
        if isinstance(found, str):
            return [found] * len(data.sample_ids)
        columns = {name: nulls(own) for name, own in found.items() if own is not None}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    return run


_LABELS: Final = ("cat", "dog", "Ω 🐈")


def _counts() -> EvidenceCounts:
    matrix = np.array([[5, 1, 0], [2, 7, 1], [0, 3, 4]])
    tp = matrix.diagonal()
    return EvidenceCounts(_LABELS, tp, matrix.sum(axis=0) - tp, matrix.sum(axis=1) - tp, matrix)


def _reversed_counts(counts: EvidenceCounts) -> EvidenceCounts:
    matrix = None if counts.matrix is None else counts.matrix[::-1, ::-1]
    tp, fp, fn = (one[::-1] for one in (counts.tp, counts.fp, counts.fn))
    return EvidenceCounts(counts.labels[::-1], tp, fp, fn, matrix)


_FULL: Final = Sample(
    sample_id="1",
    user_input="Where is the tower?",
    response="The tower is in Paris. It is tall.",
    references=("In Paris.", "Paris, France."),
    retrieved_contexts=("The tower stands in Paris.", "Lyon is a city."),
    condition='"Paris"',
    categories=("travel",),
    group="a",
    perturbed_from=None,
    artifacts=None,
    token_logprobs=(-0.1, -0.5, -2.0),
    history="user: Hello",
)
_SAMPLES: Final = (
    _FULL,
    replace(_FULL, sample_id="2", response="No.", references=("Yes.",), group="b"),
    replace(_FULL, sample_id="3", response='{"a": [1, 2]}', retrieved_contexts=("One.",)),
    replace(_FULL, sample_id="4", response="", user_input="", references=("",), history=""),
    Sample("5", None, None, (), None, None, (), None, None, None, None, None),
    replace(_FULL, sample_id="6", response="Ça va? 東京 🗼‍🗼 \u202e", references=("ß",)),
)


def _columns(task: Task[Any]) -> Columns:
    """Columns of a few samples of a task."""
    if task.name == "text_generation":
        rows = [_SAMPLES[at] for at in (0, 1, 2, 4, 5)]
        named = {
            name: np.fromiter((getattr(one, name) for one in rows), object, len(rows))
            for name in ("sample_id", *COLUMNS)
        }
        return TextColumns(sample_ids=named.pop("sample_id"), **named)
    draw = np.random.default_rng(0)
    names = np.array([*_LABELS, None], object)
    ids = np.array([f"sample {at}" for at in range(12)], object)
    if task.name == "classification":
        scores = draw.dirichlet(np.ones(3), 12)
        scores[0] = 0
        top = np.where(scores.any(axis=1), scores.argmax(axis=1), 3)
        return LabelColumns(_LABELS, ids, names[draw.integers(0, 3, 12)], names[top], scores)
    truths, found = (np.sort(draw.integers(0, 10, count)) for count in (20, 30))
    return ImageColumns(
        _LABELS,
        ids,
        ObjectColumns(
            truths,
            names[draw.integers(0, 3, 20)],
            draw.uniform(0, 100, (20, 4)),
            crowd=draw.random(20) < 0.1,
        ),
        ObjectColumns(
            found, names[draw.integers(0, 3, 30)], draw.uniform(0, 100, (30, 4)), draw.random(30)
        ),
    )
