"""HHEM hallucination: whether the retrieved contexts support the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts, each_once
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.protocols import Pair
from valor_cli.models.settings import ModelName

Aggregate = Literal["max", "joined"]


def hallucination_hhem(
    texts: ModelTexts,
    *,
    model: ModelName = "vectara/hallucination_evaluation_model",
    aggregate: Aggregate = "max",
) -> Outcomes:
    """Probability that the response is consistent with a retrieved context (1: consistent).

    Despite its name, higher is better. With `aggregate: max` each context is compared with the
    response on its own, and the one that supports it best counts, as in H2O Sonar: of a response
    that rests on two contexts together, neither may do so. With `joined` all contexts are one
    text, with blank lines between them.

    Of a context longer than the model's window the best window counts; of a response, the worst.
    Blank contexts are left out.

    Formula:
        aggregate max: max over contexts of p(consistent | context, response)
        aggregate joined: p(consistent | all contexts, response)

    Pitfalls:
        Higher is better here, lower for the judge's `hallucination`. It is consistency with the
        contexts, not truth: a true statement that no context has counts against the response, and a
        wrong one that a context has counts for it.

    Example:
        Of two contexts the response is consistent with one at 0.1 and with the other at 0.8: 0.8.
    """
    classifier = texts.models.consistency(model, "hallucination_hhem")
    data = texts.data
    samples = list(zip(data.response, data.retrieved_contexts, strict=True))
    lacks = [
        missing_input("response", response) or missing_input("retrieved_contexts", contexts)
        for response, contexts in samples
    ]
    pairs = [
        [] if lack is not None else _pairs(response or "", contexts or (), aggregate)
        for lack, (response, contexts) in zip(lacks, samples, strict=True)
    ]
    scores = each_once(
        (pair for own in pairs for pair in own if pair is not None),
        lambda some: map(_score, classifier.of_pairs(some)),
    )
    return Outcomes.of(
        [
            _outcome(own, scores, aggregate) if lack is None else lack
            for lack, own in zip(lacks, pairs, strict=True)
        ],
        ["value"],
        beside=classifier.identity.beside,
    )


def _pairs(response: str, contexts: Sequence[str], aggregate: Aggregate) -> list[Pair | None]:
    """What is asked of a sample; None stands for a blank context."""
    if aggregate == "joined":
        return [Pair("\n\n".join(one for one in contexts if one.strip()), response)]
    return [Pair(one, response) if one.strip() else None for one in contexts]


def _score(found: NDArray[np.float64]) -> float:
    """Of (windows of the response, windows of the context, labels) probabilities."""
    return float(found[:, :, -1].min(axis=0).max())


def _outcome(
    pairs: Sequence[Pair | None], scores: Mapping[Pair, float], aggregate: Aggregate
) -> Outcome:
    own = [None if pair is None else scores[pair] for pair in pairs]
    best, value = max(
        ((at, score) for at, score in enumerate(own) if score is not None), key=lambda one: one[1]
    )
    details = {"contexts": own, "best": best} if aggregate == "max" else None
    return Outcome({"value": value}, details=details)


HALLUCINATION_HHEM = Metric(
    name="hallucination_hhem",
    measure=hallucination_hhem,
    compute=mean_of_samples,
    reference="vectara/hallucination_evaluation_model (HHEM-2.1-Open)",
    citation="Bao et al., HHEM-2.1-Open, 2024; H2O Sonar's Hallucination Evaluator",
    needs=("response", "retrieved_contexts"),
    asks=("classifier",),
    threshold=0.75,
    aliases=("Hallucination Evaluator", "HHEM"),
)
