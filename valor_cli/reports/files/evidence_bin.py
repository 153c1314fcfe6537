"""Write and read evidence.bin: the evidence of values that were not resampled.

Two lines, a name and JSON, are followed by the arrays, each in the smallest type that holds its
values: integers in as many bytes as they need, flags in one bit, codes up to 3 in two.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.reports.files.sample_columns import NEXT
from valor_cli.results import EvidenceResult, RunResult

_NAME = b"valor evidence 1\n"
_KINDS = "biufSU"
"""Of arrays: flags, numbers and texts of one length."""

_FORM = (LookupError, TypeError, ValueError, AttributeError)
"""What a document of another form raises."""

Array = NDArray[Any]


def to_blocks(result: RunResult) -> Iterator[bytes | memoryview]:
    """The file content, array by array."""
    packed: list[Array] = []
    document = [_told(one, packed) for one in result.evidence]
    crc = 0
    for one in packed:
        crc = zlib.crc32(one.data.cast("B"), crc)
    text = json.dumps({"crc32": crc, "evidence": document}, separators=(",", ":"), allow_nan=False)
    yield _NAME
    yield text.encode() + b"\n"
    for one in packed:
        yield one.data.cast("B")


def _told(one: EvidenceResult, packed: list[Array]) -> dict[str, Any]:
    """The document entry of some evidence, with its arrays appended."""
    arrays = []
    texts = isinstance(one.unit_ids, np.ndarray)
    for array in [*one.arrays, *([one.unit_ids] if texts else [])]:
        kind, small = _packed(array)
        if small.size:
            packed.append(small)
        arrays.append([kind, small.dtype.str, small.size, array.dtype.str, array.shape])
    return {
        "model": one.model,
        "wing": one.wing,
        "calls": [[name, dict(parameters)] for name, parameters in one.calls],
        # The last of the arrays, where they are texts of about one length.
        "unit_ids": None if texts else list(one.unit_ids),
        "groups": None if one.groups is None else list(one.groups),
        "tree": one.tree,
        "arrays": arrays,
    }


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


def from_bytes(content: bytes, path: str, result: RunResult) -> tuple[EvidenceResult, ...]:
    """Read what `to_blocks` wrote.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.
        result: The run, as results.json has it.

    Raises:
        DataError: No such file, or that of another run.
    """
    if not content.startswith(_NAME):
        message = f"expected a file that begins with {_NAME[:-1].decode()!r}"
        raise DataError(Problem(path, message), hint=NEXT)
    begin = content.find(b"\n", len(_NAME)) + 1
    try:
        document = json.loads(content[len(_NAME) : begin])
        if document["crc32"] != zlib.crc32(memoryview(content)[begin:]):
            raise DataError(Problem(path, "the file is damaged or truncated"), hint=NEXT)
        found, at = [], begin
        for record in document["evidence"]:
            one, at = _read(record, content, at)
            found.append(one)
    except _FORM:
        raise DataError(Problem(path, "not an evidence file of valor"), hint=NEXT) from None
    unknown = next((one.model for one in found if one.model not in result.models), None)
    if unknown is not None:
        message = f"no model {unknown!r:.60} in results.json; is it from another run?"
        raise DataError(Problem(path, message), hint=NEXT)
    return tuple(found)


def _read(record: Mapping[str, Any], content: bytes, at: int) -> tuple[EvidenceResult, int]:
    """Some evidence whose arrays begin there; and where they end."""
    arrays = []
    for kind, small, size, dtype, shape in record["arrays"]:
        types = np.dtype(small), np.dtype(dtype)
        if any(one.kind not in _KINDS for one in types):
            raise ValueError(types)
        kept = np.frombuffer(content, types[0], size, at) if size else np.zeros(0, types[0])
        arrays.append(_unpacked(kind, kept, types[1], shape))
        at += kept.nbytes
    groups = record["groups"]
    ids: Any = arrays.pop() if record["unit_ids"] is None else tuple(record["unit_ids"])
    one = EvidenceResult(
        record["model"],
        int(record["wing"]),
        [(str(name), _frozen(parameters)) for name, parameters in record["calls"]],
        ids,
        None if groups is None else tuple(groups),
        record["tree"],
        arrays,
    )
    return one, at


def _frozen(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {name: _frozen(item) for name, item in value.items()}
    return value
