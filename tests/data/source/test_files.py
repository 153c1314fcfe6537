"""Opening inputs: what comes through unchanged, and what every broken input says."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import zstandard

from valor_cli.data.partition.pieces import Span
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.errors import DataError


def failure(source: TextSource) -> str:
    with pytest.raises(DataError) as caught:
        source.whole()
    return str(caught.value)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_chunks_join_to_the_text_and_hash_the_file(tmp_path: Path, size: int) -> None:
    content = '[1, 2, "köln ≥ 🦊"]'.encode()
    path = tmp_path / "a.json"
    path.write_bytes(content)
    source = TextSource(str(path))
    assert b"".join(source.chunks(size)) == content
    assert source.sha256 == hashlib.sha256(content).hexdigest()
    assert source.whole() == content


def test_a_byte_order_mark_is_left_out_and_hashed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[]")
    source = TextSource(str(path))
    assert b"".join(source.chunks(1)) == b"[]"
    assert source.sha256 == hashlib.sha256(b"\xef\xbb\xbf[]").hexdigest()


@pytest.mark.parametrize("name", ["a.json.gz", "a.json"])
def test_gzip_is_known_by_its_content_and_hashed_as_stored(tmp_path: Path, name: str) -> None:
    content = b"[" + b"1," * 50_000 + b"1]"
    # Two members, as bgzip and `cat a.gz b.gz` write them.
    stored = gzip.compress(content[:70], mtime=0) + gzip.compress(content[70:], mtime=0)
    path = tmp_path / name
    path.write_bytes(stored)
    source = TextSource(str(path))
    assert b"".join(source.chunks(1000)) == content
    assert source.sha256 == hashlib.sha256(stored).hexdigest()
    assert source.whole() == content


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[1]")))
    source = TextSource("-")
    assert (source.whole(), source.whole()) == (b"[1]", b"[1]")
    assert source.sha256 == hashlib.sha256(b"[1]").hexdigest()


def test_a_named_pipe_can_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"[1]",))
    writer.start()
    source = TextSource(str(path))
    assert (source.whole(), source.whole()) == (b"[1]", b"[1]")
    writer.join()


def test_the_hash_is_known_only_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has not been read to its end"):
        _ = TextSource(str(tmp_path / "a")).sha256


def test_a_missing_file_names_its_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "predictions.json").write_bytes(b"[]")
    absolute = str(tmp_path / "prediction.json")
    hint = "(did you mean 'predictions.json'?)"
    assert failure(TextSource(absolute)) == f"{absolute}: no such file {hint}"
    monkeypatch.chdir(tmp_path)
    expected = f"prediction.json: no such file (relative to {tmp_path}) {hint}"
    assert failure(TextSource("prediction.json")) == expected
    expected = f"x/a.json: no such file: there is no folder 'x' (relative to {tmp_path})"
    assert failure(TextSource("x/a.json")) == expected


def test_what_is_no_file_says_so(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert failure(TextSource(folder)) == f"{folder}: this is a folder; name a file in it"
    (tmp_path / "empty").write_bytes(b"")
    empty = f"{folder}/empty"
    assert failure(TextSource(empty)) == f"{empty}: the file is empty"
    below = f"{empty}/x"
    assert failure(TextSource(below)) == f"{below}: cannot be read: Not a directory"
    assert failure(TextSource("a\ud800")) == (
        "a\\ud800: no such file (the name holds half a character)"
    )
    expected = "a\\x00b: no such file (the name holds a NUL character)"
    assert failure(TextSource("a\0b")) == expected


def test_a_forbidden_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permission bits do not stop root, who may run these tests.
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert failure(TextSource("secret.json")) == "secret.json: no permission to read this file"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbf", "the file is empty"),
        ("[1]".encode("utf-16"), "this looks like UTF-16 or UTF-32; save it as UTF-8 text"),
        ("[1]".encode("utf-16-le"), "this looks like UTF-16 or UTF-32; save it as UTF-8 text"),
        ("[1]".encode("utf-32"), "this looks like UTF-16 or UTF-32; save it as UTF-8 text"),
        (b'["k\xf6ln"]', "not UTF-8 text (byte 0xf6 at offset 3); save it as UTF-8 text"),
        (b'\xef\xbb\xbf["\xff', "not UTF-8 text (byte 0xff at offset 5); save it as UTF-8 text"),
        (b'["k\xc3', "not UTF-8 text (byte 0xc3 at offset 3); save it as UTF-8 text"),
        (b"\xed\xa0\x80", "not UTF-8 text (byte 0xed at offset 0); save it as UTF-8 text"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_text_in_another_encoding_says_so(
    tmp_path: Path, content: bytes, message: str, size: int
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(TextSource(str(path)).chunks(size))
    line = ":1" * message.startswith("not UTF-8")
    assert str(caught.value) == f"{path}{line}: {message}"


@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("size", [1, 7, 1 << 17])
def test_the_line_of_bytes_that_are_no_text(tmp_path: Path, packed: Any, size: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(packed(b"\xef\xbb\xbfone\ntwo\n\nab\xff\n"))
    said = f"^{path}:4: not UTF-8 text .byte 0xff at offset 14."
    with pytest.raises(DataError, match=said):
        list(TextSource(str(path)).chunks(size))
    if packed is bytes:
        for begin in (0, 3, 7, 11, 13):
            with pytest.raises(DataError, match=said):
                list(TextSource(str(path), Span(begin, 16)).chunks(size))


def test_a_broken_gzip_file_says_so(tmp_path: Path) -> None:
    stored = gzip.compress(bytes(range(32, 127)) * 100, mtime=0)
    path = tmp_path / "a.json.gz"
    cut = f"{path}: the gzip file is damaged or cut off ("
    for damaged in (stored[:-20], stored[:2], stored[:15], stored[:20] + b"\0\xff" + stored[22:]):
        path.write_bytes(damaged)
        assert failure(TextSource(str(path))).startswith(cut)
    path.write_bytes(stored[:-20])
    expected = "Compressed file ended before the end-of-stream marker was reached)"
    assert failure(TextSource(str(path))) == cut + expected
    path.write_bytes(b"[]")
    expected = f"{path}: the name ends in .gz, but this is not a gzip file; rename it"
    assert failure(TextSource(str(path))) == expected
    path.write_bytes(gzip.compress(b""))
    assert failure(TextSource(str(path))) == f"{path}: the file is empty"


def test_standard_input_that_gives_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    expected = "-: standard input is closed; name a file instead"
    assert failure(TextSource("-")) == expected

    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Terminal()))
    expected = "-: standard input is a terminal; name a file or pipe one in"
    assert failure(TextSource("-")) == expected


def zstd(text: bytes, level: int = 3) -> bytes:
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(text)


# What pzstd puts before each frame, to be skipped: four bytes of its own.
SKIPPED = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"


@pytest.mark.parametrize("name", ["a.json.zst", "a.json"])
@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 17])
def test_zstd_is_known_by_its_content_and_hashed_as_stored(
    tmp_path: Path, name: str, size: int
) -> None:
    content = b"[" + b"1," * 50_000 + b"1]"
    path = tmp_path / name
    first, second = zstd(content[:70]), zstd(content[70:])
    for stored in (zstd(content), first + second, SKIPPED + first + SKIPPED + second + SKIPPED):
        path.write_bytes(stored)
        source = TextSource(str(path))
        chunks = list(source.chunks(size))
        assert b"".join(chunks) == content
        # The first chunk may be longer, to tell the encoding.
        assert max(map(len, chunks[1:]), default=0) <= size
        assert source.sha256 == hashlib.sha256(stored).hexdigest()
        assert source.whole() == content


def test_zstd_from_a_stream_and_with_a_long_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    # No size in the header, as of a pipe: the window is then as large as was asked for.
    stored = compressor.compress(b"[1]") + compressor.flush()
    path = tmp_path / "a.json.zst"
    path.write_bytes(stored)
    assert TextSource(str(path)).whole() == b"[1]"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stored)))
    source = TextSource("-")
    assert (source.whole(), source.whole()) == (b"[1]", b"[1]")


def test_a_broken_zstd_file_says_so(tmp_path: Path) -> None:
    stored = zstd(bytes(range(32, 127)) * 100)
    path = tmp_path / "a.json.zst"
    broken = f"{path}: the zstd file is damaged or cut off ("
    flipped = stored[:20] + bytes([stored[20] ^ 255]) + stored[21:]
    checksum = stored[:-1] + bytes([stored[-1] ^ 255])
    for damaged in (flipped, checksum, stored + b"abc", stored + stored[:9], SKIPPED[:10]):
        path.write_bytes(damaged)
        assert failure(TextSource(str(path))).startswith(broken)
    expected = f"{broken}Compressed file ended before the end-of-stream marker was reached)"
    for end in range(4, len(stored)):
        path.write_bytes(stored[:end])
        assert failure(TextSource(str(path))) == expected
    path.write_bytes(b"[]")
    expected = f"{path}: the name ends in .zst, but this is not a zstd file; rename it"
    assert failure(TextSource(str(path))) == expected
    for empty in (zstd(b""), b"", SKIPPED):
        path.write_bytes(empty)
        assert failure(TextSource(str(path))) == f"{path}: the file is empty"


@pytest.mark.parametrize("size", [1, 4, 7, 1000])
@pytest.mark.parametrize("text", [b"a\nbcd\n\nefghijkl\nm\n", b"a\nbc", b"\n", b"abc"])
def test_blocks_end_with_a_line(tmp_path: Path, text: bytes, size: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text)
    blocks = list(blocks_of_lines(TextSource(str(path)), size))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(blocks)
