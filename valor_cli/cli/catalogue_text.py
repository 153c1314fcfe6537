"""Format metric declarations as a listing, a full entry, or JSON."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, get_args, get_origin

import yaml
from pydantic import BaseModel

from valor_cli.cli.output import width_of
from valor_cli.metric import Call, Metric, Output, Task

Entries = Sequence[tuple[Task[Any], Metric[Any]]]

WIDTH = 100
SHOWN = 2
"""Parameters that the line for a config has."""
LONGEST = 40
"""Characters of a default that it shows."""


NEEDS: Mapping[str, str] = {
    "references": "Compared with references",
    "rules": "Rules on the response alone",
    "embedder": "An embedder, on this machine by default",
    "language model": "A language model (language_model:)",
    "classifier": "A classifier on this machine",
    "judge": "A judge (judge:)",
}
"""What a metric takes beside the samples; of several, the last one here."""


def listing(entries: Entries) -> str:
    """One line per metric, grouped by task and by what it needs."""
    width = max((len(metric.name) for _, metric in entries), default=0)
    lines: list[str] = []
    for _, group in groupby(entries, lambda entry: entry[0].name):
        listed = list(group)
        task = listed[0][0]
        lines += [f"{task.name}: {task.description}"]
        by_need: dict[str, list[Metric[Any]]] = {need: [] for need in NEEDS}
        for _, metric in listed:
            by_need[_need(metric)].append(metric)
        # Of a task whose metrics need nothing beside the data there is one group.
        grouped = any(asked_by(metric) for _, metric in listed)
        for need, metrics in by_need.items():
            lines += ["", f" {NEEDS[need]}:"] if grouped and metrics else []
            for metric in metrics:
                star = "*" if metric.name in task.defaults else " "
                lines.append(f" {star} {metric.name:<{width}}  {metric.description}")
        lines.append("")
    return "\n".join([*lines, "* computed by default, if the config lists no metrics"])


def _need(metric: Metric[Any]) -> str:
    asked = [name for name in NEEDS if name in asked_by(metric)]
    return asked[-1] if asked else "references" if "references" in metric.needs else "rules"


def shared(entries: Entries) -> list[tuple[Metric[Any], list[Task[Any]]]]:
    """Every metric once, with all of its tasks."""
    tasks: dict[int, tuple[Metric[Any], list[Task[Any]]]] = {}
    for task, metric in entries:
        tasks.setdefault(id(metric), (metric, []))[1].append(task)
    return list(tasks.values())


def explained(tasks: Sequence[Task[Any]], metric: Metric[Any]) -> str:
    """The full entry of one metric for these tasks."""
    parts = [f"{metric.name} ({', '.join(task.name for task in tasks)})", metric.description]
    parts += [_filled(paragraph) for paragraph in metric.explanation]
    if metric.formula:
        parts.append("Formula:\n" + textwrap.indent(metric.formula, "  "))
    if metric.outputs:
        wide = max(12, *(len(output.name) + 2 for output in metric.outputs))
        lines = [f"  {output.name:<{wide}}{_range(output)}" for output in metric.outputs]
        parts.append("\n".join(["Outputs (the first is primary):", *lines]))
    else:
        parts.append(f"Gives {drawn(metric)}.")
    if metric.parameters:
        lines = [
            f"  {parameter.name}: {kind_name(parameter.kind)} = {_shown(parameter.default)}"
            + limits(parameter.kind)
            for parameter in metric.parameters
        ]
        parts.append("\n".join(["Parameters:", *lines]))
    for heading, told in (("Pitfalls", metric.pitfalls), ("Example", metric.example)):
        if told:
            parts.append(_filled(f"{heading}: {told}"))
    parts.append(f"In a config: {in_config(metric)}")
    facts = [f"Needs: {', '.join(needed_by(metric))}"]
    if asked := asked_by(metric):
        facts.append(f"Asks: {', '.join(asked)}")
    facts.append(f"Reference: {metric.reference}")
    if metric.citation:
        facts.append(f"Citation: {metric.citation}")
    if metric.aliases:
        facts.append(f"Also known as: {', '.join(metric.aliases)}")
    threshold = "none" if metric.threshold is None else str(metric.threshold)
    facts.append(f"Default threshold: {threshold}")
    facts.append(f"Reproducible: {'yes' if metric.reproducible else 'no'}")
    return "\n\n".join([*parts, "\n".join(facts)])


def _filled(text: str) -> str:
    """A paragraph as wide as a reader likes, or as the terminal."""
    return textwrap.fill(text, min(WIDTH, width_of(sys.stdout) or WIDTH))


def as_json(entries: Entries) -> str:
    """The entries as a JSON list."""
    return json.dumps([_entry(task, metric) for task, metric in entries], indent=2)


def _entry(task: Task[Any], metric: Metric[Any]) -> dict[str, Any]:
    return {
        "name": metric.name,
        "task": task.name,
        "wing": metric.declared.__module__.removeprefix("valor_cli.evaluators.").split(".")[0],
        "aliases": list(metric.aliases),
        "needs": list(metric.needs),
        "asks": asked_by(metric),
        "outputs": [
            {
                "name": output.name,
                "unit": output.unit,
                "range": list(output.bounds),
                "direction": output.better,
                "primary": at == 0,
            }
            for at, output in enumerate(metric.outputs)
        ],
        "parameters": [
            {"name": p.name, "type": kind_name(p.kind), "default": p.default}
            for p in metric.parameters
        ],
        "threshold": metric.threshold,
        "reproducible": metric.reproducible,
        "reference": metric.reference,
        "citation": metric.citation,
        "description": metric.description,
        "explanation": list(metric.explanation),
        "formula": metric.formula,
        "pitfalls": metric.pitfalls,
        "example": metric.example,
        "config": in_config(metric),
    }


def in_config(metric: Metric[Any]) -> str:
    """The config line of a metric, with its first parameters at their defaults.

    Those that are null, empty or long are passed over.
    """
    shown: dict[str, Any] = {}
    for parameter in metric.parameters:
        default = json.loads(json.dumps(parameter.default))
        if default not in (None, []) and len(_flow(default)) <= LONGEST and len(shown) < SHOWN:
            shown[parameter.name] = default
    return f"metrics: {_flow([{metric.name: shown} if shown else metric.name])}"


def _flow(value: Any) -> str:
    """A value as YAML writes it on one line."""
    # A scalar that stands alone is followed by the mark of a document's end.
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf
    )
    return text.removesuffix("...\n").rstrip("\n")


def needed_by(metric: Metric[Any]) -> list[str]:
    """The inputs that a metric reads, in words."""
    more = metric.by_parameters.needs is not None
    return [*metric.needs, *(("depends on its parameters",) if more else ())]


def asked_by(metric: Metric[Any]) -> list[str]:
    """The kinds of models that a metric uses with its default parameters."""
    call = Call(metric, {one.name: one.default for one in metric.parameters})
    return [kind.replace("_", " ") for kind in call.asks]


def drawn(metric: Metric[Any]) -> str:
    """The output of a metric without numbers."""
    return "a table of labels by labels" if metric.draws == "table" else "a curve per label"


def _range(output: Output) -> str:
    low, high = output.bounds
    top = "∞" if high is None else f"{high:g}"
    better = f"{output.better} is better" if output.better else "no direction"
    return f"{low:g} … {top} ({output.unit}), {better}"


def kind_name(kind: Any) -> str:
    """A parameter's type: "number", "list of numbers", "macro | micro"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return kind_name(inner[0])
    if origin is tuple:
        name = kind_name(inner[0])
        return f"list of {name}" if "|" in name else f"list of {name}s"
    if origin is Mapping:
        return f"{{label: {kind_name(inner[1])}}}"
    if str(origin) == "typing.Literal":
        return " | ".join(map(str, inner))
    if origin is dict:
        return "mapping"
    if inner:
        return " | ".join(dict.fromkeys(map(kind_name, inner)))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "mapping"
    names = {
        float: "number",
        int: "whole number",
        str: "text",
        bool: "true | false",
        dict: "mapping",
        Any: "any value",
    }
    return names.get(kind, "null" if kind is type(None) else str(kind))


def limits(kind: Any) -> str:
    """The range of a numeric type, ", above 0, at most 1"; empty if unlimited."""
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    found = [
        f", {word} {value:g}"
        for constraint in getattr(kind, "__metadata__", ())
        for name, word in words.items()
        if (value := getattr(constraint, name, None)) is not None
    ]
    return "".join([*found, *(limits(inner) for inner in get_args(kind) if inner is not kind)])


def _shown(default: Any) -> str:
    return json.dumps(list(default) if isinstance(default, tuple) else default)
