"""PNGs as their specification has them, written without an image library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, data: bytes) -> bytes:
    """Length, name, data, checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(rows: Sequence[bytes], width: int, *, depth: int = 8, kind: int = GRAY) -> bytes:
    """A PNG of packed rows, none of them filtered."""
    header = struct.pack(">IIBBBBB", width, len(rows), depth, kind, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(3 << depth)) if kind == PALETTE else b""
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return SIGNATURE + chunk(b"IHDR", header) + palette + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def label_map(values: ArrayLike, *, depth: int = 8, kind: int = GRAY) -> bytes:
    """A PNG with these whole numbers, (height, width)."""
    numbers = np.asarray(values)
    if depth == 16:
        rows = [row.astype(">u2").tobytes() for row in numbers]
    else:
        # Samples stand from the high bits down; a row ends with a whole byte.
        bits = (numbers[:, :, None] >> np.arange(depth)[::-1]) & 1
        rows = [np.packbits(row.ravel().astype(np.uint8)).tobytes() for row in bits]
    return png(rows, numbers.shape[1], depth=depth, kind=kind)


def colours(values: ArrayLike) -> bytes:
    """An RGB PNG whose pixels are R + 256 G + 65536 B of these whole numbers."""
    numbers = np.asarray(values)
    parts = np.stack([numbers & 255, numbers >> 8 & 255, numbers >> 16], axis=-1)
    rows = [row.astype(np.uint8).tobytes() for row in parts]
    return png(rows, numbers.shape[1], kind=RGB)


def write(path: str | Path, content: bytes) -> None:
    """Write a file, and the folders it needs."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content)
