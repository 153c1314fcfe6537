"""Pieces of files: every byte in one of them, every line in one of them, nothing else changed."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
from itertools import chain
from pathlib import Path

import pytest

from valor_cli.data.partition.pieces import (
    Piece,
    Span,
    cut,
    line_above,
    seamless,
    sha256_of,
    span_of_lines,
)
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

LINES = "a\n\nlonger é line\r\n  \nlast".encode()


@pytest.mark.parametrize("size", range(1, len(LINES) + 2))
def test_lines_of_pieces_are_the_lines_of_the_file(size: int) -> None:
    Path("a.txt").write_bytes(LINES)
    pieces = cut("a.txt", size)
    if size >= len(LINES):
        assert pieces == [Piece("a.txt")]
        return
    assert [piece.number for piece in pieces] == list(range(len(pieces)))
    assert all(0 < piece.end - piece.start <= size for piece in pieces if piece.end is not None)
    assert seamless([Span(piece.start, piece.end or 0) for piece in pieces], len(LINES))
    spans = [span_of_lines(piece) for piece in pieces]
    assert seamless(spans, len(LINES))
    texts = [TextSource("a.txt", span).whole() for span in spans]
    assert b"".join(texts) == LINES
    for piece, text, span in zip(pieces, texts, spans, strict=True):
        # A piece has the lines that begin in it, none of them cut.
        begins = [at for at in range(len(LINES)) if at == 0 or LINES[at - 1 : at] == b"\n"]
        own = [at for at in begins if piece.start <= at < (piece.end or 0)]
        assert bool(text) == bool(own)
        assert not own or span.begin == own[0]
        assert text.endswith(b"\n") or not text or span.end == len(LINES)


def test_the_line_above_a_line() -> None:
    # Longer than what is read at once.
    text = b"a\n\n" + b"x" * 200_000 + b"\nb\n"
    Path("a.txt").write_bytes(text)
    assert line_above("a.txt", 2) == Span(0, 2)
    assert line_above("a.txt", 3) == Span(2, 3)
    assert line_above("a.txt", 200_004) == Span(3, 200_004)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl.gz", gzip.compress(b"x" * 100, mtime=0)),
        # By what is in them, whatever their names.
        ("a.jsonl", gzip.compress(b"x" * 100, mtime=0)),
        ("a.jsonl", b"\x28\xb5\x2f\xfd" + b"x" * 100),
        ("a.jsonl", "text".encode("utf-16")),
        ("a.jsonl", "text".encode("utf-32-le")),
        ("a.gz", b"plain text"),
        ("a.jsonl", b""),
    ],
)
def test_what_cannot_be_cut_is_one_piece(name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    assert cut(name, 2) == [Piece(name)]


def test_what_is_no_file_is_one_piece() -> None:
    os.mkfifo("pipe")
    os.mkdir("folder")
    for path in ("-", "s3://bucket/a.jsonl", "pipe", "folder", "nothing", "nul\0"):
        assert cut(path, 1) == [Piece(path)]


def test_a_piece_of_no_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="found 0"):
        cut("a.txt", 0)


def test_pieces_travel() -> None:
    piece = Piece("a.txt", 3, 9, 1)
    assert pickle.loads(pickle.dumps(piece)) == piece  # noqa: S301 - of its own making


def test_a_mark_at_the_beginning_is_left_out_and_elsewhere_is_text() -> None:
    mark = b"\xef\xbb\xbf"
    Path("a.txt").write_bytes(mark + b"a\n" + mark + b"b\n")
    assert TextSource("a.txt", Span(0, 5)).whole() == b"a\n"
    assert TextSource("a.txt", Span(5, 10)).whole() == mark + b"b\n"


def test_lines_that_look_like_another_encoding_are_text_in_the_middle() -> None:
    # The first is how frames of zstd may begin, the second how UTF-32 does.
    for line in (b"P*M\x18\n", b"\0\0\n"):
        Path("a.txt").write_bytes(b"a\n" + line)
        assert TextSource("a.txt", Span(2, 2 + len(line))).whole() == line


def test_what_is_no_text_is_named_by_its_place_in_the_file() -> None:
    Path("a.txt").write_bytes(b"abc\nde\xfff\n")
    with pytest.raises(DataError, match="byte 0xff at offset 6"):
        TextSource("a.txt", Span(4, 9)).whole()


def test_a_character_that_chunks_divide_is_text() -> None:
    text = "éé漢é\n".encode()
    Path("a.txt").write_bytes(b"a\n" + text)
    source = TextSource("a.txt", Span(2, 2 + len(text)))
    for size in range(1, len(text)):
        assert b"".join(source.chunks(size)) == text


def test_a_file_that_shrinks_is_named() -> None:
    Path("a.txt").write_bytes(b"abc\n")
    with pytest.raises(DataError, match=r"^a\.txt: the file became shorter while it was read"):
        TextSource("a.txt", Span(0, 9)).whole()
    with pytest.raises(DataError, match=r"^b\.txt: no such file"):
        TextSource("b.txt", Span(0, 9)).whole()
    with pytest.raises(DataError, match="no such file"):
        span_of_lines(Piece("b.txt", 0, 4))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 4), (4, 4), (4, 9)], True),
        ([(0, 4), (5, 9)], False),
        ([(0, 5), (4, 9)], False),
        ([(0, 4), (4, 8)], False),
        ([(1, 9)], False),
        ([(0, 9), (9, 5), (5, 9)], False),
        ([(0, 12)], False),
    ],
)
def test_spans_that_join(spans: list[tuple[int, int]], expected: bool) -> None:
    assert seamless([Span(*span) for span in spans], 9) is expected


def test_the_hash_of_a_file_is_that_of_its_stored_bytes() -> None:
    content = bytes(chain.from_iterable(range(256) for _ in range(8_200)))
    Path("a.bin").write_bytes(content)
    assert sha256_of("a.bin") == hashlib.sha256(content).hexdigest()
    with pytest.raises(DataError, match=r"^b\.bin: no such file"):
        sha256_of("b.bin")
