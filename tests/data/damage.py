"""Ways in which a file breaks; each takes a good file and gives the path of what is left of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import zstandard

Damage = Callable[[Path], Path]


def _beside(path: Path, suffix: str, content: bytes) -> Path:
    path.unlink()
    other = path.with_name(path.name + suffix)
    other.write_bytes(content)
    return other


def cut_gzip(path: Path) -> Path:
    """As a copy that was interrupted."""
    packed = gzip.compress(path.read_bytes(), mtime=0)
    return _beside(path, ".gz", packed[: len(packed) * 2 // 3])


def flipped_gzip(path: Path) -> Path:
    """A byte of the checksum at the end is another."""
    packed = bytearray(gzip.compress(path.read_bytes(), mtime=0))
    packed[-6] ^= 0xFF
    return _beside(path, ".gz", bytes(packed))


def cut_zstd(path: Path) -> Path:
    """As a copy that was interrupted."""
    packed = zstandard.compress(path.read_bytes())
    return _beside(path, ".zst", packed[: len(packed) * 2 // 3])


def misnamed(path: Path) -> Path:
    """Said to be compressed."""
    return path.rename(path.with_name(path.name + ".gz"))


def latin(path: Path) -> Path:
    """A byte that UTF-8 does not have there."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] = 0xE9
    path.write_bytes(content)
    return path


def utf16(path: Path) -> Path:
    """Two bytes a character."""
    path.write_text(path.read_text(), encoding="utf-16")
    return path


def emptied(path: Path) -> Path:
    """No bytes."""
    path.write_bytes(b"")
    return path


def a_folder(path: Path) -> Path:
    """Something else under that name."""
    path.unlink()
    path.mkdir()
    return path


def gone(path: Path) -> Path:
    """Listed, and not there when it is opened."""
    path.unlink()
    path.symlink_to("nowhere")
    return path


def other_content(path: Path) -> Path:
    """A picture."""
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    return path


def other_columns(path: Path) -> Path:
    """No name that it should have."""
    lines = path.read_text().splitlines()
    if path.suffix == ".csv":
        lines[0] = ",".join(f"c{at}" for at, _ in enumerate(lines[0].split(",")))
    elif path.suffix == ".jsonl":
        lines = [json.dumps({f"c{at}": 1 for at, _ in enumerate(lines)}) for _ in lines]
    else:
        lines = ['{"c0": 1}']
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def cut(path: Path) -> Path:
    """Two thirds of one JSON document."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return path


DAMAGES: Mapping[str, Damage] = {
    one.__name__: one
    for one in (
        cut_gzip,
        flipped_gzip,
        cut_zstd,
        misnamed,
        latin,
        utf16,
        emptied,
        a_folder,
        gone,
        other_content,
        other_columns,
    )
}
"""What breaks any file; `cut` breaks those that are one document."""
