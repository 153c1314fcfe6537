"""Look up precomputed vectors in a JSONL file, {"text": "…", "vector": […]} per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.models.json_lines import Faults, lines
from valor_cli.models.protocols import Embedder, ModelIdentity, sha256_of
from valor_cli.models.settings import EmbedderSettings

_SHOWN = 60


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    vector: list[float]


# Files of vectors are large: this reads them ten times as fast as the standard library does.
_DECODER = msgspec.json.Decoder(_Line)


class PrecomputedEmbedder(Embedder):
    """Precomputed vectors from a file."""

    def __init__(self, settings: EmbedderSettings) -> None:
        """Read the file.

        Raises:
            DataError: It cannot be read, or lines of it cannot be used.
        """
        self._path = settings.vectors or ""
        self.name = settings.model or settings.backend
        self._vectors = _read(self._path)
        # A file of new answers' vectors is another file; the model that made them is the same, and
        # only the user can say which. Without its name the bytes are all there is to tell it by.
        digest = None if settings.model else sha256_of(Path(self._path))
        self.identity = ModelIdentity(self.name, digest)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) the vector of each.

        Raises:
            DataError: The file lacks a text.
        """
        lacking = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if lacking:
            problems = [
                Problem(self._path, f"has no vector of the text {_shown(text)}")
                for text in lacking[:LISTED]
            ]
            hint = 'add a line {"text": …, "vector": […]} for each text'
            raise DataError(problems, total=len(lacking), hint=hint)
        if not texts:
            return np.empty((0, 0))
        return np.array([self._vectors[text] for text in texts])


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def _read(path: str) -> dict[str, NDArray[np.float64]]:
    vectors: dict[str, NDArray[np.float64]] = {}
    faults = Faults(path)
    for number, line in lines(path):
        said = _added(vectors, line)
        if said:
            faults.add(number, said)
    faults.check()
    return vectors


def _added(vectors: dict[str, NDArray[np.float64]], line: bytes) -> str:
    """What is wrong with a line; empty where its vector was added."""
    try:
        said = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        wanted = 'a line {"text": "…", "vector": [numbers]} was expected'
        return f"{wanted}: {error}"
    vector = np.array(said.vector, np.float64)
    if not vector.size:
        return "the vector is empty"
    if not np.isfinite(vector).all():
        return "the vector has a number too large"
    length = len(next(iter(vectors.values()), vector))
    if len(vector) != length:
        return f"the vector has {len(vector)} numbers, those before have {length}"
    if not np.array_equal(vectors.setdefault(said.text, vector), vector):
        return f"another vector of the text {_shown(said.text)} is in an earlier line"
    return ""
