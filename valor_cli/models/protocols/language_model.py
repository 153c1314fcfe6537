"""What a language model is asked."""

from __future__ import annotations

from typing import Literal, NamedTuple

Architecture = Literal["causal", "encoder_decoder"]


class Passage(NamedTuple):
    """A target text and its prompt."""

    prompt: str
    target: str
