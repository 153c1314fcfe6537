"""Pieces of files, and inputs of many files of which some cannot be used."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
from collections.abc import Callable, Mapping
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
from valor_cli.data.partition.ranges import whole_files
from valor_cli.data.partition.shards import (
    SKIP_FILES_HINT,
    combined_error,
    minority_parts,
    pieces_error,
    read_shards,
    some_of_each,
)
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import SKIP_HINT, InvalidRows
from valor_cli.errors import LISTED, DataError, MissingExtraError, Problem
from valor_cli.results import InputFile

pytestmark = pytest.mark.usefixtures("in_a_folder")

LINES = "a\n\nlonger é line\r\n  \nlast".encode()


def test_rows_of_the_pieces_of_a_file_are_added_up() -> None:
    a, empty, b = (InputFile(path, "0" * 64, rows, skipped=1) for path, rows in
                   (("a.csv", 3), ("a.csv", 0), ("b.csv", 2)))  # fmt: skip
    assert [(one.path, one.rows, one.skipped) for one in whole_files([a, empty, b])] == [
        ("a.csv", 3, 2),
        ("b.csv", 2, 1),
    ]


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


NAMES = [f"{at:02}.csv" for at in range(10)]


def broken(name: str, *lines: int, total: int | None = None, hint: str = "") -> DataError:
    return DataError([Problem(f"{name}:{at}", "wrong") for at in lines], total=total, hint=hint)


def read(name: str) -> str:
    """Files 3 and 7 cannot be used: the one as a whole, the other for rows of it."""
    if name == "03.csv":
        raise DataError(Problem(name, "cut off"))
    if name == "07.csv":
        raise broken(name, 2, 5, hint=SKIP_HINT)
    return name.upper()


def reader(outcomes: Mapping[str, str | DataError]) -> Callable[[str], str]:
    """Reads each file with the outcome that is given for it."""

    def read(name: str) -> str:
        found = outcomes[name]
        if isinstance(found, DataError):
            raise found
        return found

    return read


def error(invalid: InvalidRows, names: list[str]) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_shards("*.csv", names, read, invalid)
    return str(caught.value).split("\n")


def test_files_that_can_all_be_used() -> None:
    parts, left_out = read_shards("*.csv", ["00.csv", "01.csv"], read, "error")
    assert (parts, left_out) == (["00.CSV", "01.CSV"], ((), ()))


def test_the_problems_of_all_files_are_told_at_once() -> None:
    assert error("error", NAMES) == [
        "03.csv: cut off",
        "07.csv:2: wrong",
        "07.csv:5: wrong",
        "These are in 2 of the 10 files of *.csv.",
        SKIP_FILES_HINT,
    ]


def test_each_file_is_read_once() -> None:
    seen: list[str] = []

    def noted(name: str) -> str:
        seen.append(name)
        return read(name)

    with pytest.raises(DataError):
        read_shards("*.csv", NAMES, noted, "error")
    assert seen == NAMES


def test_files_that_cannot_be_used_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("03.csv").write_bytes(b"half")
    parts, left_out = read_shards("*.csv", NAMES, read, "skip")
    assert parts == [name.upper() for name in NAMES if name not in ("03.csv", "07.csv")]
    first, second = left_out.files
    # What is not known is not said to be 0: how many rows are lost, what a file holds that is gone.
    digest = hashlib.sha256(b"half").hexdigest()
    assert first == InputFile("03.csv", digest, None, left_out="cut off")
    reason = "line 2: wrong (and 1 more problem)"
    assert second == InputFile("07.csv", None, None, left_out=reason)
    told = "03.csv: cut off; 07.csv:2: wrong (and 1 more problem)"
    assert left_out.warnings == [f"left out: 2 of 10 files: {told}"]


def test_a_warning_names_three_files() -> None:
    outcomes = {name: broken(name, 1) if at % 2 else name for at, name in enumerate(NAMES)}
    _, left_out = read_shards("*.csv", NAMES, reader(outcomes), "skip")
    shown = "01.csv:1: wrong; 03.csv:1: wrong; 05.csv:1: wrong; and 2 more"
    assert left_out.warnings == [f"left out: 5 of 10 files: {shown}"]
    assert len(left_out.files) == 5


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_where_no_file_can_be_used_there_is_nothing_to_go_on_with(invalid: InvalidRows) -> None:
    lines = error(invalid, ["03.csv", "07.csv"])
    assert lines[-2:] == ["These are in 2 of the 2 files of *.csv.", SKIP_HINT]


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_the_error_of_a_lone_file_is_as_it_was(invalid: InvalidRows) -> None:
    assert error(invalid, ["03.csv"]) == ["03.csv: cut off"]


def test_of_many_problems_every_file_gets_some() -> None:
    """Three files of 30, 2 and 30 problems: 9, 2 and 9 of them are the 20 that are listed."""
    errors = [broken("a", *range(30)), broken("b", 0, 1), broken("c", *range(30))]
    listed = [problem.place[0] for problem in some_of_each(errors)]
    assert "".join(listed) == "a" * 9 + "b" * 2 + "c" * 9
    assert len(some_of_each([broken(f"{at}", 1, 2) for at in range(50)])) == LISTED
    assert some_of_each([]) == []


def test_problems_that_are_not_listed_are_counted() -> None:
    errors = [broken("a", *range(20), total=500), broken("b", 1)]
    outcomes = dict(zip("abc", [*errors, "c"], strict=True))
    with pytest.raises(DataError) as caught:
        read_shards("*", ["a", "b", "c"], reader(outcomes), "error")
    assert caught.value.total == 501
    assert len(caught.value.problems) == LISTED
    assert caught.value.problems[-1].place == "b:1"
    assert "… and 481 more problems" in str(caught.value)


def test_what_is_not_the_fault_of_a_file_is_raised_at_once() -> None:
    def lacking(name: str) -> str:
        raise MissingExtraError(Problem(name, "needs a package"))

    with pytest.raises(MissingExtraError):
        read_shards("*", ["a", "b"], lacking, "skip")


def test_parts_that_do_not_go_with_the_others() -> None:
    def odd(parts: object) -> dict[int, DataError]:
        assert parts == ["a", "c", "d"]
        return {1: DataError(Problem("c", "other columns"))}

    outcomes = {"a": "a", "b": broken("b", 1), "c": "c", "d": "d"}
    parts, left_out = read_shards("*", list("abcd"), reader(outcomes), "skip", odd)
    assert parts == ["a", "d"]
    told = "left out: 2 of 4 files: b:1: wrong; c: other columns"
    assert left_out.warnings == [told]
    with pytest.raises(DataError, match=r"^c: other columns\n"):
        read_shards("*", list("acd"), reader(outcomes), "error", odd)


def test_what_most_are_is_right() -> None:
    def told(at: int, usual: int) -> DataError:
        return DataError(Problem(str(at), f"unlike {usual}"))

    assert list(minority_parts("xyxx", told)) == [1]
    assert list(minority_parts("yxx", told)) == [0]
    # Of two nobody can say.
    assert minority_parts("xy", told) == {}
    assert minority_parts("xxyz", told) == {}


def test_pieces_of_a_file_are_one_file() -> None:
    """Two inputs: of the first, two pieces of file b are broken; of the second, one of one."""
    read_pieces = [
        ("s/*", "s/a", None),
        ("s/*", "s/b", broken("s/b", 1)),
        ("s/*", "s/b", broken("s/b", 70, hint="look")),
        ("t", "t", broken("t", 4, hint="look")),
    ]
    assert str(pieces_error(read_pieces)).split("\n") == [
        "s/b:1: wrong",
        "s/b:70: wrong",
        "t:4: wrong",
        "These are in 1 of the 2 files of s/*.",
        "look",
        SKIP_FILES_HINT,
    ]


def test_what_several_say_counts_once() -> None:
    same = DataError(Problem("keys", "differ"), hint="look")
    both = combined_error([same, DataError(Problem("keys", "differ"), hint="look"), broken("a", 1)])
    assert (both.total, both.hint) == (2, "look")
