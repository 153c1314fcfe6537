"""Embedding: what vectors of texts say of responses, contexts and questions."""

from __future__ import annotations

from valor_cli.evaluators.embedding.semantic_similarity import SEMANTIC_SIMILARITY
from valor_cli.evaluators.gathering import model_wing

__all__ = ["WING"]

WING = model_wing(SEMANTIC_SIMILARITY)
