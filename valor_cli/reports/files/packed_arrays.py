"""Write and read files of arrays: two lines, a name and JSON, followed by the arrays.

Each array is in the smallest type that holds its values: integers in as many bytes as they need,
flags in one bit, codes up to 3 in two.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.reports.files.sample_lines import NEXT
from valor_cli.results import EvidenceResult, ObjectsResult, RunResult, SlicesResult

_KINDS = "biufSU"
"""Of arrays: flags, numbers and texts of one length."""

_MISSHAPEN = (LookupError, TypeError, ValueError, AttributeError)
"""What a document of another form raises."""

Array = NDArray[Any]
T = TypeVar("T", EvidenceResult, ObjectsResult, SlicesResult)


def read_records(
    content: bytes,
    path: str,
    result: RunResult,
    name: bytes,
    read: Callable[[Mapping[str, Any], ArrayReader], T],
) -> tuple[tuple[T, ...], Mapping[str, Any]]:
    """The records of a file of arrays, and its document.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.
        result: The run, as results.json has it.
        name: The first line: its second word is the key of the records.
        read: A record with its arrays, which come next.

    Raises:
        DataError: No such file, or that of another run.
    """
    kind = name.split()[1].decode()
    try:
        arrays = ArrayReader(content, path, name)
        found = tuple(read(record, arrays) for record in arrays.document[kind])
    except _MISSHAPEN:
        article = "an" if kind[0] in "aeiou" else "a"
        message = f"not {article} {kind} file of valor"
        raise DataError(Problem(path, message), hint=NEXT) from None
    unknown = next((one.model for one in found if one.model not in result.models), None)
    if unknown is not None:
        message = f"no model {unknown!r:.60} in results.json; is it from another run?"
        raise DataError(Problem(path, message), hint=NEXT)
    return found, arrays.document


class ArrayWriter:
    """Collects the arrays of a file."""

    def __init__(self) -> None:
        self._packed: list[Array] = []

    def add(self, array: Array) -> list[Any]:
        """How the document refers to an array, which is appended."""
        kind, small = _packed(array)
        if small.size:
            self._packed.append(small)
        return [kind, small.dtype.str, small.size, array.dtype.str, array.shape]

    def blocks(self, name: bytes, document: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
        """The file content, array by array.

        Args:
            name: The first line.
            document: What the second line says beside a checksum of the arrays.
        """
        crc = 0
        for one in self._packed:
            crc = zlib.crc32(one.data.cast("B"), crc)
        text = json.dumps({"crc32": crc, **document}, separators=(",", ":"), allow_nan=False)
        yield name
        yield text.encode() + b"\n"
        for one in self._packed:
            yield one.data.cast("B")


class ArrayReader:
    """Reads the arrays of a file, one after the other.

    Attributes:
        document: What the second line says.
    """

    def __init__(self, content: bytes, path: str, name: bytes) -> None:
        """Open a file.

        Args:
            content: Its bytes.
            path: The file they were read from, for messages.
            name: Its first line.

        Raises:
            DataError: It has another first line, or is damaged.
            LookupError, TypeError, ValueError: It has another second line.
        """
        if not content.startswith(name):
            message = f"expected a file that begins with {name[:-1].decode()!r}"
            raise DataError(Problem(path, message), hint=NEXT)
        self._content = content
        self._at = content.find(b"\n", len(name)) + 1
        self.document = json.loads(content[len(name) : self._at])
        if self.document["crc32"] != zlib.crc32(memoryview(content)[self._at :]):
            raise DataError(Problem(path, "the file is damaged or truncated"), hint=NEXT)

    def take(self, told: Sequence[Any]) -> Array:
        """The next array.

        Args:
            told: What the document says of it.

        Raises:
            LookupError, TypeError, ValueError: It is none.
        """
        kind, small, size, dtype, shape = told
        types = np.dtype(small), np.dtype(dtype)
        if any(one.kind not in _KINDS for one in types):
            raise ValueError(types)
        kept = np.zeros(0, types[0])
        if size:
            kept = np.frombuffer(self._content, types[0], size, self._at)
        self._at += kept.nbytes
        return _unpacked(kind, kept, types[1], shape)


def _packed(array: Array) -> tuple[str, Array]:
    """How an array is kept, and what is."""
    flat = np.ascontiguousarray(array).ravel()
    if flat.dtype == bool:
        return "bits", np.packbits(flat)
    if flat.dtype == np.uint8 and int(flat.max(initial=0)) < 4:
        return "pairs", np.concatenate([np.packbits(flat & 1), np.packbits(flat >> 1)])
    if flat.dtype.kind == "i" and flat.size:
        low, high = int(flat.min()), int(flat.max())
        for kind in (np.int8, np.int16, np.int32):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return "as", flat.astype(kind)
    if flat.dtype == np.float64:
        # Detectors compute in single precision, and files have it widened.
        with np.errstate(over="ignore"):
            single = flat.astype(np.float32)
        if np.array_equal(single, flat):
            return "as", single
    return "as", flat


def _unpacked(kind: str, small: Array, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """The array that was kept so."""
    size = int(np.prod(shape, dtype=np.int64))
    if not 0 <= size <= 8 * max(small.size, 1):
        raise ValueError(shape)
    if kind == "bits":
        return np.unpackbits(small, count=size).view(bool).reshape(shape)
    if kind == "pairs":
        low, high = (np.unpackbits(half, count=size) for half in np.split(small, 2))
        return (low | high << 1).reshape(shape)
    return small.astype(dtype).reshape(shape)
