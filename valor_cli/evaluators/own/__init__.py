"""Own wing: functions of the user's as metrics of text samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.own.composites import (
    completed,
    composite_metric,
    part_problems,
    with_thresholds,
)
from valor_cli.evaluators.own.function import OwnFunction
from valor_cli.evaluators.own.loading import load_metric
from valor_cli.evaluators.samples.evidence import SampleEvidence, sample_wing
from valor_cli.metric import Metric, Wing

__all__ = [
    "composite_metric",
    "load_metric",
    "own_wing",
    "part_problems",
    "sources_of",
    "with_thresholds",
]


def own_wing(metrics: Sequence[Metric[Any]]) -> Wing[TextDataset, SampleEvidence]:
    """The wing of the own metrics of a run."""
    return replace(sample_wing(*metrics), complete=completed)


def sources_of(metrics: Sequence[Metric[Any]]) -> dict[str, str]:
    """By name of an own metric, its function and the SHA-256 of the file."""
    return {
        one.name: f"{one.measure.source.called} sha256:{one.measure.source.sha256}"
        for one in metrics
        if isinstance(one.measure, OwnFunction)
    }
