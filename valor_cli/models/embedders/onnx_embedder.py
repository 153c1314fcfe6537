"""Embed texts, or their tokens, with an ONNX model on the CPU."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.embedders.onnx_model import Floats, OnnxModel
from valor_cli.models.files.onnx_files import OnnxFiles, onnx_files
from valor_cli.models.protocols import ENCODING, Embedder, ModelIdentity, TokenStates
from valor_cli.models.requests import Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime

_IN_GRAPH = "in the graph"


class OnnxEmbedder(Embedder):
    """The packaged MiniLM, or the ONNX model of a folder.

    As sentence-transformers has it, "[UNK]" or "[SEP]" in a text is the token of that name.
    """

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
        # Its prompt and special tokens included.
        self.longest = self._model.longest
        lower = " lower" if files.lower else ""
        self.keeps = (
            f"onnx {files.sha256} pooling={self._pooling} max_tokens={self.longest}"
            f"{lower} prompt={self._prompt!r}"
        )

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


LAST = -1
"""The layer, where no file says how many there are."""

_TEXTS_AT_ONCE = 256
"""Whose states are in memory together: 200 MB where all are 512 tokens of 384 dimensions."""


class OnnxTokenEncoder:
    """The packaged MiniLM, or the ONNX model of a folder.

    As bert-score has it, a text is stripped, and shown as far as the model has positions: sentence
    embedders are shown less (MiniLM 256 of 512 tokens), and a cut text is compared in part only. We
    differ from it in "[SEP]" and the like in a text: they are spelled, as other words are.
    """

    def __init__(
        self,
        settings: EmbedderSettings,
        layer: int | None,
        runtime: Runtime,
    ) -> None:
        """Load it.

        Args:
            settings: Which model.
            layer: Whose hidden states; the last, or None for the last.
            runtime: Of the run.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used, or another layer is asked for.
            MissingExtraError: The extra `embed` is not installed.
        """
        files = onnx_files(settings.model)
        self.identity = ModelIdentity(settings.called, files.sha256)
        self.layer = _last(files, layer)
        self.longest = settings.max_tokens or files.positions or files.longest
        self._model = OnnxModel(
            files, self.longest, runtime.stop, batch_size=settings.batch_size, spelled=True
        )
        if not self._model.tokens_out:
            problem = Problem(str(files.model), "makes vectors of whole texts, not of tokens")
            raise ConfigError(problem, hint="name a `model:` under bertscore")
        self._on_progress = runtime.on_progress

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Token states of each text, in order; long texts are truncated.

        Raises:
            Stopped: The run ends.
            ConfigError: The model fails.
        """
        for at in range(0, len(texts), _TEXTS_AT_ONCE):
            self._on_progress(ENCODING, at, len(texts))
            yield from self._states(texts[at : at + _TEXTS_AT_ONCE])
        self._on_progress(ENCODING, len(texts), len(texts))

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        return self._model.cut([text.strip() for text in texts])

    def _states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        tokens = self._model.tokens([text.strip() for text in texts])
        found: list[Floats] = [np.empty((0, self._model.dimensions), np.float32)] * len(tokens)

        def keep(at: int, vectors: Floats) -> None:
            found[at] = vectors.astype(np.float32)

        self._model.run(tokens, keep)
        for text, states in zip(tokens, found, strict=True):
            yield TokenStates(text.ids, text.special, states)


def _last(files: OnnxFiles, wanted: int | None) -> int:
    """The number of the last layer.

    Raises:
        ConfigError: Another one is wanted.
    """
    if wanted is None:
        return LAST if files.layers is None else files.layers
    if wanted == files.layers:
        return wanted
    last = "the last layer" if files.layers is None else f"the last layer, {files.layers}"
    message = f"an ONNX model has the states of {last} alone, layer {wanted} is asked for"
    hint = "leave `num_layers:` out, or name a `model:` under bertscore (needs valor-cli[hf])"
    raise ConfigError(Problem(str(files.model), message), hint=hint)
