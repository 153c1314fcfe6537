"""Likelihood wing: how probable a language model finds responses."""

from __future__ import annotations

from valor_cli.evaluators.likelihood.metrics.gptscore import (
    GPTSCORE_DIALOGUE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_SUMMARIZATION_REFERENCE,
    GPTSCORE_TRANSLATION,
)
from valor_cli.evaluators.likelihood.metrics.perplexity import PERPLEXITY
from valor_cli.evaluators.model_metrics import model_wing

__all__ = ["WING"]

WING = model_wing(
    PERPLEXITY,
    GPTSCORE_SUMMARIZATION_REFERENCE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_TRANSLATION,
    GPTSCORE_DIALOGUE,
)
