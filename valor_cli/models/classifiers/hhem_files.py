"""Load HHEM-2.1-Open, or another T5 token classifier, and its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.files.hugging_face import Located, folder_of, loaded, unloadable
from valor_cli.models.files.model_folder import files_read
from valor_cli.models.protocols.identity import ModelIdentity, Unavailable, sha256_of_files
from valor_cli.models.text.tokens import TextTokens

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


def tokens_of(path: Path, model: str) -> TextTokens:
    """The tokens of its tokenizer.

    Raises:
        ConfigError: It cannot be read.
    """
    from tokenizers import Tokenizer

    try:
        backend = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare exceptions
        raise unloadable(model, error) from None
    return TextTokens(backend, backend.token_to_id("<unk>"))


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

    config = _config(found, settings)
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
        lacking, foreign = model.load_state_dict(weights, strict=False, assign=True)
    except Exception as error:  # whatever is in the folder, its loaders may raise it
        raise unloadable(found.model, error) from None
    if lacking or foreign:
        said = "is missing weights" if lacking else "has weights of another model"
        told = ", ".join(sorted(lacking or foreign)[:3])
        raise ConfigError(Problem(found.model, f"{said} ({told}): it is not HHEM-2.1-Open"))
    return model.eval()


def _config(found: Located, settings: Mapping[str, Any]) -> Any:
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
