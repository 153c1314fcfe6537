"""Read an input in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.source.files import CHUNK, TextSource

_NEW_LINE = ord("\n")


def blocks_of_lines(source: TextSource, size: int = CHUNK) -> Iterator[bytes]:
    """The text, cut after line ends alone; every block but the last ends with one.

    A block is as long as a chunk, unless a line is longer. Raises as `TextSource.chunks` does.
    """
    waiting: list[bytes] = []
    for chunk in source.chunks(size):
        end = chunk.rfind(b"\n") + 1
        if not end:
            waiting.append(chunk)
            continue
        yield b"".join([*waiting, chunk[:end]])
        waiting = [chunk[end:]]
    if rest := b"".join(waiting):
        yield rest


def lines_at(block: bytes, chosen: NDArray[Any]) -> list[bytes]:
    """Select lines of a block, without line ends.

    Args:
        block: Whole lines.
        chosen: (k,) which, from 0.
    """
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEW_LINE)
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    end = ends[chosen]
    start = np.where(chosen > 0, ends[chosen - 1] + 1, 0)
    return [block[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)]
