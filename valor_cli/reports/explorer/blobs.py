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

HALF: Final = 0.7
"""Compressed share of a column from which it stays as it is."""

FUNCTION: Final = "valorExplorer"
"""The function of the page that files beside it call with their content."""


class Blobs:
    """Columns of a page, each content once; large ones stand in files beside the page.

    Args:
        name: Tells the columns from those of other tables of the page.
        budget: Characters of columns in the page.

    Attributes:
        table: Of each column type, length and content, or the file that holds it.
        files: Content of the files, by name.
    """

    def __init__(self, name: str, budget: int) -> None:
        self.table: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self._name = name
        self._room = budget
        self._known: dict[bytes, int] = {}
        self._waiting: list[int] = []

    def numbers(self, values: Any) -> int:
        """Add numbers without loss, as integers of a power of ten where they are such.

        NaN is the largest integer of its type.
        """
        column = np.asarray(values, np.float64).ravel()
        finite = column[~np.isnan(column)]
        lowest, highest = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
        for scale in SCALES if lowest >= 0 and np.isfinite(highest) else ():
            if highest * scale >= np.iinfo(np.uint32).max:
                break
            whole = np.rint(finite * scale)
            if np.array_equal(whole / scale, finite):
                kind = next(one for one in UNSIGNED if highest * scale < np.iinfo(one).max)
                missing = int(np.iinfo(kind).max)
                codes = np.full(len(column), missing, kind)
                codes[~np.isnan(column)] = whole
                return self._array(codes, {"s": scale, "m": missing})
        return self._array(column.astype("<f8"), {})

    def rounded(self, values: Any, scale: int) -> int:
        """Add numbers that are not negative, rounded to a part of 1 where they fit 16 bits."""
        column = np.asarray(values, np.float64).ravel()
        lowest, highest = (column.min(), column.max()) if len(column) else (0.0, 0.0)
        if lowest >= 0 and highest * scale < np.iinfo(np.uint16).max:
            whole = np.rint(column * scale).astype(np.uint16)
            return self._array(whole, {"s": scale, "m": int(np.iinfo(np.uint16).max)})
        return self._array(column.astype("<f4"), {})

    def codes(self, values: Any) -> int:
        """Add integers from 0; -1 is the largest integer of its type."""
        column = np.asarray(values, np.int64).ravel()
        highest = int(column.max()) if len(column) else 0
        kind = next(one for one in UNSIGNED if highest < np.iinfo(one).max)
        missing = int(np.iinfo(kind).max)
        return self._array(np.where(column < 0, missing, column).astype(kind), {"m": missing})

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
        """Add texts that are compressed already, as images are."""
        return self._put({"t": "plain", "d": dict(value)}, json_of(value))

    def finish(self) -> None:
        """Decide where the columns added since the last call go: all in the page or in a file."""
        waiting, self._waiting = self._waiting, []
        size = sum(_size(self.table[at]) for at in waiting)
        if size <= self._room:
            self._room -= size
            return
        content = json_of({f"{self._name}{at}": self.table[at]["d"] for at in waiting})
        digest = hashlib.sha256(content).hexdigest()[:10]
        name = f"explorer-{digest}.js"
        self.files[name] = f"{FUNCTION}(".encode() + content + b");\n"
        for at in waiting:
            del self.table[at]["d"]
            self.table[at]["f"] = name

    def _array(self, column: NDArray[Any], rest: dict[str, Any]) -> int:
        ready = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False))
        kind = {"u": "u", "i": "i", "f": "f"}[ready.dtype.kind] + str(8 * ready.dtype.itemsize)
        return self._add(ready.tobytes(), {"t": kind, "n": len(ready), **rest})

    def _add(self, content: bytes, entry: dict[str, Any]) -> int:
        head = content[:PROBE]
        if len(zlib.compress(head, 1)) < HALF * len(head):
            content = zlib.compress(content, 6 if len(content) < PROBE else 1)
            entry = {**entry, "z": 1}
        return self._put({**entry, "d": base64.b64encode(content).decode()}, content)

    def _put(self, entry: dict[str, Any], content: bytes) -> int:
        told = [(name, value) for name, value in entry.items() if name != "d"]
        key = hashlib.sha256(repr(told).encode() + content).digest()
        if key not in self._known:
            self._known[key] = len(self.table)
            self._waiting.append(len(self.table))
            self.table.append(entry)
        return self._known[key]


def _size(entry: Mapping[str, Any]) -> int:
    held = entry["d"]
    return len(held) if isinstance(held, str) else sum(map(len, held.values()))


def json_of(value: Any) -> bytes:
    """JSON in ASCII that may stand in a script of a page."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)
    return text.replace("<", "\\u003c").encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else str(value)
