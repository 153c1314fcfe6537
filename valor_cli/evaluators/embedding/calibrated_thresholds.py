"""Similarity thresholds calibrated per embedding model.

Cosines of different models are not comparable: with MiniLM, two thirds of true paraphrases lie
below the 0.75 that suits BGE, and with E5 unrelated sentences lie above it.
"""

from __future__ import annotations

from collections.abc import Mapping

from valor_cli.models.settings import MINILM

SEEDS_MODEL = "bge-small-en"
"""The model that H2O Sonar's defaults are for."""
MINILM_FAMILY = "all-minilm-l6-v2"

_FAMILIES: Mapping[str, str] = {
    MINILM: MINILM_FAMILY,
    "all-minilm-l6-v2": MINILM_FAMILY,
    "bge-small-en": SEEDS_MODEL,
    "bge-small-en-v1.5": SEEDS_MODEL,
}

# H2O Sonar's own, and what tells right from wrong best with MiniLM (benchmarks/thresholds.py):
# replies and whether people found them attributable (BEGIN), answers and whether they are right
# (QA-Eval), questions and the passages that answer them or another one (ClapNQ).
_THRESHOLDS: Mapping[str, tuple[float, float]] = {
    "semantic_similarity": (0.75, 0.35),
    "sentence_similarity": (0.75, 0.35),
    "answer_accuracy_semantic": (0.75, 0.35),
    "bertscore": (0.75, 0.35),
    "groundedness_semantic": (0.75, 0.7),
    "context_relevancy_soft": (0.75, 0.25),
    "answer_relevancy_sentence": (0.75, 0.25),
    # Halves of 100 questions of one kind are up to 0.43 apart, those of two kinds 0.43 and more.
    "questions_drift": (0.1, 0.45),
}

CALIBRATED: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    **{
        name: {SEEDS_MODEL: {"threshold": seeds}, MINILM_FAMILY: {"threshold": minilm}}
        for name, (seeds, minilm) in _THRESHOLDS.items()
    },
    # Its threshold is held against ranks, which are no cosines.
    "context_mrr": {
        SEEDS_MODEL: {"mrr_relevant_chunk_threshold": 0.7},
        MINILM_FAMILY: {"mrr_relevant_chunk_threshold": 0.25},
    },
}
"""By metric and family of models: its threshold, and its parameters that are cosines."""


def family_of(name: str) -> str | None:
    """The family of an embedder by its name, without the account; None if unknown."""
    return _FAMILIES.get(name.rpartition("/")[2].lower())
