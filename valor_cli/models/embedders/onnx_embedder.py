"""Embed texts with an ONNX model on the CPU."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.embedders.onnx_model import Floats, OnnxModel
from valor_cli.models.files.onnx_files import OnnxFiles, onnx_files
from valor_cli.models.protocols.identity import ModelIdentity
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings.models import EmbedderSettings

_IN_GRAPH = "in the graph"


class OnnxEmbedder:
    """The packaged MiniLM, or the ONNX model of a folder.

    As sentence-transformers has it, "[UNK]" or "[SEP]" in a text is the token of that name.
    """

    remote = False

    def __init__(self, settings: EmbedderSettings, stop: Stop) -> None:
        """Load it.

        Args:
            settings: Which model, and how it is used.
            stop: Asked between batches.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used.
            MissingExtraError: The extra `embed` is not installed.
        """
        files = onnx_files(settings.model)
        self.name = settings.called
        self.identity = ModelIdentity(self.name, files.sha256)
        self._prompt = settings.prompt
        self._model = OnnxModel(
            files,
            settings.max_tokens or files.longest,
            stop,
            batch_size=settings.batch_size,
        )
        self._pooling = _pooling(files, settings.pooling, tokens_out=self._model.tokens_out)
        self._lower = files.lower

    @property
    def keeps(self) -> str:
        """Hash of the model and of how texts become vectors."""
        lower = " lower" if self._lower else ""
        return (
            f"onnx {self.identity.sha256} pooling={self._pooling} max_tokens={self.longest}"
            f"{lower} prompt={self._prompt!r}"
        )

    @property
    def longest(self) -> int:
        """Maximum number of tokens, its prompt and special tokens included."""
        return self._model.longest

    async def embed(self, texts: Sequence[str]) -> Floats:
        """(texts, dimensions) a vector of each, not of unit length.

        Raises:
            Stopped: The run ends.
            ConfigError: The model fails.
        """
        # In a thread, so that whoever else waits for something is told when it comes.
        return await asyncio.to_thread(self._vectors, list(texts))

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        return self._model.cut([self._prompt + text for text in texts])

    async def close(self) -> None:
        """Do nothing: no resources are held."""

    def _vectors(self, texts: list[str]) -> Floats:
        found = np.zeros((len(texts), self._model.dimensions), np.float32)

        def keep(at: int, vectors: Floats) -> None:
            if self._pooling == "mean":
                # Row by row in their order, so that padding changes no bit.
                np.mean(vectors, axis=0, dtype=np.float32, out=found[at])
            else:
                found[at] = vectors[0] if self._pooling == "cls" else vectors

        self._model.run(self._model.tokens([self._prompt + text for text in texts]), keep)
        if not np.isfinite(found).all():
            message = "makes vectors that hold no numbers (NaN or infinite)"
            raise ConfigError(Problem(f"embedder {self.name}", message))
        return found


def _pooling(files: OnnxFiles, wanted: str | None, *, tokens_out: bool) -> str:
    """How tokens are pooled: as requested, otherwise as in the folder.

    Raises:
        ConfigError: The model does it itself, or it is done in a way that valor does not know.
    """
    place, name = "embedder: pooling", str(files.model)
    if not tokens_out:
        if wanted is not None:
            message = f"{name} makes vectors of whole texts, so there is nothing to pool"
            raise ConfigError(Problem(place, message), hint="leave `pooling:` out")
        return _IN_GRAPH
    if files.added:
        message = f"modules.json adds {', '.join(files.added)}, which the graph leaves out"
        hint = "use backend: sentence_transformers, or export with the whole model in the graph"
        raise ConfigError(Problem(name, message), hint=hint)
    if wanted is not None:
        return wanted
    if files.pooling not in (("mean",), ("cls",)):
        message = f"{name} is pooled by {' + '.join(files.pooling)}; known are mean and cls"
        raise ConfigError(Problem(place, message), hint="use backend: sentence_transformers")
    return files.pooling[0]
