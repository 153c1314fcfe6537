"""Own wing: functions of the user's as metrics, and metrics made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.own.columns import columns_of, ids_of
from valor_cli.evaluators.own.composites import (
    completed,
    composite_metric,
    part_problems,
    with_thresholds,
)
from valor_cli.evaluators.own.function import (
    ColumnEvidence,
    ColumnFunction,
    EvidenceFunction,
    OwnFunction,
)
from valor_cli.evaluators.own.loading import load_metric
from valor_cli.evaluators.samples.evidence import SampleEvidence, measure_samples, sample_wing
from valor_cli.evaluators.samples.outcomes import Texts
from valor_cli.metric import Call, Metric, Task, Wing

__all__ = [
    "composite_metric",
    "load_metric",
    "part_problems",
    "sources_of",
    "with_own",
    "with_thresholds",
]


def with_own(task: Task[Any], metrics: Sequence[Metric[Any]]) -> Task[Any]:
    """A task with the own metrics of a run, behind its own."""
    of_counts = [one for one in metrics if isinstance(one.compute, EvidenceFunction)]
    of_columns = [one for one in metrics if isinstance(one.compute, ColumnFunction)]
    of_samples = [one for one in metrics if one.measure is not None and not one.aliases]
    wings = [
        replace(
            wing,
            metrics=(
                *wing.metrics,
                *_renamed(wing, metrics),
                *(of_counts if wing.counted is not None else ()),
            ),
        )
        for wing in task.wings
    ]
    if of_columns:
        wings.append(_column_wing(of_columns))
    if of_samples:
        wings.append(
            replace(
                sample_wing(*of_samples),
                evidence=_measured,
                complete=completed,
                built_from="shards" if task.name == "text_generation" else "whole",
            )
        )
    primary = [(metric.name, output.name) for metric in metrics for output in metric.outputs[:1]]
    return replace(task, wings=tuple(wings), primary=(*task.primary, *primary))


def _renamed(wing: Wing[Any, Any], metrics: Sequence[Metric[Any]]) -> list[Metric[Any]]:
    """Metrics of a wing that the config has under a name of its own."""
    usual = {metric.name for metric in wing.metrics}
    return [one for one in metrics if usual & {*one.aliases}]


def _column_wing(metrics: Sequence[Metric[Any]]) -> Wing[Any, ColumnEvidence]:
    """A wing of functions of columns, which are of all data."""
    return Wing(
        metrics=tuple(metrics),
        plan=_no_plan,
        evidence=_columns,
        merge=_only,
        built_from="whole",
    )


def _no_plan(calls: Sequence[Call], slices: Sequence[str]) -> None:
    """Every call reads all columns."""


def _columns(data: Any, plan: None) -> ColumnEvidence:
    return ColumnEvidence(columns_of(data))


def _only(parts: Sequence[ColumnEvidence]) -> ColumnEvidence:
    (whole,) = parts
    return whole


def _measured(data: Any, calls: tuple[Call, ...]) -> SampleEvidence:
    """The outcomes of text samples, or of what else has columns."""
    if isinstance(data, TextDataset):
        return measure_samples(data, calls)
    texts = Texts(data)
    outcomes = [
        call.metric.measure(texts, **call.parameters) for call in calls if call.metric.measure
    ]
    ids = ids_of(data)
    return SampleEvidence.of_all(calls, tuple(outcomes), ids, np.arange(len(ids)))


def sources_of(metrics: Sequence[Metric[Any]]) -> dict[str, str]:
    """By name of an own metric, its function and the SHA-256 of the file."""
    found = {}
    for one in metrics:
        function: object = one.declared
        if isinstance(function, OwnFunction):
            found[one.name] = f"{function.source.called} sha256:{function.source.sha256}"
    return found
