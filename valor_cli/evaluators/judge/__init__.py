"""Judge wing: metrics for which a language model judges responses and contexts."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.evidence import judge_wing
from valor_cli.evaluators.judge.metrics.answer_correctness import ANSWER_CORRECTNESS
from valor_cli.evaluators.judge.metrics.answer_relevancy import ANSWER_RELEVANCY
from valor_cli.evaluators.judge.metrics.context_precision import CONTEXT_PRECISION
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.evaluators.judge.metrics.context_relevancy import CONTEXT_RELEVANCY
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE
from valor_cli.evaluators.judge.metrics.fact_check import FACT_CHECK
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.nv_ratings import (
    NV_ANSWER_ACCURACY,
    NV_CONTEXT_RELEVANCE,
    NV_RESPONSE_GROUNDEDNESS,
)
from valor_cli.evaluators.judge.metrics.one_word_verdicts import (
    CONTACT_INFORMATION,
    LANGUAGE_MISMATCH,
    SEXISM,
    SUMMARIZATION_JUDGE,
)
from valor_cli.evaluators.judge.metrics.opinions import BIAS, TOXICITY
from valor_cli.evaluators.judge.metrics.ragas_score import RAGAS_SCORE
from valor_cli.evaluators.judge.metrics.stereotypes import STEREOTYPES
from valor_cli.evaluators.judge.metrics.summary_coherence import SUMMARY_COHERENCE
from valor_cli.evaluators.judge.metrics.verdict_shares import (
    ANSWER_RELEVANCE,
    CONTEXT_RELEVANCE,
    HALLUCINATION,
)

__all__ = ["WING"]

WING = judge_wing(
    ANSWER_CORRECTNESS,
    ANSWER_RELEVANCE,
    ANSWER_RELEVANCY,
    BIAS,
    TOXICITY,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    CONTEXT_RELEVANCE,
    CONTEXT_RELEVANCY,
    FAITHFULNESS,
    HALLUCINATION,
    SUMMARY_COHERENCE,
    NV_ANSWER_ACCURACY,
    NV_CONTEXT_RELEVANCE,
    NV_RESPONSE_GROUNDEDNESS,
    RAGAS_SCORE,
    CONTACT_INFORMATION,
    LANGUAGE_MISMATCH,
    SEXISM,
    SUMMARIZATION_JUDGE,
    STEREOTYPES,
    CUSTOM_JUDGE,
    FACT_CHECK,
)
