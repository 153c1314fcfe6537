"""Samples and scripted models in; what a metric finds out. Beside it loops that find the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from tests.oracles.text_models import ScriptedModels, ScriptedSession
from tests.oracles.text_samples import outcome
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.model_metrics import ModelTexts, gather, measured_evidence
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.metric import Call, Metric
from valor_cli.results import Findings


def outcomes_of(
    metric: Metric[Any], data: TextDataset, models: ScriptedModels, **parameters: Any
) -> Outcomes:
    """What a metric finds of each sample, its other parameters at their defaults."""
    call = _call(metric, parameters)
    assert metric.measure is not None
    found: Outcomes = metric.measure(ModelTexts(data, models), **call.parameters)
    return found


def each_outcome(
    metric: Metric[Any], data: TextDataset, models: ScriptedModels, **parameters: Any
) -> list[Outcome]:
    """The same, sample by sample."""
    found = outcomes_of(metric, data, models, **parameters)
    return [outcome(found, at) for at in range(data.unit_count)]


def findings_by(
    metric: Metric[Any],
    data: TextDataset,
    models: ScriptedModels,
    threshold: float | None = None,
    **parameters: Any,
) -> Findings:
    """What a metric reports of a data set, as a run has it."""
    call = _call(metric, parameters, threshold)
    gathered = gather({"m": data}, (call,), ScriptedSession(models))
    found = call.findings(measured_evidence(data, gathered["m"]))
    assert isinstance(found, Findings)
    return found


def _call(
    metric: Metric[Any], parameters: Mapping[str, Any], threshold: float | None = None
) -> Call:
    defaults = {one.name: one.default for one in metric.parameters}
    assert set(parameters) <= set(defaults), f"{metric.name} has {', '.join(defaults)}"
    return Call(metric, {**defaults, **parameters}, threshold)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in split_sentences(text)]


def cosine(models: ScriptedModels, one: str, other: str) -> float:
    """The cosine of the vectors of two texts, by its definition."""
    left, right = (list(map(float, row)) for row in models.embed([one, other]))
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    lengths = sqrt(sum(a * a for a in left)) * sqrt(sum(b * b for b in right))
    return dot / lengths if lengths else 0.0


def highest(models: ScriptedModels, one: str, others: Sequence[str]) -> float:
    """The highest cosine of a text with any of others."""
    best = -2.0
    for other in others:
        best = max(best, cosine(models, one, other))
    return best
