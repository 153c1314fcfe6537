"""Likelihood: how probable a language model finds responses."""

from __future__ import annotations

from valor_cli.evaluators.gathering import model_wing

__all__ = ["WING"]

WING = model_wing()
