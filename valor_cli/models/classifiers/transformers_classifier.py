"""Sequence classifiers of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.files.hugging_face import loaded, located, tokenizer_of, transformers
from valor_cli.models.protocols import Pair
from valor_cli.models.text.tokens import check_window, plain, window_of
from valor_cli.models.text.windows import Batch, Runtime, WindowedTexts, device_of

Floats = NDArray[np.float64]


class TransformersClassifier:
    """A model of `AutoModelForSequenceClassification`, float32, safetensors only.

    Longer texts than it sees are split into windows of which each repeats a quarter of the one
    before, and each has the model's special tokens. Of a pair the hypothesis takes at most half.
    Special tokens that a text spells out are plain text.

    One label holds alone (softmax) unless the config says `multi_label_classification`, or there
    is but one label (sigmoid, as the CrossEncoder of sentence-transformers has it; also where
    such a model would show the bare number, which keeps its order). A head of regression gives
    no probabilities and is refused, unless its config names a sigmoid.
    """

    def __init__(
        self,
        model: str,
        metric: str,
        runtime: Runtime,
    ) -> None:
        """Load it.

        Args:
            model: A folder, or an id of the hub.
            metric: Who asks, for messages.
            runtime: Of the run.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used.
            MissingExtraError: torch or transformers is not installed.
        """
        auto = transformers(metric).AutoModelForSequenceClassification
        found = located(model, metric)
        there = device_of(runtime.device)
        tokenizer = tokenizer_of(found)
        self._model = loaded(auto, found, there)
        config = self._model.config
        self.exclusive = _exclusive(found.model, config)
        self.identity = found.identity
        self.labels = tuple(str(config.id2label[at]) for at in range(config.num_labels))
        self.window = window_of(self._model, tokenizer)
        self._kinds = "token_type_ids" in tokenizer.model_input_names
        tokens = plain(tokenizer)
        two = tokens.frame(2)
        check_window(found.model, self.window, two)
        if config.pad_token_id is None:
            config.pad_token_id = tokenizer.pad_token_id
        self._texts = WindowedTexts(
            tokens=tokens,
            one=tokens.frame(1),
            two=two,
            window=self.window,
            padding=config.pad_token_id or 0,
            probabilities=self._probabilities,
            device=there,
            config=config,
            most_texts=None if _may_pad(config) else 1,
            runtime=runtime,
        )

    def of_texts(self, texts: Sequence[str]) -> list[Floats]:
        """(windows, labels) probabilities of each text.

        Raises:
            Stopped: The run ends.
        """
        return self._texts.of_texts(texts)

    def of_pairs(self, pairs: Sequence[Pair]) -> list[Floats]:
        """(hypothesis windows, premise windows, labels) probabilities of each pair.

        Raises:
            Stopped: The run ends.
        """
        return self._texts.of_pairs(pairs)

    def _probabilities(self, batch: Batch) -> Floats:
        import torch

        def there(values: NDArray[np.int64]) -> Any:
            return torch.from_numpy(values).to(self._model.device)

        given = {"input_ids": there(batch.ids), "attention_mask": there(batch.mask)}
        if self._kinds:
            given["token_type_ids"] = there(batch.kinds)
        with torch.inference_mode():
            logits = self._model(**given).logits
        found = logits.cpu().numpy().astype(np.float64)
        return softmax(found) if self.exclusive else sigmoid(found)


def softmax(logits: Floats) -> Floats:
    """(…, labels) probabilities that sum to 1."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return found


def sigmoid(logits: Floats) -> Floats:
    """(…) independent probabilities."""
    # Unlike 1 / (1 + exp(-x)), this never overflows.
    found: Floats = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return found


def _exclusive(model: str, config: Any) -> bool:
    """Whether exactly one label applies.

    Raises:
        ConfigError: Its numbers are no probabilities.
    """
    if config.problem_type == "regression":
        said = getattr(config, "sentence_transformers", None) or {}
        activation = str(said.get("activation_fn", ""))
        if config.num_labels > 1 or not activation.endswith("Sigmoid"):
            problem = Problem(model, "is a model of regression, which gives no probabilities")
            raise ConfigError(problem, hint="name a model of classification")
    several: bool = config.problem_type == "multi_label_classification"
    return not several and int(config.num_labels) > 1


def _may_pad(config: Any) -> bool:
    """Whether padding behind a text changes nothing.

    Decoders read their answer off the last token, which they tell from padding by its id; XLNet
    reads it off the last place.
    """
    return config.pad_token_id is not None and getattr(config, "summary_type", "") != "last"
