"""A config to a plan: which metrics to compute, and what their evidence must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from valor_cli import catalogue
from valor_cli.config import RunConfig
from valor_cli.metric import Call, Task, Wing


@dataclass(frozen=True, slots=True)
class WingPlan:
    """The calls one wing answers, and what its evidence must hold for them."""

    wing: Wing[Any, Any]
    calls: tuple[Call, ...]
    needs: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is ready to start."""

    config: RunConfig
    task: Task[Any]
    wings: tuple[WingPlan, ...]


def make_plan(config: RunConfig) -> Plan:
    """Decide what a config asks to compute, in the order of the catalogue.

    Metrics that only a gate names are computed with their defaults.
    """
    task = catalogue.task(config.task)
    asked = [(request.name, request.parameters) for request in config.metrics or ()]
    if config.metrics is None:
        asked = [(name, {}) for name in task.defaults]
    listed = {name for name, _ in asked}
    asked += [
        (name, {})
        for name in dict.fromkeys(gate.metric for gate in config.gates)
        if name not in listed
    ]
    keys = [request.key for request in config.slices]
    wings = []
    for wing in task.wings:
        calls = tuple(
            Call(metric, _complete(task, name, given))
            for metric in wing.metrics
            for name, given in asked
            if name == metric.name
        )
        if calls:
            wings.append(WingPlan(wing, calls, wing.plan(calls, keys)))
    return Plan(config, task, tuple(wings))


def _complete(task: Task[Any], metric: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with every default filled in."""
    return dict(catalogue.parameters(task.name, metric).model_validate(dict(given)))
