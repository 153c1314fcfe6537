"""Run an ONNX model on texts in batches.

Several batches run in parallel, each on one core, which is faster than all cores on one batch. The
result of a text does not depend on the other texts of its batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.files.model_folder import first_line
from valor_cli.models.files.onnx_files import OnnxFiles
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.text.tokens import parts_of, read_tokenizer

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
    tokenizer = read_tokenizer(files.tokenizer, "embed", WHAT)
    if tokenizer.num_special_tokens_to_add(False) >= longest:
        message = f"puts as many tokens around a text as are seen ({longest})"
        raise ConfigError(Problem(str(files.tokenizer), message), hint="set `max_tokens:`")
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


WHAT = "backend: onnx"

_AT_ONCE = 1 << 20
_FATAL_ONLY = 4
_KNOWN = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS: dict[str, np.dtype[Any]] = {
    "tensor(int64)": np.dtype(np.int64),
    "tensor(int32)": np.dtype(np.int32),
}
_FLOATS = ("tensor(float)", "tensor(float16)", "tensor(double)")

Ids = NDArray[np.int64]


class OnnxGraph:
    """A graph, loaded.

    Attributes:
        tokens_out: Whether it makes a vector of each token; else one of each text.
        alone: Whether a text's vector would depend on the others of its batch.
    """

    def __init__(self, path: Path) -> None:
        """Load it.

        Raises:
            ConfigError: It cannot be loaded, or is not of a kind that valor can run.
            MissingExtraError: onnxruntime is not installed.
        """
        self._place = str(path)
        self._session = _session(path)
        self._inputs = self._accepted()
        self._output, self.tokens_out = self._chosen()
        self.alone = self._must_be_alone(path)

    def vectors(self, ids: Ids, mask: Ids, kinds: Ids) -> NDArray[Any]:
        """Run the graph on a batch. Thread-safe.

        Args:
            ids: (texts, tokens) rows are filled up to one length.
            mask: (texts, tokens) 1 where a text is, 0 where it is filled up.
            kinds: (texts, tokens) token types.

        Returns:
            (texts, tokens, dimensions) or (texts, dimensions).

        Raises:
            ConfigError: It fails.
        """
        given = dict(zip(_KNOWN, (ids, mask, kinds), strict=True))
        feeds = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        try:
            (found,) = self._session.run([self._output], feeds)
        except Exception as error:  # all that it raises are classes of their own
            hint = "check that tokenizer.json belongs to this model"
            problem = Problem(self._place, f"cannot be run: {first_line(error)}")
            raise ConfigError(problem, hint=hint) from None
        vectors: NDArray[Any] = found
        if vectors.shape[:-1] != (ids.shape if self.tokens_out else ids.shape[:1]):
            message = f"makes vectors of shape {vectors.shape} of texts of shape {ids.shape}"
            raise ConfigError(Problem(self._place, message))
        return vectors

    def _accepted(self) -> dict[str, np.dtype[Any]]:
        """By name of an input, its type.

        Raises:
            ConfigError: It wants something that is not known, or texts of one length alone.
        """
        inputs = self._session.get_inputs()
        names = [one.name for one in inputs]
        known = all(one.name in _KNOWN and one.type in _INTEGERS for one in inputs)
        if not known or "input_ids" not in names:
            told = f"has the inputs {', '.join(names)}; known are {', '.join(_KNOWN)} of integers"
            hint = "export it for feature extraction: optimum-cli export onnx"
            raise ConfigError(Problem(self._place, told), hint=hint)
        fixed = [one for one in inputs if len(one.shape) == 2 and isinstance(one.shape[1], int)]
        if fixed:
            told = f"takes texts of {fixed[0].shape[1]} tokens alone; export it with dynamic axes"
            raise ConfigError(Problem(self._place, told))
        return {one.name: _INTEGERS[one.type] for one in inputs}

    def _chosen(self) -> tuple[str, bool]:
        """The output that is used, and whether it has vectors of tokens.

        Raises:
            ConfigError: It has none that could be.
        """
        outputs = self._session.get_outputs()
        # A pooler was trained to tell next sentences, not to embed.
        usable = [one for one in outputs if one.type in _FLOATS and one.name != "pooler_output"]
        for rank in (3, 2):
            of_rank = [one.name for one in usable if len(one.shape) == rank]
            if of_rank:
                return of_rank[0], rank == 3
        told = ", ".join(f"{one.name} {one.shape}" for one in outputs)
        message = f"has no vectors of tokens or texts among its outputs: {told}"
        raise ConfigError(Problem(self._place, message))

    def _must_be_alone(self, path: Path) -> bool:
        # Without a mask, padding is seen. Activations that are quantised as they come have one
        # scale for the whole batch.
        shape = self._session.get_inputs()[0].shape
        if "attention_mask" not in self._inputs or (shape and shape[0] == 1):
            return True
        return _contains(path, b"DynamicQuantize")


def _session(path: Path) -> Any:
    """The graph on one CPU core, silent; libraries of custom operations are never loaded."""
    onnxruntime = extra("onnxruntime", "embed", WHAT)
    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # all that it raises are classes of their own
        message = f"cannot be loaded: {first_line(error)}"
        raise ConfigError(Problem(str(path), message), hint="fetch or export it again") from None


def _contains(path: Path, word: bytes) -> bool:
    """Whether a file contains some bytes, such as the name of an operation."""
    before = b""
    with path.open("rb") as file:
        while part := file.read(_AT_ONCE):
            if word in before + part:
                return True
            before = part[-len(word) :]
    return False
