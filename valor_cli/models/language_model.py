"""What a language model is: a prompt and a target in, log-probabilities of the target out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.identity import ModelIdentity

Architecture = Literal["causal", "encoder_decoder"]


class Passage(NamedTuple):
    """A text whose likelihood is asked for, and what stands before it."""

    prompt: str
    target: str


class LanguageModel(Protocol):
    """A model that says how likely every token of a text is.

    Attributes:
        identity: Which model it is.
        architecture: Of an encoder-decoder, the encoder reads the prompt, the decoder the target.
        context: Tokens that it sees at once.
        cut: Prompts so far whose beginnings it did not see, for want of context.
    """

    identity: ModelIdentity
    architecture: Architecture
    context: int
    cut: int

    def log_probabilities(
        self, passages: Sequence[Passage], *, stride: int | None = None
    ) -> list[NDArray[np.float64]]:
        """Of each passage, (tokens,) natural logarithms of the probabilities of its target.

        A token's probability is conditional on the prompt and on the tokens of the target before
        it. The first token of all has nothing before it and is left out; a target without a
        further one has no tokens. Passages longer than the model's context are seen through a
        window that moves by `stride` tokens (None: half the context): every token is scored once,
        in the window in which it first appears. The same in any company and order.

        Raises:
            Stopped: The run ends.
        """
