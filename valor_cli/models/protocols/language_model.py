"""What a language model is asked."""

from __future__ import annotations

from typing import Literal, NamedTuple

Architecture = Literal["causal", "encoder_decoder"]


class Passage(NamedTuple):
    """A text whose likelihood is asked for, and what stands before it."""

    prompt: str
    target: str
