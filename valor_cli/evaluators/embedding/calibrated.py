"""The name of an embedding model in; the thresholds that were calibrated for it out.

Cosines of different models are not comparable: of MiniLM, two thirds of true paraphrases lie below
the 0.75 that suits BGE, and of E5 unrelated sentences lie above it.
"""

from __future__ import annotations

from collections.abc import Mapping

from valor_cli.models.embedder_settings import MINILM

SEEDS_MODEL = "bge-small-en"
"""The model that H2O Sonar's defaults are for."""
MINILM_FAMILY = "all-minilm-l6-v2"

_FAMILIES: Mapping[str, str] = {
    MINILM: MINILM_FAMILY,
    "all-minilm-l6-v2": MINILM_FAMILY,
    "bge-small-en": SEEDS_MODEL,
    "bge-small-en-v1.5": SEEDS_MODEL,
}

CALIBRATED: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "semantic_similarity": {
        SEEDS_MODEL: {"threshold": 0.75},
        MINILM_FAMILY: {"threshold": 0.5},
    },
}
"""By metric and family of models: its threshold, and its parameters that are cosines."""


def family_of(name: str) -> str | None:
    """The family of an embedder by its name, whoever's account it is under; None: not known."""
    return _FAMILIES.get(name.rpartition("/")[2].lower())
