"""Rules wing: deterministic checks of the content and form of responses."""

from __future__ import annotations

from valor_cli.evaluators.rules.metrics.encoding_guardrail import ENCODING_GUARDRAIL
from valor_cli.evaluators.rules.metrics.json_schema import JSON_SCHEMA
from valor_cli.evaluators.rules.metrics.language_consistency import LANGUAGE_CONSISTENCY
from valor_cli.evaluators.rules.metrics.leakage import PII_LEAKAGE, SENSITIVE_DATA_LEAKAGE
from valor_cli.evaluators.rules.metrics.text_matching import TEXT_MATCHING
from valor_cli.evaluators.samples.evidence import sample_wing

__all__ = ["WING"]

WING = sample_wing(
    TEXT_MATCHING,
    JSON_SCHEMA,
    PII_LEAKAGE,
    SENSITIVE_DATA_LEAKAGE,
    ENCODING_GUARDRAIL,
    LANGUAGE_CONSISTENCY,
)
