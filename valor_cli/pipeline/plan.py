"""A config to a plan: which metrics to compute, and what their evidence must hold."""

from __future__ import annotations

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
    named = list(task.defaults) if config.metrics is None else []
    named += [gate.metric for gate in config.gates]
    listed = {name for name, _ in asked}
    asked += [(name, _defaults(task, name)) for name in dict.fromkeys(named) if name not in listed]
    keys = [request.key for request in config.slices]
    wings = []
    for wing in task.wings:
        calls = tuple(
            Call(metric, given)
            for metric in wing.metrics
            for name, given in asked
            if name == metric.name
        )
        if calls:
            wings.append(WingPlan(wing, calls, wing.plan(calls, keys)))
    return Plan(config, task, tuple(wings))


def _defaults(task: Task[Any], metric: str) -> dict[str, Any]:
    """Every parameter of a metric, as its function's signature has it."""
    return {one.name: one.default for one in catalogue.metric(task.name, metric).parameters}
