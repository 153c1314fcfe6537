"""Pack columns as base64 of little-endian arrays, inside the page or in files beside it."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from valor_cli.masking import masked_bytes

SCALES: Final = (1, 10, 100, 1_000, 10_000, 1_000_000)
"""Powers of ten by which decimal numbers become integers."""

UNSIGNED: Final = (np.uint8, np.uint16, np.uint32)

PROBE: Final = 65_536
"""Bytes compressed first, to see whether a column is worth it."""

WORTH: Final = 0.5
"""Compressed share of a column from which it stays as it is: inflating a page takes time, too."""

FUNCTION: Final = "valorExplorer"
"""The function of the page that files beside it call with their content."""

Blocks = Sequence[bytes | memoryview]


class Blobs:
    """Columns of a page, each content once; large ones stand in files beside the page.

    Args:
        name: Tells the columns from those of other tables of the page.
        budget: Characters of columns in the page.

    Attributes:
        table: Of each column type, length and content, or the file that holds it.
        files: Content of the files in blocks, by name.
    """

    def __init__(self, name: str, budget: int) -> None:
        self.table: list[dict[str, Any]] = []
        self.files: dict[str, Blocks] = {}
        self._name = name
        self._room = budget
        self._known: dict[bytes, int] = {}
        self._waiting: dict[int, bytes] = {}

    def numbers(self, values: Any) -> int:
        """Add numbers without loss, as integers of a power of ten where they are such.

        NaN is the largest integer of its type.
        """
        column = np.asarray(values).ravel().astype(np.float64, copy=False)
        nothing = np.isnan(column)
        finite = column[~nothing] if nothing.any() else column
        lowest, highest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
        for scale in SCALES if lowest >= 0 and np.isfinite(highest) else ():
            if highest * scale >= np.iinfo(np.uint32).max:
                break
            if _are_parts(finite[:100], scale) and _are_parts(finite, scale):
                kind = next(one for one in UNSIGNED if highest * scale < np.iinfo(one).max)
                missing = int(np.iinfo(kind).max)
                codes = np.full(len(column), missing, kind)
                codes[~nothing] = np.rint(finite * scale)
                return self._array(codes, {"s": scale, "m": missing})
        with np.errstate(over="ignore"):
            single = column.astype("<f4")
        exact = np.array_equal(single, column, equal_nan=True)
        return self._array(single if exact else column.astype("<f8", copy=False), {})

    def rounded(self, values: Any, scale: int) -> int:
        """Add numbers that are not negative, rounded to a part of 1 where they fit 16 bits."""
        column = np.asarray(values).ravel()
        lowest, highest = (column.min(), column.max()) if len(column) else (0, 0)
        if lowest >= 0 and float(highest) * scale < np.iinfo(np.uint16).max:
            whole = np.rint(column * column.dtype.type(scale)).astype(np.uint16)
            return self._array(whole, {"s": scale, "m": int(np.iinfo(np.uint16).max)})
        return self._array(column.astype("<f4", copy=False), {})

    def codes(self, values: Any) -> int:
        """Add integers from 0; -1 is the largest integer of its type."""
        column = np.asarray(values).ravel()
        lowest, highest = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        kind = next(one for one in UNSIGNED if highest < np.iinfo(one).max)
        missing = int(np.iinfo(kind).max)
        codes = column.astype(kind)
        if lowest < 0:
            codes[column < 0] = missing
        return self._array(codes, {"m": missing})

    def bits(self, flags: NDArray[np.bool_]) -> int:
        """Add flags, eight to a byte, the first in its lowest bit."""
        return self._array(np.packbits(flags, bitorder="little"), {})

    def json(self, value: Any) -> int:
        """Add any JSON value; secrets of the config are masked."""
        try:
            content = orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
        except TypeError:  # of texts with half a surrogate pair
            content = json_of(value)
        return self._add(masked_bytes(content), {"t": "json"})

    def plain(self, value: Mapping[str, str]) -> int:
        """Add texts that are compressed already, as images are; secrets are masked."""
        content = masked_bytes(json_of(value))
        return self._put({"t": "plain"}, content, hashlib.sha256(content).digest())

    def finish(self) -> None:
        """Decide where the columns added since the last call go: all in the page or in a file."""
        waiting, self._waiting = self._waiting, {}
        size = sum(map(len, waiting.values()))
        if size <= self._room:
            self._room -= size
            for at, content in waiting.items():
                self.table[at]["d"] = json.loads(content)
            return
        blocks: list[bytes | memoryview] = [f"{FUNCTION}(".encode()]
        for at, content in waiting.items():
            blocks += [f'{"," if blocks[1:] else "{"}"{self._name}{at}":'.encode()]
            blocks += [memoryview(content)]
        known = (key for key, at in self._known.items() if at in waiting)
        name = f"explorer-{hashlib.sha256(b''.join(known)).hexdigest()[:10]}.js"
        self.files[name] = [*blocks, b"});\n"]
        for at in waiting:
            self.table[at]["f"] = name

    def _array(self, column: NDArray[Any], rest: dict[str, Any]) -> int:
        ready = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False))
        kind = f"{ready.dtype.kind}{8 * ready.dtype.itemsize}"
        content = ready.data.cast("B") if len(ready) else b""
        return self._add(content, {"t": kind, "n": len(ready), **rest})

    def _add(self, content: bytes | memoryview, entry: dict[str, Any]) -> int:
        head = content[:PROBE]
        if len(zlib.compress(head, 1)) < WORTH * len(head):
            content = zlib.compress(content, 6 if len(content) < PROBE else 1)
            entry = {**entry, "z": 1}
        key = hashlib.sha256(repr(entry).encode())
        key.update(content)
        # Text of this alphabet is JSON between quotes.
        return self._put(entry, b'"%b"' % base64.b64encode(content), key.digest())

    def _put(self, entry: dict[str, Any], content: bytes, key: bytes) -> int:
        """Add what a script writes as `content`, unless it is there."""
        if key not in self._known:
            self._known[key] = len(self.table)
            self._waiting[len(self.table)] = content
            self.table.append(entry)
        return self._known[key]


def _are_parts(values: NDArray[np.float64], scale: int) -> bool:
    return np.array_equal(np.rint(values * scale) / scale, values)


def json_of(value: Any) -> bytes:
    """JSON in ASCII that may stand in a script of a page."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)
    return text.replace("<", "\\u003c").encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else str(value)
