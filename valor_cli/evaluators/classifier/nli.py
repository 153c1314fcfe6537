"""NLI of each response sentence against its document.

NLI is natural language inference: whether a premise entails a hypothesis, or contradicts it. Here
sentences of the document are premises, those of the response hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from valor_cli.evaluators.classifier.labels import Inference, inference_labels
from valor_cli.evaluators.classifier.sentences import (
    Limits,
    Place,
    Source,
    SummarySentences,
    summary_sentences,
)
from valor_cli.evaluators.model_metrics import ModelTexts, each_once
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.vectors.summac import Floats, Support
from valor_cli.models.protocols import ModelIdentity, Pair
from valor_cli.results import Findings, Mark

NLI = "tals/albert-xlarge-vitaminc-mnli"
"""The model that SummaC's authors recommend."""

LEFT_OUT = "sentences_left_out"
"""What details call how many sentences are beyond the most that are looked at."""


class Compared(Struct, frozen=True):
    """A response with its document.

    Attributes:
        sentences: Of the response.
        support: (sentences of the response,) what the document says of each.
        window_of: Of each of them, the sentence of the document that each window of `support` is
            of.
        left_out: Sentences of either that are beyond the most that are looked at.
    """

    sentences: tuple[Place, ...]
    support: tuple[Support, ...]
    window_of: tuple[tuple[Place, ...], ...]
    left_out: int

    def outcome(self, value: float, values: Sequence[float], best: Sequence[int]) -> Outcome:
        """The outcome of the sample.

        Args:
            value: Of the response.
            values: Of each of its sentences.
            best: The window of the document that each of them rests on.
        """
        places = [windows[at] for windows, at in zip(self.window_of, best, strict=True)]
        details: dict[str, Any] = {
            "sentences": [
                {
                    "value": one,
                    "start": own.start,
                    "end": own.end,
                    "document": {"field": place.field, "start": place.start, "end": place.end},
                }
                for one, own, place in zip(values, self.sentences, places, strict=True)
            ]
        }
        if self.left_out:
            details[LEFT_OUT] = self.left_out
        least = int(np.argmin(values))
        marks: tuple[Mark, ...] = (
            self.sentences[least].mark("least supported"),
            places[least].mark("nearest to it"),
        )
        return Outcome({"value": value}, details=details, marks=marks)


def compared(
    texts: ModelTexts, metric: str, model: str, source: Source, limits: Limits
) -> tuple[list[Compared | Outcome], ModelIdentity]:
    """Each response with its document, or an outcome that says why it cannot be compared.

    The model is asked once, about distinct pairs of sentences, for all metrics with equal settings.

    Args:
        texts: The samples, and the models.
        metric: Who asks, for messages.
        model: Of natural language inference.
        source: What is the document.
        limits: Which sentences are looked at.

    Raises:
        Unavailable: The model is not on this machine.
        ConfigError: The meaning of its labels is unknown.
    """
    return texts.once(
        ("nli", model, source, limits), lambda: _compared(texts, metric, model, source, limits)
    )


def _compared(
    texts: ModelTexts, metric: str, model: str, source: Source, limits: Limits
) -> tuple[list[Compared | Outcome], ModelIdentity]:
    classifier = texts.models.classifier(model, metric)
    labels = inference_labels(classifier, metric)
    samples = summary_sentences(texts, source, limits)
    found = each_once(
        (pair for one in samples if isinstance(one, SummarySentences) for pair in one.pairs()),
        lambda some: (_two(one, labels) for one in classifier.of_pairs(some)),
    )
    return (
        [one if isinstance(one, Outcome) else _beside(one, found) for one in samples],
        classifier.identity,
    )


def _two(found: Floats, labels: Inference) -> tuple[Floats, Floats]:
    """Entailment and contradiction; rounding may have carried a probability beyond 1."""
    inside = found.clip(0.0, 1.0)
    return inside[:, :, labels.entailment], inside[:, :, labels.contradiction]


def _beside(own: SummarySentences, found: Mapping[Pair, tuple[Floats, Floats]]) -> Compared:
    support, window_of = [], []
    for _, sentence in own.response:
        pairs = [found[Pair(premise, sentence)] for _, premise in own.document]
        support.append(Support.of(pairs))
        window_of.append(
            tuple(
                place
                for (place, _), (entailed, _) in zip(own.document, pairs, strict=True)
                for _ in range(entailed.shape[1])
            )
        )
    return Compared(
        tuple(place for place, _ in own.response), tuple(support), tuple(window_of), own.left_out
    )


def mean_of_summaries(sampled: Sampled) -> Findings:
    """The mean over samples, with a warning if sentences were skipped."""
    return sampled.findings(sampled.means(), warnings=_warnings(sampled))


def _warnings(sampled: Sampled) -> Iterator[str]:
    counts = [one[LEFT_OUT] for one in sampled.outcomes.details if one and LEFT_OUT in one]
    if counts:
        yield (
            f"{sampled.metric.name}: {sum(counts):,} sentences of {len(counts):,} samples were not "
            "looked at: they are beyond the most that the config allows"
        )
