"""Soft context relevancy: similarity of the retrieved contexts to the question."""

from __future__ import annotations

from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output

OUTPUTS = (
    Output("recall", "higher", (-1, 1)),
    Output("precision", "higher", (-1, 1)),
)


def context_relevancy_soft(texts: ModelTexts) -> Outcomes:
    """Similarity of the question to the nearest sentence of each context: the highest (recall), and
    the mean over contexts (precision).

    The question is one text, however many sentences it has; blank contexts do not count. Cosines
    may be negative, and are not clipped.

    Formula:
        r(c) = max over sentences s of context c of cos(question, s)
        recall = max over contexts c of r(c)
        precision = mean over contexts c of r(c)

    Pitfalls:
        Not the recall and precision of retrieval: there is no ground truth, and nothing is said of
        what was not retrieved. A context that repeats the question comes nearer than one that
        answers it.

    Example:
        Contexts with 0.8, 0.5 and 0.2: recall 0.8, precision 1.5 / 3 = 0.5.
    """
    pairs = paired(texts, "user_input", "retrieved_contexts")
    return by_sentences(texts, pairs, _outcome, [output.name for output in OUTPUTS])


def _outcome(found: Compared) -> Outcome:
    relevance = found.nearest[0]
    best = int(relevance.argmax())
    return Outcome(
        {"recall": float(relevance[best]), "precision": float(relevance.mean())},
        details={"most_relevant": found.others[best].field},
    )


CONTEXT_RELEVANCY_SOFT = Metric(
    name="context_relevancy_soft",
    measure=context_relevancy_soft,
    compute=mean_of_samples,
    outputs=OUTPUTS,
    reference="H2O Sonar's Context Relevancy (Soft Recall and Precision) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    needs=("user_input", "retrieved_contexts"),
    asks=("embedder",),
    threshold=0.75,
    aliases=(
        "ContextRelevancySoft",
        "Context Relevancy (Soft Recall and Precision) Evaluator",
    ),
)
