"""Log-probabilities by passage in; what metrics of likelihood make of them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracles.text_models import ScriptedModels, ScriptedSession
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.model_metrics import ModelTexts, gather, measured_evidence
from valor_cli.evaluators.samples.evidence import SampleEvidence
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.metric import Call, Metric
from valor_cli.models.protocols import Architecture, ModelIdentity, Passage
from valor_cli.results import STATUSES, Findings


@dataclass
class ToldModel:
    """A language model that says of each passage what it is told to."""

    said: Callable[[Passage], Sequence[float]]
    architecture: Architecture = "causal"
    context: int = 16
    cut: int = 0
    identity: ModelIdentity = field(default=ModelIdentity("told", "4" * 64))
    asked: list[list[Passage]] = field(default_factory=list)
    strides: list[int | None] = field(default_factory=list)

    def log_probabilities(
        self, passages: Sequence[Passage], *, stride: int | None = None
    ) -> list[NDArray[np.float64]]:
        self.asked.append(list(passages))
        self.strides.append(stride)
        return [np.array(self.said(one), np.float64) for one in passages]


def outcomes(metric: Metric[Any], data: TextDataset, model: Any, **parameters: Any) -> Outcomes:
    """What a metric finds of each sample."""
    assert metric.measure is not None
    found: Outcomes = metric.measure(ModelTexts(data, ScriptedModels(language=model)), **parameters)
    return found


def each(metric: Metric[Any], data: TextDataset, model: Any, **parameters: Any) -> list[Outcome]:
    """The outcome of each sample; undefined outputs are left out."""
    found = outcomes(metric, data, model, **parameters)
    return [
        Outcome(
            {
                name: float(column[at])
                for name, column in found.columns.items()
                if not np.isnan(column[at])
            },
            STATUSES[found.status[at]],
            found.reasons[at],
            found.details[at],
        )
        for at in range(data.unit_count)
    ]


def evidence(
    metric: Metric[Any], data: TextDataset, model: Any, **parameters: Any
) -> tuple[Call, SampleEvidence]:
    """The evidence of one call, and the call."""
    call = Call(metric, {**{one.name: one.default for one in metric.parameters}, **parameters})
    session = ScriptedSession(ScriptedModels(language=model))
    return call, measured_evidence(data, gather({"m": data}, (call,), session)["m"])


def findings(metric: Metric[Any], data: TextDataset, model: Any, **parameters: Any) -> Findings:
    """What the metric reports."""
    call, found = evidence(metric, data, model, **parameters)
    answer = call.findings(found)
    assert isinstance(answer, Findings)
    return answer


def values(found: Findings) -> dict[str, float | None]:
    """By output."""
    return {one.output: one.value for one in found.values}
