"""Evaluate the outputs of vision and language models from files.

    from valor_cli import evaluate
    result = evaluate("configs/object_detection.yaml")

Names in `__all__` are imported on first use, to keep the program's start short.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from valor_cli.api import compare, evaluate, read_run, rows
    from valor_cli.errors import (
        ConfigError,
        DataError,
        JudgeError,
        MissingExtraError,
        ValorError,
    )
    from valor_cli.evaluators.own.declaration import column_metric, evidence_metric, sample_metric
    from valor_cli.evaluators.own.sample import Sample
    from valor_cli.metric import EvidenceCounts
    from valor_cli.results import ComparedRuns, MetricResult, RunResult

__version__ = "0.1.0"

__all__ = [
    "ComparedRuns",
    "ConfigError",
    "DataError",
    "EvidenceCounts",
    "JudgeError",
    "MetricResult",
    "MissingExtraError",
    "RunResult",
    "Sample",
    "ValorError",
    "__version__",
    "column_metric",
    "compare",
    "evaluate",
    "evidence_metric",
    "read_run",
    "rows",
    "sample_metric",
]

_ROOMS = {
    "api": ("compare", "evaluate", "read_run", "rows"),
    "errors": ("ConfigError", "DataError", "JudgeError", "MissingExtraError", "ValorError"),
    "evaluators.own.declaration": ("column_metric", "evidence_metric", "sample_metric"),
    "evaluators.own.sample": ("Sample",),
    "metric": ("EvidenceCounts",),
    "results": ("ComparedRuns", "MetricResult", "RunResult"),
}


def __getattr__(name: str) -> Any:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"valor_cli.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
