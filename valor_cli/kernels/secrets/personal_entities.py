"""Names of the kinds of personal data that configs can list."""

from __future__ import annotations

from typing import Literal

Entity = Literal[
    "credit_card", "us_ssn", "email", "phone", "iban", "ip", "us_itin", "uk_nino", "crypto"
]

DEFAULT_ENTITIES: tuple[Entity, ...] = ("credit_card", "us_ssn", "email")
