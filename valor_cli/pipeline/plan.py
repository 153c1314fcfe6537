"""Plan a run: which metrics to compute, and which evidence they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from valor_cli import catalogue
from valor_cli.config import MetricRequest, RunConfig
from valor_cli.errors import ConfigError, Problem
from valor_cli.metric import Call, Metric, MissingConfig, ModelKind, Task, Wing, written


class WingPlan(Struct, frozen=True):
    """The calls of one wing, and the evidence they need."""

    wing: Wing[Any, Any]
    calls: tuple[Call, ...]
    needs: Any

    def asks(self, kind: ModelKind) -> bool:
        """Whether a call uses models of that kind."""
        return any(kind in call.asks for call in self.calls)


class Plan(Struct, frozen=True):
    """A run that is ready to start."""

    config: RunConfig
    task: Task[Any]
    wings: tuple[WingPlan, ...]
    warnings: tuple[str, ...] = ()


def make_plan(config: RunConfig) -> Plan:
    """Decide what a config asks to compute.

    Metrics that only a gate names are computed with their defaults; so is that of single samples
    where slices are to be searched.

    Raises:
        ConfigError: A metric asks a model, or needs a file, that the config does not name.
    """
    return _planned(config, catalogue.task(config.task))


def settled(plan: Plan) -> Plan:
    """The plan for the kind of data that its inputs hold.

    Raises:
        ConfigError: A metric is not for such data.
    """
    if plan.task.variant is None:
        return plan
    data, task = plan.task.variant(plan.config.data)
    plan = _planned(plan.config.model_copy(update={"data": data}), task)
    _check_lacks(
        task, [call for part in plan.wings for call in part.calls], plan.config, task.lacks
    )
    return plan


def _planned(config: RunConfig, task: Task[Any]) -> Plan:
    if config.own:
        # Runs without any do not import it.
        from valor_cli.evaluators.own import with_own

        task = with_own(task, config.own)
    metrics = {metric.name: metric for metric in task.metrics}
    calls = [
        Call(
            metrics[request.name],
            _parameters(request, task),
            request.threshold,
            threshold_given=request.threshold_given,
        )
        for request in config.metrics or ()
    ]
    named = list(task.defaults) if config.metrics is None else []
    named += [gate.metric for gate in config.gates if gate.metric and not gate.request]
    listed = {call.metric.name for call in calls}
    calls += [
        _by_default(metrics[name], task) for name in dict.fromkeys(named) if name not in listed
    ]
    calls += _for_gates(config, metrics, task, calls)
    if config.slice_search is not None and task.by_sample not in (None, *listed, *named):
        calls.append(_of_samples(metrics[str(task.by_sample)], task, calls))
    _check_lacks(task, calls, config, {})
    told: dict[str, None] = dict.fromkeys(config.notes)
    if task.asking is not None:
        tuned = [task.asking.tuned(config.options, call) for call in calls]
        calls = [call for call, _ in tuned]
        told |= dict.fromkeys(warning for _, warning in tuned if warning is not None)
    if any(call.parts for call in calls):
        calls = _with_parts(calls, config)
    return Plan(config, task, _wings(task, calls, config), tuple(told))


def _with_parts(calls: Sequence[Call], config: RunConfig) -> list[Call]:
    """The calls, after checking that metrics made of others have them.

    Raises:
        ConfigError: One is not listed, or does not pass or fail a sample.
    """
    from valor_cli.evaluators.own import part_problems, with_thresholds

    at = {request.name: request.index for request in config.metrics or ()}
    problems = [
        Problem(config.place("metrics", at[call.metric.name]), f"{call.metric.name} {message}")
        for call in calls
        for message in part_problems(call, calls)
    ]
    if problems:
        raise ConfigError(problems)
    return [with_thresholds(call, calls) for call in calls]


def _for_gates(
    config: RunConfig, metrics: Mapping[str, Metric[Any]], task: Task[Any], calls: Sequence[Call]
) -> list[Call]:
    """The calls that gates on names such as mAP@0.75 need, and nothing else makes."""
    found: list[Call] = []
    for gate in config.gates:
        if not gate.request or gate.metric is None:
            continue
        others = [one for one in (*calls, *found) if one.metric.name == gate.metric]
        if any(
            all(_covers(one.parameters.get(name), value) for name, value in gate.request.items())
            for one in others
        ):
            continue
        call = _by_default(metrics[gate.metric], task)
        found.append(replace(call, parameters={**call.parameters, **gate.request}))
    return found


def _covers(given: Any, needed: Any) -> bool:
    """Whether a parameter has a value, or all of a list."""
    if isinstance(needed, list | tuple) and isinstance(given, list | tuple):
        return set(needed) <= set(given)
    return bool(given == needed)


def _parameters(request: MetricRequest, task: Task[Any]) -> Mapping[str, Any]:
    """The parameters of a metric that the config lists."""
    own = request.parameters.items()
    return {
        name: value if name in request.given else task.instead.get(name, value)
        for name, value in own
    }


def _check_lacks(
    task: Task[Any], calls: Sequence[Call], config: RunConfig, lacks: Mapping[str, MissingConfig]
) -> None:
    """Check that the config names everything that its metrics require, and the data has it.

    Args:
        task: The task.
        calls: The metrics.
        config: Where they are listed.
        lacks: What the data cannot give of their needs.
    """
    problems = []
    listed: dict[tuple[str, str], int] = {}
    for request in config.metrics or ():
        key = request.name, repr(_parameters(request, task))
        if listed.setdefault(key, request.index) != request.index:
            message = f"the same metric with the same parameters as metrics.{listed[key]}"
            problems.append(Problem(config.place("metrics", request.index), message))
    hints: dict[str, None] = {}
    for call in calls:
        missing = call.missing_config
        if missing is None and task.asking is not None:
            missing = task.asking.missing_config(config.options, call)
        missing = missing or _lacking(call, lacks)
        if missing is None:
            continue
        at = listed.get((call.metric.name, repr(call.parameters)))
        parts = ("gates",) if at is None else ("metrics", at)
        problems.append(Problem(config.place(*parts), f"{call.metric.name} {missing.message}"))
        hints[missing.hint] = None
    if problems:
        raise ConfigError(problems, hint="\n".join(hints))


def _lacking(call: Call, lacks: Mapping[str, MissingConfig]) -> MissingConfig | None:
    """The first thing that a call needs and the data cannot give."""
    set_to = (
        f"{name}: {written(value)}"
        for name, value in call.parameters.items()
        if isinstance(value, bool)
    )
    return next((lacks[need] for need in (*call.needs, *set_to) if need in lacks), None)


def without(plan: Plan, missing: frozenset[str]) -> Plan:
    """The plan without the default metrics whose inputs are missing."""
    kept = [
        call
        for part in plan.wings
        for call in part.calls
        if not missing.intersection(call.needs) or not is_optional(plan, call)
    ]
    searched = plan.task.by_sample if plan.config.slice_search is not None else None
    if searched is not None and searched not in {call.metric.name for call in kept}:
        metrics = {metric.name: metric for metric in plan.task.metrics}
        lesser = _of_samples(metrics[searched], plan.task, kept)
        kept += () if missing.intersection(lesser.needs) else (lesser,)
    return replace(plan, wings=_wings(plan.task, kept, plan.config))


def is_optional(plan: Plan, call: Call) -> bool:
    """Whether a call is made only as a default or for a slice search, and may be left out."""
    gated = {gate.metric for gate in plan.config.gates}
    named = {request.name for request in plan.config.metrics or ()}
    searched = plan.config.slice_search is not None and call.metric.name == plan.task.by_sample
    made = plan.config.metrics is None or (searched and call.metric.name not in named)
    return made and call.metric.name not in gated


def _wings(task: Task[Any], calls: Sequence[Call], config: RunConfig) -> tuple[WingPlan, ...]:
    """The calls grouped by wing, in their order."""
    keys = [request.key for request in config.slices if request.search is None]
    wings = []
    for wing in task.wings:
        names = {metric.name for metric in wing.metrics}
        own = tuple(call for call in calls if call.metric.name in names)
        if own:
            wings.append(WingPlan(wing, own, wing.plan(own, keys)))
    return tuple(wings)


def _by_default(metric: Metric[Any], task: Task[Any]) -> Call:
    """A metric with every parameter as its function's signature, or the task, has it."""
    parameters = {one.name: task.instead.get(one.name, one.default) for one in metric.parameters}
    return Call(metric, parameters, metric.threshold)


def _of_samples(metric: Metric[Any], task: Task[Any], others: Sequence[Call]) -> Call:
    """The metric of single samples that slices are searched by, as its signature has it.

    It asks no more of the files than the other calls do, where a switch of it can be turned off.
    """
    call = _by_default(metric, task)
    needed = {need for other in others for need in other.needs}
    for name, value in call.parameters.items():
        less = replace(call, parameters={**call.parameters, name: False})
        if (
            value is True
            and not needed.issuperset(call.needs)
            and set(less.needs) < set(call.needs)
        ):
            call = less
    return call
