"""Overlap wing: responses compared with references, or with each other, by their words."""

from __future__ import annotations

from msgspec.structs import replace

from valor_cli.evaluators.overlap.metrics.bleu import BLEU, BLEU_1, BLEU_2, BLEU_3, BLEU_4
from valor_cli.evaluators.overlap.metrics.chrf import CHRF
from valor_cli.evaluators.overlap.metrics.corpus_bleu import CORPUS_BLEU
from valor_cli.evaluators.overlap.metrics.edit_similarity import EDIT_SIMILARITY
from valor_cli.evaluators.overlap.metrics.llm_classification import LLM_CLASSIFICATION
from valor_cli.evaluators.overlap.metrics.rouge import ROUGE_1, ROUGE_2, ROUGE_L, ROUGE_LSUM
from valor_cli.evaluators.overlap.metrics.self_consistency import SELF_CONSISTENCY
from valor_cli.evaluators.overlap.metrics.squad import EXACT_MATCH, TOKEN_F1
from valor_cli.evaluators.overlap.metrics.ter import TER
from valor_cli.evaluators.samples.evidence import sample_wing

__all__ = ["GROUPS", "WING"]

WING = sample_wing(
    ROUGE_L,
    ROUGE_1,
    ROUGE_2,
    ROUGE_LSUM,
    BLEU,
    BLEU_1,
    BLEU_2,
    BLEU_3,
    BLEU_4,
    CORPUS_BLEU,
    CHRF,
    TER,
    EXACT_MATCH,
    TOKEN_F1,
    EDIT_SIMILARITY,
    LLM_CLASSIFICATION,
)

GROUPS = replace(sample_wing(SELF_CONSISTENCY), built_from="whole")
"""What compares samples with each other, and has to see all of them."""
