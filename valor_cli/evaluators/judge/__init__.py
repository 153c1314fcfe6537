"""Judge wing: metrics for which a language model judges responses and contexts."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.evidence import judge_wing
from valor_cli.evaluators.judge.metrics.answer_correctness import ANSWER_CORRECTNESS
from valor_cli.evaluators.judge.metrics.answer_relevance import ANSWER_RELEVANCE
from valor_cli.evaluators.judge.metrics.answer_relevancy import ANSWER_RELEVANCY
from valor_cli.evaluators.judge.metrics.bias import BIAS
from valor_cli.evaluators.judge.metrics.contact_information import CONTACT_INFORMATION
from valor_cli.evaluators.judge.metrics.context_precision import CONTEXT_PRECISION
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.evaluators.judge.metrics.context_relevance import CONTEXT_RELEVANCE
from valor_cli.evaluators.judge.metrics.context_relevancy import CONTEXT_RELEVANCY
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE
from valor_cli.evaluators.judge.metrics.fact_check import FACT_CHECK
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.hallucination import HALLUCINATION
from valor_cli.evaluators.judge.metrics.language_mismatch import LANGUAGE_MISMATCH
from valor_cli.evaluators.judge.metrics.nv_answer_accuracy import NV_ANSWER_ACCURACY
from valor_cli.evaluators.judge.metrics.nv_context_relevance import NV_CONTEXT_RELEVANCE
from valor_cli.evaluators.judge.metrics.nv_response_groundedness import NV_RESPONSE_GROUNDEDNESS
from valor_cli.evaluators.judge.metrics.ragas_score import RAGAS_SCORE
from valor_cli.evaluators.judge.metrics.sexism import SEXISM
from valor_cli.evaluators.judge.metrics.stereotypes import STEREOTYPES
from valor_cli.evaluators.judge.metrics.summarization_judge import SUMMARIZATION_JUDGE
from valor_cli.evaluators.judge.metrics.summary_coherence import SUMMARY_COHERENCE
from valor_cli.evaluators.judge.metrics.toxicity import TOXICITY

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
