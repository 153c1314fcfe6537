"""Blocks of whole lines, and single lines of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from valor_cli.data.source.files import TextSource
from valor_cli.data.source.text_lines import blocks_of_lines, lines_at


@pytest.mark.parametrize("size", [1, 4, 7, 1000])
@pytest.mark.parametrize("text", [b"a\nbcd\n\nefghijkl\nm\n", b"a\nbc", b"\n", b"abc"])
def test_blocks_end_with_a_line(tmp_path: Path, text: bytes, size: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text)
    blocks = list(blocks_of_lines(TextSource(str(path)), size))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(blocks)


@pytest.mark.parametrize("block", [b"a\nbcd\n\r\n\nefg\n", b"a\nbcd\n\r\n\nefg", b"\n\n", b"a"])
def test_single_lines_of_a_block(block: bytes) -> None:
    lines = block.removesuffix(b"\n").split(b"\n")
    for chosen in ([], [0], [len(lines) - 1], list(range(len(lines)))):
        found = lines_at(block, np.array(chosen, np.int64))
        assert found == [lines[at] for at in chosen]
