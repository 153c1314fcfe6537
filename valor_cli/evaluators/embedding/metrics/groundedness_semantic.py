"""Semantic groundedness: similarity of each response sentence to the retrieved contexts."""

from __future__ import annotations

from functools import partial

from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.embedding.worst_sentence import (
    mean_with_worst_sentence,
    with_worst_sentence,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

KIND = "least grounded"


def groundedness_semantic(texts: ModelTexts) -> Outcomes:
    """Cosine of the least grounded response sentence with its nearest context sentence.

    That is the lowest, over the sentences of the response, of the highest cosine with any sentence
    of any context. It may be negative, and is not clipped. A sentence that contradicts the context
    is near it, too. The least grounded sentence is kept with the sample.

    Formula:
        n(s) = max over sentences t of all contexts of cos(s, t)
        value = min over sentences s of the response of n(s)

    Pitfalls:
        Nearness, not entailment: a sentence with a wrong number on the right subject is near its
        source. A "Hope this helps!" is a sentence too and decides the value, and responses of more
        sentences have a lower minimum: compare them at similar lengths.

    Example:
        Three sentences whose nearest ones have the cosines 0.9, 0.8 and 0.3: 0.3.
    """
    pairs = paired(texts, "response", "retrieved_contexts")
    return by_sentences(texts, pairs, partial(_outcome, texts))


def _outcome(texts: ModelTexts, found: Compared) -> Outcome:
    grounded = found.nearest.max(axis=1)
    worst = int(grounded.argmin())
    chunk = int(found.nearest[worst].argmax())
    return with_worst_sentence(
        texts,
        (found.one, found.one.spans[worst]),
        (found.others[chunk], found.nearest_span(worst, chunk)),
        float(grounded[worst]),
        KIND,
    )


def _findings(sampled: Sampled) -> Findings:
    return mean_with_worst_sentence(sampled, KIND)


GROUNDEDNESS_SEMANTIC = Metric(
    name="groundedness_semantic",
    measure=groundedness_semantic,
    compute=_findings,
    outputs=(Output(bounds=(-1, 1)),),
    reference="H2O Sonar's Groundedness (Semantic Similarity) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    needs=("response", "retrieved_contexts"),
    asks=("embedder",),
    threshold=0.75,
    aliases=(
        "GroundednessSemantic",
        "Groundedness Evaluator",
        "Groundedness (Semantic Similarity) Evaluator",
    ),
)
