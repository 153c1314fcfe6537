"""Embed texts with a sentence-transformers model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra, extra_folder
from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.files.hugging_face import folder_of, transformers, unloadable
from valor_cli.models.files.model_folder import readable, refuse_pickles
from valor_cli.models.protocols import Embedder, ModelIdentity, sha256_of_files
from valor_cli.models.requests import Stop
from valor_cli.models.settings import Device, EmbedderSettings
from valor_cli.models.text.tokens import positions_of
from valor_cli.models.text.windows import bytes_per_token, device_of, in_batches, tokens_at_once

Vectors = NDArray[np.float32]

_WHAT = "backend: sentence_transformers"
_OWN = "sentence_transformers."
_READ = ("*.safetensors", "*.json", "*.txt", "*.model")
_SANE = 1_000_000


class SentenceTransformersEmbedder(Embedder):
    """A model of `SentenceTransformer`, float32, with the pooling and the prompts of its folder.

    Its vectors have the length that the model gives them. A prompt in the settings replaces one
    that the model would put before texts of itself.
    """

    def __init__(self, settings: EmbedderSettings, device: Device, stop: Stop) -> None:
        """Load it.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used: pickled weights, code of its own, no such device.
            MissingExtraError: torch, transformers or sentence-transformers is not installed.
        """
        model, folder = str(settings.model), folder_of_embedder(settings)
        transformers(_WHAT)
        package = extra("sentence_transformers", "hf", _WHAT)
        self.name = settings.called
        self.identity = ModelIdentity(self.name, sha256_of_files(_files(folder)))
        self.keeps = f"{self.identity.sha256} {settings.max_tokens} {settings.prompt}"
        self._device = device_of(device)
        self._model = _loaded(package, model, folder, str(self._device))
        self._prompt = settings.prompt
        self._batch_size = settings.batch_size
        self._stop = stop
        if settings.max_tokens is not None:
            _limit(self._model, model, settings.max_tokens)
        # Special tokens included.
        most = self._model.max_seq_length
        self.longest = int(most) if most is not None and most < _SANE else None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """(texts, dimensions) the vector of each.

        Raises:
            Stopped: The run ends.
        """
        return await asyncio.to_thread(self._vectors, texts)

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        longest = self.longest
        return 0 if longest is None else sum(length > longest for length in self._lengths(texts))

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, 0), np.float32)
        longest = self.longest or _SANE
        lengths = [min(length, longest) for length in self._lengths(texts)]
        config = getattr(_encoder(self._model), "config", None)
        most = tokens_at_once(self._device, bytes_per_token(config, max(lengths)))
        groups = batches(lengths, most_tokens=most, most_texts=self._batch_size)
        found: dict[int, Vectors] = {}
        for group, vectors in in_batches(
            groups, lambda group: self._encoded([texts[at] for at in group]), self._stop
        ):
            found.update(zip(group, vectors, strict=True))
        return np.stack([found[at] for at in range(len(texts))])

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = self._model.encode(
            [whole_characters(text) for text in texts],
            prompt=self._prompt or None,
            batch_size=len(texts),
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=False,
        )
        return vectors

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with its prompt; characters where a model has no such tokens."""
        default = self._model.prompts.get(self._model.default_prompt_name or "", "")
        prompt = self._prompt or default
        whole = [whole_characters(prompt + text) for text in texts]
        tokenizer = getattr(self._model, "tokenizer", None)
        if self.longest is None or not callable(tokenizer) or not whole:
            return [len(text) for text in whole]
        tokens = tokenizer(whole, truncation=False, padding=False, verbose=False)["input_ids"]
        return [len(ids) for ids in tokens]


def folder_of_embedder(settings: EmbedderSettings) -> Path:
    """The folder of the model after quick checks, without importing torch.

    Raises:
        Unavailable, ConfigError, MissingExtraError: As `SentenceTransformersEmbedder`.
    """
    for package in ("torch", "transformers", "sentence_transformers"):
        extra_folder(package, "hf", _WHAT)
    model = str(settings.model)
    folder = folder_of(model, _WHAT)
    with readable(model):
        _check(model, folder)
    return folder


def _files(folder: Path) -> list[Path]:
    """All that its vectors depend on, in its subfolders too."""
    found = {path for form in _READ for path in folder.rglob(form)}
    hidden = {
        path
        for path in found
        if any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    return sorted(found - hidden)


def _check(model: str, folder: Path) -> None:
    """Refuse what runs code of its own, or could only be unpickled.

    Raises:
        ConfigError: Says which.
    """
    modules = _modules(model, folder)
    for module in modules:
        kind = str(module.get("type", ""))
        if not kind.startswith(_OWN):
            message = f"wants the code {kind}; valor never runs a model's own code"
            raise ConfigError(Problem(model, message))
    for part in {str(module.get("path", "")) for module in modules} or {""}:
        refuse_pickles(model, folder / part)


def _modules(model: str, folder: Path) -> list[dict[str, Any]]:
    """What it consists of; nothing of a plain encoder, whose tokens are averaged."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    try:
        said = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unloadable(model, error) from None
    if not isinstance(said, list) or not all(isinstance(each, dict) for each in said):
        raise ConfigError(Problem(model, "cannot be loaded: modules.json is not a list of modules"))
    return said


def _loaded(package: Any, model: str, folder: Path, device: str) -> Any:
    try:
        found = package.SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:  # whatever is in the folder, its loaders may raise it
        raise unloadable(model, error) from None
    # Weights stored in 16 bits would else be computed with in 16 bits.
    return found.float().eval()


def _encoder(model: Any) -> Any:
    """The model of transformers in it; None: it has none."""
    return getattr(model[0], "auto_model", None)


def _limit(model: Any, name: str, tokens: int) -> None:
    """See so many tokens of a text.

    Raises:
        ConfigError: It has no positions for so many.
    """
    encoder = _encoder(model)
    positions = None if encoder is None else positions_of(encoder)
    if positions is not None and tokens > positions:
        problem = Problem("embedder: max_tokens", f"{name} sees {positions} tokens, not {tokens}")
        raise ConfigError(problem, hint=f"ask for {positions} or fewer")
    model.max_seq_length = tokens
