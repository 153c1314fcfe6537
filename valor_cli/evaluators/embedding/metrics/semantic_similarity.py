"""Semantic similarity of a response and its reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.embedding.sentence_pairs import Compared, Pair, compared, paired
from valor_cli.evaluators.model_metrics import ModelTexts, each_once
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import ByParameters, Metric, ModelKind, Output
from valor_cli.models.protocols import Classifier
from valor_cli.models.protocols import Pair as Asked
from valor_cli.models.settings import ModelName

CROSS_ENCODER = "cross-encoder/stsb-roberta-base"
"""Asked where the config names no other; the STS benchmark taught it to rate pairs from 0 to 1."""

_WHOLE = ("response", "references")


def semantic_similarity(
    texts: ModelTexts,
    *,
    method: Literal["embedding", "cross_encoder"] = "embedding",
    model: ModelName | None = None,
) -> Outcomes:
    """Cosine of the response and reference vectors; the best reference counts.

    The cosine may be negative, and is not clipped. It does not see contradiction: "a rise of 15 %"
    and "a fall of 15 %" are near each other.

    With `method: cross_encoder` a model reads both texts at once and rates them, 0 to 1: `model`,
    a folder or an id of the Hugging Face hub, cross-encoder/stsb-roberta-base where none is named.
    Of texts longer than its window each part of the response has the best part of the reference,
    and the worst part of the response counts.

    Formula:
        value = max over references of cos(response, reference)
        cos(a, b) = a · b / (|a| · |b|), of the vectors of both texts
        method cross_encoder: max over references of the model's rating

    Pitfalls:
        The scale is the model's: unrelated texts have 0.1 under one embedder and more than 0.75
        under another, so compare runs and thresholds under one model only. A shared subject weighs
        more than what is said of it. Of a text longer than the embedder sees, the end does not
        count.

    Example:
        The vectors (1, 0) and (0.6, 0.8) have the cosine 1 · 0.6 + 0 · 0.8 = 0.6; with a second
        reference at 0.3 the value stays 0.6.

    Raises:
        ConfigError: The model has several labels, and rates nothing.
    """
    pairs = paired(texts, "response", "references", whole=_WHOLE)
    if method == "cross_encoder":
        rater = texts.models.classifier(model or CROSS_ENCODER, "semantic_similarity")
        return Outcomes.of(_rated(rater, pairs), ["value"], beside=rater.identity.beside)
    found = [
        one if isinstance(one, Outcome) else _best(one, one.nearest[0])
        for one in compared(texts, pairs)
    ]
    return Outcomes.of(found, ["value"], beside=texts.models.embedder.beside)


def _rated(rater: Classifier, pairs: Sequence[Pair | Outcome]) -> list[Outcome]:
    """The cross-encoder's score of each pair; equal pairs are scored once."""
    if len(rater.labels) != 1:
        raise ConfigError(
            Problem(
                "semantic_similarity",
                f"a model with one label is needed, and {rater.identity.name} has "
                f"{len(rater.labels)}: {', '.join(rater.labels[:5])}",
            ),
            hint=f"name a cross-encoder for sentence similarity, such as {CROSS_ENCODER}",
        )
    rates = each_once(
        (
            Asked(other.text, pair.one.text)
            for pair in pairs
            if isinstance(pair, Pair)
            for other in pair.others
        ),
        lambda some: (
            float(windows[:, :, 0].max(axis=1).min()) for windows in rater.of_pairs(some)
        ),
    )
    return [
        pair
        if isinstance(pair, Outcome)
        else _best(
            pair, np.array([rates[Asked(other.text, pair.one.text)] for other in pair.others])
        )
        for pair in pairs
    ]


def _best(pair: Pair | Compared, alike: np.ndarray[Any, np.dtype[np.float64]]) -> Outcome:
    """The outcome by the best reference; the first of equal ones."""
    best = int(alike.argmax())
    number = pair.others[best].number
    return Outcome({"value": float(alike[best])}, details={"reference": number} if number else None)


def _asks(parameters: Mapping[str, Any]) -> tuple[ModelKind, ...]:
    return ("classifier",) if parameters["method"] == "cross_encoder" else ("embedder",)


SEMANTIC_SIMILARITY = Metric(
    name="semantic_similarity",
    measure=semantic_similarity,
    compute=mean_of_samples,
    reference="sentence_transformers.util.cos_sim; sentence_transformers.CrossEncoder.predict",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    outputs=(Output(bounds=(-1, 1)),),
    needs=("response", "references"),
    by_parameters=ByParameters(asks=_asks),
    threshold=0.75,
    aliases=("SemanticSimilarity", "Answer Semantic Similarity Evaluator"),
)
