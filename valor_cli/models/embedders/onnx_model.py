"""Run an ONNX model on texts in batches.

Several batches run in parallel, each on one core, which is faster than all cores on one batch. The
result of a text does not depend on the other texts of its batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.files.onnx_files import OnnxFiles
from valor_cli.models.files.onnx_graph import WHAT, OnnxGraph, first_line
from valor_cli.models.protocols.judge import Stopped
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.text.parts import parts_of

TOKENS_AT_ONCE = 512
"""Of a batch, padding included: of 128, 256, 512 and 1,024 the fastest with MiniLM."""

_EXPANDED = 18
"""Letters that a character outside ASCII can become when normalised (U+FDFA does)."""

Floats = NDArray[np.float32]


class Tokens(NamedTuple):
    """A text as model input.

    Attributes:
        ids: (tokens,) special ones included.
        kinds: (tokens,) the token type of each.
        special: (tokens,) which of them stand for no word.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    special: NDArray[np.bool_]


class OnnxModel:
    """A model, loaded.

    Attributes:
        longest: Tokens of a text that it is shown.
        tokens_out: Whether it makes a vector of each token; else one of each text.
        dimensions: Of a vector.
    """

    def __init__(
        self,
        files: OnnxFiles,
        longest: int,
        stop: Stop,
        *,
        batch_size: int | None = None,
        spelled: bool = False,
    ) -> None:
        """Load it.

        Args:
            files: Where it is.
            longest: Tokens of a text that it is shown.
            stop: Asked before each batch.
            batch_size: Texts of a batch; None: as many as is fastest.
            spelled: Whether "[SEP]" in a text is what the text says; else it is that token.

        Raises:
            ConfigError: It cannot be loaded, or is not of a kind that valor can run.
            MissingExtraError: onnxruntime or tokenizers is not installed.
        """
        _check_positions(files, longest)
        self.longest = longest
        self._stop = stop
        self._lower = files.lower
        self._tokenizer, self._padding = _tokenizer(files, longest)
        self._tokenizer.encode_special_tokens = spelled
        self._graph = OnnxGraph(files.model)
        self.tokens_out = self._graph.tokens_out
        self._texts_at_once = 1 if self._graph.alone else batch_size
        self._tokens_at_once = TOKENS_AT_ONCE if batch_size is None else batch_size * longest
        # Once now, so that what cannot be run is told before any work is done.
        self.dimensions = int(self._computed(self.tokens(["a"])).shape[-1])

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, truncated."""
        return [
            Tokens(
                np.array(one.ids, np.int64),
                np.array(one.type_ids, np.int64),
                np.array(one.special_tokens_mask, np.bool_),
            )
            for one in self._encodings(texts)
        ]

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        # One token less: some tokenizers put a space before a text.
        room = self.longest - self._tokenizer.num_special_tokens_to_add(False) - 1
        long = [
            text
            for text in texts
            if len(text) > room or (len(text) * _EXPANDED > room and not text.isascii())
        ]
        return sum(bool(one.overflowing) for one in self._encodings(long))

    def run(self, texts: Sequence[Tokens], use: Callable[[int, NDArray[Any]], None]) -> None:
        """Run texts in batches of similar length.

        Args:
            texts: Their tokens; a text without any is left out.
            use: Called of each text, in any order and from any thread, with its position and its
                (tokens, dimensions) or (dimensions,) vectors, which it has to copy.

        Raises:
            Stopped: The run ends.
            ConfigError: The model fails.
        """

        def one(group: list[int]) -> None:
            if self._stop.reason is not None:
                raise Stopped(self._stop.reason)
            found = self._computed([texts[at] for at in group])
            for at, vectors in zip(group, found, strict=True):
                use(at, vectors[: len(texts[at].ids)] if self.tokens_out else vectors)

        full = [at for at, text in enumerate(texts) if len(text.ids)]
        groups = batches(
            [len(texts[at].ids) for at in full],
            most_tokens=self._tokens_at_once,
            most_texts=self._texts_at_once,
        )
        if groups:
            with ThreadPoolExecutor(min(_cores(), len(groups)), "onnx") as pool:
                # Gone through for what they raise.
                list(pool.map(one, ([full[at] for at in group] for group in groups)))

    def _encodings(self, texts: Sequence[str]) -> Iterator[Any]:
        for part in parts_of(texts):
            shown = [text.lower() for text in part] if self._lower else part
            yield from self._tokenizer.encode_batch_fast(shown)

    def _computed(self, texts: Sequence[Tokens]) -> NDArray[Any]:
        """(texts, tokens, dimensions) or (texts, dimensions) of a batch."""
        shape = (len(texts), max(len(text.ids) for text in texts))
        ids = np.full(shape, self._padding, np.int64)
        mask, kinds = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
            kinds[row, : len(text.ids)] = text.kinds
        return self._graph.vectors(ids, mask, kinds)


def _check_positions(files: OnnxFiles, longest: int) -> None:
    if files.positions is not None and longest > files.positions:
        message = f"{longest} tokens are asked for, {files.model} sees {files.positions}"
        raise ConfigError(Problem("embedder: max_tokens", message))


def _tokenizer(files: OnnxFiles, longest: int) -> tuple[Any, int]:
    """The tokenizer, set to cut and not to pad, and the id that fills rows.

    Raises:
        ConfigError: It is none.
        MissingExtraError: The package is not installed.
    """
    tokenizers = extra("tokenizers", "embed", WHAT)
    path = str(files.tokenizer)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(path)
    except Exception as error:  # all that it raises is of this class
        message = f"is not a readable tokenizer: {first_line(error)}"
        raise ConfigError(Problem(path, message)) from None
    if tokenizer.num_special_tokens_to_add(False) >= longest:
        message = f"puts as many tokens around a text as are seen ({longest})"
        raise ConfigError(Problem(path, message), hint="set `max_tokens:`")
    padding = files.padding
    if padding is None:
        padding = (tokenizer.padding or {}).get("pad_id", 0)
    direction = (tokenizer.truncation or {}).get("direction", "right")
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest, direction=direction)
    return tokenizer, padding


def _cores() -> int:
    """Of this machine, those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
