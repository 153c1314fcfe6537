"""Mean reciprocal rank of the first relevant context."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from annotated_types import Interval
from msgspec.structs import replace

from valor_cli.evaluators.embedding.calibrated_thresholds import CALIBRATED, SEEDS_MODEL
from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

SLACK = 1e-9
"""The last digits of a cosine are the machine's: a chunk that is the question has 1."""

OUTPUTS = (
    Output("value", "higher"),
    Output("hit", "higher"),
)


def context_mrr(
    texts: ModelTexts,
    *,
    mrr_relevant_chunk_threshold: Annotated[float, Interval(ge=-1, le=1)] | None = None,
    mrr_relevant_chunk_oor_idx: Annotated[int, Interval(ge=1)] = 10,
) -> Outcomes:
    """1 / rank of the first relevant retrieved context, averaged over questions (MRR); `hit` is the
    share of questions with a relevant context.

    A context is as relevant as the cosine of the question with its nearest sentence, and relevant
    at `mrr_relevant_chunk_threshold` or more: 0.7, or what was calibrated for the embedder. The
    first rank is 1. Without a relevant context among the first `mrr_relevant_chunk_oor_idx` both
    outputs are 0. A blank context is not relevant, and keeps its rank.

    Formula:
        value = mean over questions of 1 / rank of the first relevant context, or 0
        hit = questions with a relevant context / questions
        relevant: max over sentences s of the context of cos(question, s) ≥ threshold

    Pitfalls:
        Relevance is a cosine past a threshold, not a human judgement: with a threshold of another
        embedder every first context is relevant, or none ever is. Contexts behind the first
        relevant one do not count.

    Example:
        First relevant contexts at ranks 1, 3 and nowhere: (1 + 1/3 + 0) / 3 = 0.444, hit 2 / 3 =
        0.667.
    """
    threshold = mrr_relevant_chunk_threshold
    if threshold is None:
        threshold = CALIBRATED["context_mrr"][SEEDS_MODEL]["mrr_relevant_chunk_threshold"]
    look = partial(_outcome, threshold - SLACK, mrr_relevant_chunk_oor_idx)
    pairs = paired(texts, "user_input", "retrieved_contexts")
    return by_sentences(texts, pairs, look, [output.name for output in OUTPUTS])


def _outcome(threshold: float, last: int, found: Compared) -> Outcome:
    relevance = found.nearest[0]
    best = int(relevance.argmax())
    relevant = np.flatnonzero(relevance >= threshold)
    rank = found.others[int(relevant[0])].number + 1 if len(relevant) else None
    hit = rank is not None and rank <= last
    return Outcome(
        {"value": 1 / rank if rank is not None and hit else 0.0, "hit": float(hit)},
        details={
            "rank": rank,
            "most_relevant": found.others[best].field,
            "relevance": float(relevance[best]),
        },
    )


def mean_rank_and_hits(sampled: Sampled) -> Findings:
    """The mean reciprocal rank, and the share of questions with a hit."""
    ranks, hits = sampled.means()
    return sampled.findings([ranks, replace(hits, proportion=True)])


CONTEXT_MRR = Metric(
    name="context_mrr",
    measure=context_mrr,
    compute=mean_rank_and_hits,
    outputs=OUTPUTS,
    reference="H2O Sonar's Context Mean Reciprocal Rank Evaluator",
    citation="Voorhees, The TREC-8 Question Answering Track Report, 1999",
    needs=("user_input", "retrieved_contexts"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("ContextMRR", "MRR", "Context Mean Reciprocal Rank Evaluator"),
)
