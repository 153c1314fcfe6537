"""Run an ONNX graph on token ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra

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


def first_line(error: Exception) -> str:
    """The first line of a library's error, shortened for a message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
