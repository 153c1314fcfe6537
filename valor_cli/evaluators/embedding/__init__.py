"""Embedding wing: metrics on vectors of responses, contexts and questions."""

from __future__ import annotations

from valor_cli.evaluators.embedding.metrics.answer_accuracy_semantic import ANSWER_ACCURACY_SEMANTIC
from valor_cli.evaluators.embedding.metrics.bertscore import BERTSCORE
from valor_cli.evaluators.embedding.metrics.completeness import COMPLETENESS
from valor_cli.evaluators.embedding.metrics.context_mrr import CONTEXT_MRR
from valor_cli.evaluators.embedding.metrics.nearest_sentences import (
    ANSWER_RELEVANCY_SENTENCE,
    CONTEXT_RELEVANCY_SOFT,
    GROUNDEDNESS_SEMANTIC,
    SENTENCE_SIMILARITY,
)
from valor_cli.evaluators.embedding.metrics.questions_drift import QUESTIONS_DRIFT
from valor_cli.evaluators.embedding.metrics.semantic_similarity import SEMANTIC_SIMILARITY
from valor_cli.evaluators.embedding.metrics.step_alignment import STEP_ALIGNMENT
from valor_cli.evaluators.model_metrics import model_wing

__all__ = ["WING"]

WING = model_wing(
    SEMANTIC_SIMILARITY,
    SENTENCE_SIMILARITY,
    ANSWER_ACCURACY_SEMANTIC,
    GROUNDEDNESS_SEMANTIC,
    CONTEXT_RELEVANCY_SOFT,
    ANSWER_RELEVANCY_SENTENCE,
    CONTEXT_MRR,
    QUESTIONS_DRIFT,
    COMPLETENESS,
    BERTSCORE,
    STEP_ALIGNMENT,
)
