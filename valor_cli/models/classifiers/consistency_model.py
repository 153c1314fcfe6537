"""HHEM-2.1-Open and similar models: the probability that a premise supports a hypothesis.

Source: https://huggingface.co/vectara/hallucination_evaluation_model. Its repository includes
custom code, which is never run: the computation is the token classifier of a T5 encoder, read at
the first token of a prompt that holds both texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.classifiers.hhem_files import (
    identity_of,
    model_of,
    settings_of,
    tokenizer_file,
    tokens_of,
)
from valor_cli.models.classifiers.transformers_classifier import softmax
from valor_cli.models.files.hugging_face import located, transformers
from valor_cli.models.protocols.classifier import Pair
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings.models import Device
from valor_cli.models.text.devices import device_of
from valor_cli.models.text.tokens import Frame, TextTokens, check_window
from valor_cli.models.text.windows import Batch, WindowedTexts

Floats = NDArray[np.float64]

PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\n"
    "Premise: {text1}\n\nHypothesis: {text2}"
)

WINDOW = 2048
"""Tokens seen at once. T5 counts positions by distance, so any length will do; its authors show
2,048 tokens, and what attention takes grows with the square."""


class ConsistencyModel:
    """A T5 token classifier with two labels, the second meaning "supported". float32.

    It is of pairs alone. Pairs longer than 2,048 tokens are seen in windows of which each repeats
    a quarter of the one before; the hypothesis takes at most half. What stands in a text is plain
    text: neither "{text2}" nor "<pad>" in it changes the prompt.
    """

    labels: tuple[str, ...] = ("inconsistent", "consistent")
    exclusive = True
    window = WINDOW

    def __init__(
        self,
        model: str,
        metric: str,
        device: Device,
        stop: Stop,
        on_progress: Callable[[str, int, int], None],
    ) -> None:
        """Load it.

        Args:
            model: A folder, or an id of the hub: HHEM-2.1-Open, or a `T5ForTokenClassification`.
            metric: Who asks, for messages.
            device: Where it computes.
            stop: Asked between batches.
            on_progress: Called with the progress.

        Raises:
            Unavailable: It, or the tokenizer of its foundation, is not on this machine.
            ConfigError: It cannot be used.
            MissingExtraError: torch or transformers is not installed.
        """
        transformers(metric)
        found = located(model, metric)
        settings = settings_of(found)
        there = device_of(device)
        tokenizer = tokenizer_file(found, settings)
        self.identity = identity_of(found, tokenizer)
        self._model = model_of(found, settings, there)
        tokens = tokens_of(tokenizer, found.model)
        frame = _frame(tokens, found.model, settings.get("prompt", PROMPT))
        check_window(found.model, WINDOW, frame)
        self._texts = WindowedTexts(
            tokens=tokens,
            one=frame,
            two=frame,
            window=WINDOW,
            padding=0,
            probabilities=self._probabilities,
            device=there,
            config=self._model.config,
            most_texts=None,
            stop=stop,
            on_progress=on_progress,
        )

    def of_texts(self, texts: Sequence[str]) -> list[Floats]:
        """Not supported: consistency needs a pair of texts.

        Raises:
            ValueError: Always.
        """
        raise ValueError("a model of consistency takes pairs of texts")

    def of_pairs(self, pairs: Sequence[Pair]) -> list[Floats]:
        """(hypothesis windows, premise windows, labels) probabilities of each pair.

        Raises:
            Stopped: The run ends.
        """
        return self._texts.of_pairs(pairs)

    def _probabilities(self, batch: Batch) -> Floats:
        import torch

        there = self._model.device
        with torch.inference_mode():
            logits = self._model(
                input_ids=torch.from_numpy(batch.ids).to(there),
                attention_mask=torch.from_numpy(batch.mask).to(there),
            ).logits
        return softmax(logits[:, 0, :].cpu().numpy().astype(np.float64))


def _frame(tokens: TextTokens, model: str, prompt: str) -> Frame:
    """The prompt's own words around both texts.

    T5 splits at white space before all else, so that words in the prompt have the same tokens
    whether they are written alone or together.

    Raises:
        ConfigError: The prompt has other fields.
    """
    parts = re.split(r"(\{text1\}|\{text2\})", prompt)
    if parts[1::2] != ["{text1}", "{text2}"]:
        raise ConfigError(Problem(model, "has a prompt without {text1} and then {text2}"))
    ends = tokens.frame(1).fixed
    fixed = (
        ends[0] + tokens.written(parts[0]),
        tokens.written(parts[2]),
        tokens.written(parts[4]) + ends[1],
    )
    return Frame(fixed, tuple((0,) * len(each) for each in fixed), (0, 0))
