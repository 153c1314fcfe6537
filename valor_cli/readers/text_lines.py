"""An input comes in; its text in blocks of whole lines goes out."""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.readers.files import CHUNK, TextSource


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
