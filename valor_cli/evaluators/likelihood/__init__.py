"""Likelihood: how probable a language model finds responses."""

from __future__ import annotations

from valor_cli.evaluators.gathering import model_wing
from valor_cli.evaluators.likelihood.gptscore_dialogue import GPTSCORE_DIALOGUE
from valor_cli.evaluators.likelihood.gptscore_summarization import GPTSCORE_SUMMARIZATION
from valor_cli.evaluators.likelihood.gptscore_summarization_reference import (
    GPTSCORE_SUMMARIZATION_REFERENCE,
)
from valor_cli.evaluators.likelihood.gptscore_translation import GPTSCORE_TRANSLATION
from valor_cli.evaluators.likelihood.perplexity import PERPLEXITY

__all__ = ["WING"]

WING = model_wing(
    PERPLEXITY,
    GPTSCORE_SUMMARIZATION_REFERENCE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_TRANSLATION,
    GPTSCORE_DIALOGUE,
)
