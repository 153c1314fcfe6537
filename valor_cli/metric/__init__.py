"""What metrics, wings and tasks are: the contracts between evaluators and the pipeline."""

from __future__ import annotations

from valor_cli.metric.definition import ByParameters, Call, Lack, Metric, ModelKind, Output
from valor_cli.metric.evidence import Dataset, Evidence
from valor_cli.metric.loading import (
    METADATA,
    Loaded,
    OneSided,
    Selection,
    Spent,
    Stream,
    Survey,
    written,
)
from valor_cli.metric.task import Asking, NoOptions, Task, Terms
from valor_cli.metric.wing import Wing, in_one_part

__all__ = [
    "METADATA",
    "Asking",
    "ByParameters",
    "Call",
    "Dataset",
    "Evidence",
    "Lack",
    "Loaded",
    "Metric",
    "ModelKind",
    "NoOptions",
    "OneSided",
    "Output",
    "Selection",
    "Spent",
    "Stream",
    "Survey",
    "Task",
    "Terms",
    "Wing",
    "in_one_part",
    "written",
]
