"""HHEM-2.1-Open and similar models: the probability that a premise supports a hypothesis.

Source: https://huggingface.co/vectara/hallucination_evaluation_model. Its repository includes
custom code, which is never run: the computation is the token classifier of a T5 encoder, read at
the first token of a prompt that holds both texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.classifiers.transformers_classifier import softmax
from valor_cli.models.files.hugging_face import (
    Located,
    folder_of,
    loaded,
    located,
    transformers,
    unloadable,
)
from valor_cli.models.files.model_folder import files_read
from valor_cli.models.protocols import ModelIdentity, Pair, Unavailable, sha256_of_files
from valor_cli.models.text.tokens import Frame, TextTokens, check_window, read_tokenizer
from valor_cli.models.text.windows import Batch, Runtime, WindowedTexts, device_of

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
        runtime: Runtime,
    ) -> None:
        """Load it.

        Args:
            model: A folder, or an id of the hub: HHEM-2.1-Open, or a `T5ForTokenClassification`.
            metric: Who asks, for messages.
            runtime: Of the run.

        Raises:
            Unavailable: It, or the tokenizer of its foundation, is not on this machine.
            ConfigError: It cannot be used.
            MissingExtraError: torch or transformers is not installed.
        """
        transformers(metric)
        found = located(model, metric)
        settings = settings_of(found)
        there = device_of(runtime.device)
        tokenizer = tokenizer_file(found, settings)
        self.identity = identity_of(found, tokenizer)
        self._model = model_of(found, settings, there)
        backend = read_tokenizer(tokenizer, "hf", found.model)
        tokens = TextTokens(backend, backend.token_to_id("<unk>"))
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
            runtime=runtime,
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


FOUNDATION = "google/flan-t5-base"
"""What HHEM-2.1-Open was made of; its tokenizer is the one that HHEM takes."""

_FLAN_T5_BASE: Mapping[str, Any] = {
    "d_model": 768,
    "d_kv": 64,
    "d_ff": 2048,
    "num_layers": 12,
    "num_heads": 12,
    "relative_attention_num_buckets": 32,
    "feed_forward_proj": "gated-gelu",
    "vocab_size": 32128,
    "tie_word_embeddings": False,
}
_PREFIX = "t5."
_SHARED = ("transformer.shared.weight", "transformer.encoder.embed_tokens.weight")
"""Two names of one table of vectors; weights are stored under one of them or under both."""


def settings_of(found: Located) -> Mapping[str, Any]:
    """The settings in its config.json.

    Raises:
        ConfigError: It is of another kind.
    """
    try:
        said = json.loads((found.folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unloadable(found.model, error) from None
    kind = str(said.get("model_type", "")) if isinstance(said, dict) else ""
    if kind != "t5" and not kind.startswith("HHEMv2"):
        problem = Problem(found.model, f'is a model of type "{kind}", not "HHEMv2" or "t5"')
        raise ConfigError(
            problem, hint="fetch HHEM-2.1-Open: hf download vectara/hallucination_evaluation_model"
        )
    settings: Mapping[str, Any] = said
    return settings


def _foundation(found: Located, settings: Mapping[str, Any]) -> Path | None:
    """The folder of what it was made of; None: it is not on this machine."""
    name = str(settings.get("foundation", FOUNDATION))
    if (found.folder / name).is_dir():
        return found.folder / name
    try:
        return folder_of(name, found.model)
    except Unavailable:
        return None


def tokenizer_file(found: Located, settings: Mapping[str, Any]) -> Path:
    """The tokenizer: its own, or that of its base model.

    Raises:
        Unavailable: Neither is on this machine.
        ConfigError: It brings none, and has no foundation.
    """
    own = found.folder / "tokenizer.json"
    if own.is_file():
        return own
    if settings["model_type"] == "t5":
        raise ConfigError(Problem(found.model, "has no fast tokenizer (tokenizer.json)"))
    foundation = _foundation(found, settings)
    if foundation is None or not (foundation / "tokenizer.json").is_file():
        name = settings.get("foundation", FOUNDATION)
        fetch = f"hf download {name} config.json tokenizer.json"
        raise Unavailable(
            f"the tokenizer of {found.model}, that of {name}, is not on this machine; "
            f"fetch it: {fetch}"
        )
    return foundation / "tokenizer.json"


def identity_of(found: Located, tokenizer: Path) -> ModelIdentity:
    """Its name and files, including a tokenizer stored elsewhere."""
    if tokenizer.parent == found.folder:
        return found.identity
    files = [*files_read(found.folder), tokenizer]
    return ModelIdentity(found.identity.name, sha256_of_files(files))


def model_of(found: Located, settings: Mapping[str, Any], device: Any) -> Any:
    """Load the model.

    Raises:
        ConfigError: It cannot be loaded, or has not two labels.
    """
    import transformers

    if settings["model_type"] == "t5":
        model = loaded(transformers.T5ForTokenClassification, found, device)
    else:
        model = _unwrapped(found, settings).to(device)
    if model.config.num_labels != 2:
        message = f"has {model.config.num_labels} labels; inconsistent and consistent are two"
        raise ConfigError(Problem(found.model, message))
    return model


def _unwrapped(found: Located, settings: Mapping[str, Any]) -> Any:
    """The classifier inside HHEM, of whose weights all names start with "t5."."""
    import torch
    from safetensors.torch import load_file
    from transformers import T5ForTokenClassification

    config = _foundation_config(found, settings)
    try:
        weights = {
            name.removeprefix(_PREFIX): tensor.float()
            for file in files_read(found.folder)
            if file.suffix == ".safetensors"
            for name, tensor in load_file(file).items()
        }
        stored = next((weights[name] for name in _SHARED if name in weights), None)
        if stored is not None:
            weights = dict.fromkeys(_SHARED, stored) | weights
        # No time is spent on numbers that are replaced at once.
        with torch.device("meta"):
            model = T5ForTokenClassification(config)
        missing, unexpected = model.load_state_dict(weights, strict=False, assign=True)
    except Exception as error:  # whatever is in the folder, its loaders may raise it
        raise unloadable(found.model, error) from None
    if missing or unexpected:
        said = "is missing weights" if missing else "has weights of another model"
        told = ", ".join(sorted(missing or unexpected)[:3])
        raise ConfigError(Problem(found.model, f"{said} ({told}): it is not HHEM-2.1-Open"))
    return model.eval()


def _foundation_config(found: Located, settings: Mapping[str, Any]) -> Any:
    """The sizes of its foundation.

    Raises:
        Unavailable: They are not on this machine.
        ConfigError: They are none of T5.
    """
    from transformers import T5Config

    foundation = _foundation(found, settings)
    if foundation is not None and (foundation / "config.json").is_file():
        try:
            return T5Config.from_pretrained(foundation, local_files_only=True, num_labels=2)
        except (OSError, ValueError, TypeError) as error:
            raise unloadable(found.model, error) from None
    name = settings.get("foundation", FOUNDATION)
    if name != FOUNDATION:
        raise Unavailable(
            f"the config of {name} is not on this machine; fetch it: "
            f"hf download {name} config.json tokenizer.json"
        )
    return T5Config(**_FLAN_T5_BASE, num_labels=2)
