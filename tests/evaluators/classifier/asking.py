"""Metrics, samples and probabilities in; what the metrics find out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_samples import outcome
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.metric import Metric
from valor_cli.models.protocols import Classifier, ModelIdentity, Pair


@dataclass
class GivenClassifier:
    """A classifier that has been told what to find, as lists of windows.

    Attributes:
        texts: By text, (windows, labels).
        pairs: By premise and hypothesis, (windows of the hypothesis, of the premise, labels).
        calls: What it was asked at a time.
    """

    labels: tuple[str, ...]
    texts: Mapping[str, Any] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    exclusive: bool = True
    window: int = 512
    identity: ModelIdentity = field(default=ModelIdentity("given", "4" * 64))
    calls: list[list[Any]] = field(default_factory=list)

    def of_texts(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        self.calls.append(list(texts))
        return [np.array(self.texts[text], np.float64) for text in texts]

    def of_pairs(self, pairs: Sequence[Pair]) -> list[NDArray[np.float64]]:
        self.calls.append(list(pairs))
        return [np.array(self.pairs[pair], np.float64) for pair in pairs]


def all_of(
    metric: Metric[Any], data: TextDataset, classifier: Classifier | None = None, **parameters: Any
) -> Outcomes:
    """What a metric finds of each sample, by a classifier, else by one that hashes texts."""
    classifiers = {} if classifier is None else {metric.name: classifier}
    texts = ModelTexts(data, ScriptedModels(classifiers=classifiers))
    assert metric.measure is not None
    found: Outcomes = metric.measure(texts, **parameters)
    return found


def each_of(
    metric: Metric[Any], data: TextDataset, classifier: Classifier | None = None, **parameters: Any
) -> list[Outcome]:
    """The same, sample by sample."""
    found = all_of(metric, data, classifier, **parameters)
    return [outcome(found, at) for at in range(data.unit_count)]


def one_of(
    metric: Metric[Any], data: TextDataset, classifier: Classifier | None = None, **parameters: Any
) -> Outcome:
    """Of the only sample."""
    (found,) = each_of(metric, data, classifier, **parameters)
    return found
