"""What metrics, wings and tasks are: the contracts between evaluators and the pipeline."""

from __future__ import annotations

from valor_cli.metric.definition import ByParameters, Call, Metric, MissingConfig, ModelKind, Output
from valor_cli.metric.evidence import Dataset, Evidence
from valor_cli.metric.evidence_counts import EvidenceCounts
from valor_cli.metric.loading import (
    METADATA,
    Loaded,
    ModelUsage,
    OneSided,
    Selection,
    Stream,
    Survey,
    written,
)
from valor_cli.metric.measure import Measure
from valor_cli.metric.task import Asking, NoOptions, RunTerms, Task
from valor_cli.metric.wing import Wing, in_one_part

__all__ = [
    "METADATA",
    "Asking",
    "ByParameters",
    "Call",
    "Dataset",
    "Evidence",
    "EvidenceCounts",
    "Loaded",
    "Measure",
    "Metric",
    "MissingConfig",
    "ModelKind",
    "ModelUsage",
    "NoOptions",
    "OneSided",
    "Output",
    "RunTerms",
    "Selection",
    "Stream",
    "Survey",
    "Task",
    "Wing",
    "in_one_part",
    "written",
]
