"""Classifier wing: metrics by models trained for a specific question."""

from __future__ import annotations

from valor_cli.evaluators.classifier.metrics.fairness_bias import FAIRNESS_BIAS
from valor_cli.evaluators.classifier.metrics.hallucination_hhem import HALLUCINATION_HHEM
from valor_cli.evaluators.classifier.metrics.summac import SUMMAC_CONV, SUMMAC_ZS
from valor_cli.evaluators.classifier.metrics.toxicity_detoxify import TOXICITY_DETOXIFY
from valor_cli.evaluators.model_metrics import model_wing

__all__ = ["WING"]

WING = model_wing(TOXICITY_DETOXIFY, FAIRNESS_BIAS, HALLUCINATION_HHEM, SUMMAC_ZS, SUMMAC_CONV)
