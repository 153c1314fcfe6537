"""Make a metric of an own function, after checking its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.own.composites import BY_PARTS, HALF
from valor_cli.evaluators.own.declaration import NAME, PASSES, Declaration, declaration_of
from valor_cli.evaluators.own.function import (
    ColumnFunction,
    EvidenceFunction,
    RowFunction,
    SampleFunction,
    counting_parameters,
    own_values,
)
from valor_cli.evaluators.own.source import Source, load_function, source_of
from valor_cli.metric import Metric, Task
from valor_cli.results import OWN_SPACE, THRESHOLD, WHEN

_TAKEN: Final = ("python", "name", WHEN, THRESHOLD)
"""Keys of a config's entry that are no parameters."""

_KINDS: Final = "str, int, float, bool, Literal, a list or tuple of these, and None beside them"


def load_metric(written: str, folder: Path, name: str | None, task: Task[Any]) -> Metric[Any]:
    """The metric of a function, called `own.NAME`.

    Args:
        written: "FILE.py:FUNCTION" or "package.module:FUNCTION".
        folder: What paths are relative to.
        name: What it is called; None: as its function.
        task: The task it is a metric of.

    Raises:
        ConfigError: The function cannot be loaded, or be a metric; its place is the key at fault,
            or empty for the function.
    """
    if name is not None and not NAME.fullmatch(name):
        message = f"expected a name of letters, digits and _, found {name!r:.60}"
        raise ConfigError(Problem("name", message))
    source = source_of(written, folder)
    function = load_function(source)
    if not inspect.isfunction(function) or inspect.isasyncgenfunction(function):
        raise _error(f"{source.function} in {source.file} is not a function")
    if inspect.isgeneratorfunction(function):
        raise _error(f"{_of(source)} must return a number: it is a generator")
    hints = _hints(source, function)
    kinds = _kinds(source, function, hints)
    declared = declaration_of(function, hints.get("return"))
    _check_kind(source, declared, task)
    if inspect.iscoroutinefunction(function) and declared.kind != "sample":
        raise _error(f"{_of(source)} must not be async: only functions of samples are awaited")
    given: dict[str, Any] = {
        "name": f"{OWN_SPACE}{name or source.function}",
        "outputs": declared.outputs,
        "reference": written,
    }
    if task.name == "text_generation":
        given["needs"] = declared.needs
    if declared.kind == "evidence":
        counted = next(wing.counted for wing in task.wings if wing.counted is not None)
        for taken in counting_parameters(counted):
            if taken in kinds:
                raise _error(f"{_of(source)}: the parameter {taken} says how {task.name} counts")
        return Metric(compute=EvidenceFunction(source, function, kinds, declared, counted), **given)
    if declared.kind == "column" and not declared.per_sample:
        return Metric(compute=ColumnFunction(source, function, kinds, declared), **given)
    measure = SampleFunction if declared.kind == "sample" else RowFunction
    return Metric(
        measure=measure(source, function, kinds, declared),
        compute=own_values,
        by_parameters=BY_PARTS,
        threshold=HALF if hints.get("return") in PASSES else None,
        **given,
    )


def _check_kind(source: Source, declared: Declaration, task: Task[Any]) -> None:
    """Check that the task has what a function reads.

    Raises:
        ConfigError: It has not.
    """
    kinds = {
        "sample": task.name == "text_generation",
        "column": task.name != "semantic_segmentation",
        "evidence": any(wing.counted is not None for wing in task.wings),
    }
    if not kinds[declared.kind]:
        there = " or ".join(f"@valor_cli.{kind}_metric" for kind, known in kinds.items() if known)
        raise _error(
            f"{_of(source)} is a {declared.kind} metric, which {task.name} does not have; it has "
            f"{there}"
        )


def _hints(source: Source, function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise _error(f"{_of(source)} has an annotation that cannot be read: {error}") from None


def _kinds(
    source: Source, function: Callable[..., Any], hints: Mapping[str, Any]
) -> dict[str, Any]:
    """The types of the keyword-only parameters.

    Raises:
        ConfigError: The signature is not that of a metric.
    """
    parameters = [*inspect.signature(function).parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in positional:
        raise _error(f"{_of(source)} must take one argument: def {source.function}(sample, *, …)")
    kinds = {}
    for one in parameters[1:]:
        if one.kind is not inspect.Parameter.KEYWORD_ONLY:
            message = f"{one.name} must be keyword-only: def {source.function}(sample, *, …)"
            raise _error(f"{_of(source)}: the parameter {message}")
        kinds[one.name] = _checked(source, one, hints)
    return kinds


def _checked(source: Source, one: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    """The type of a parameter."""
    named = f"{_of(source)}: the parameter {one.name}"
    if one.name in _TAKEN:
        raise _error(f"{named} must be called otherwise: configs have that key already")
    if one.name not in hints:
        raise _error(f"{named} needs a type, as {one.name}: str")
    if not _is_supported(hints[one.name]):
        raise _error(f"{named} has an unsupported type; there are {_KINDS}")
    if one.default is inspect.Parameter.empty:
        raise _error(f"{named} needs a default")
    try:
        TypeAdapter(hints[one.name]).validate_python(one.default, strict=True)
    except ValidationError:
        raise _error(f"{named} has a default of another type: {one.default!r:.60}") from None
    return hints[one.name]


def _is_supported(kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (list, tuple):
        return all(one is Ellipsis or _is_supported(one) for one in inner)
    if origin in (Union, UnionType):
        return all(map(_is_supported, inner))
    if origin is Literal:
        return all(isinstance(one, (str, int, bool, NoneType)) for one in inner)
    return kind in (str, int, float, bool, NoneType)


def _of(source: Source) -> str:
    return f"{source.function} in {source.file}"


def _error(message: str) -> ConfigError:
    return ConfigError(Problem("", message))
