"""Overlap: responses compared with references, word by word or character by character."""

from __future__ import annotations

from valor_cli.evaluators.overlap.exact_match import EXACT_MATCH
from valor_cli.evaluators.samples import sample_wing

__all__ = ["WING"]

WING = sample_wing(EXACT_MATCH)
