"""Classifier: what models trained for one question say of responses."""

from __future__ import annotations

from valor_cli.evaluators.gathering import model_wing

__all__ = ["WING"]

WING = model_wing()
