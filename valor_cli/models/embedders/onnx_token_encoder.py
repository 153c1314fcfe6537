"""Hidden states of tokens from an ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.embedders.onnx_model import Floats, OnnxModel
from valor_cli.models.files.onnx_files import OnnxFiles, onnx_files
from valor_cli.models.protocols.identity import ModelIdentity
from valor_cli.models.protocols.token_encoder import STAGE, TokenStates
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings.models import EmbedderSettings

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
        stop: Stop,
        on_progress: Callable[[str, int, int], None],
    ) -> None:
        """Load it.

        Args:
            settings: Which model.
            layer: Whose hidden states; the last, or None for the last.
            stop: Asked between batches.
            on_progress: Called with the progress.

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
            files, self.longest, stop, batch_size=settings.batch_size, spelled=True
        )
        if not self._model.tokens_out:
            problem = Problem(str(files.model), "makes vectors of whole texts, not of tokens")
            raise ConfigError(problem, hint="name a `model:` under bertscore")
        self._on_progress = on_progress

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Token states of each text, in order; long texts are truncated.

        Raises:
            Stopped: The run ends.
            ConfigError: The model fails.
        """
        for at in range(0, len(texts), _TEXTS_AT_ONCE):
            self._on_progress(STAGE, at, len(texts))
            yield from self._states(texts[at : at + _TEXTS_AT_ONCE])
        self._on_progress(STAGE, len(texts), len(texts))

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
