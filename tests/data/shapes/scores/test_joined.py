"""Files of labels and scores read in pieces, against the same files read whole."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.data.odd_scores import OddFile, odd_csv, odd_jsonl
from tests.data.scored import joined_parts, said, written
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_score_file
from valor_cli.data.partition.pieces import Piece, UnsplittableError, cut, seamless
from valor_cli.data.shapes.scores.joined import ScorePart, file_warnings
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError, Problem

pytestmark = pytest.mark.usefixtures("in_a_folder")

T = TypeVar("T")

TOPK = (
    "id,label,pred0,score0,pred1,score1\n1,cat,cat,0.75,dog,0.25\n2,dog,cat,1,,\n3,cat,owl,0.5,,\n"
)
LONG = (
    "id,label,prediction,score\n1,cat,cat,0.75\n1,,dog,0.25\n1,,owl,0\n2,dog,dog,1\n3,owl,cat,1\n"
)


def tried(read: Callable[[], T]) -> T | DataError | None:
    """What is read, or what is wrong; None where only the whole file can be read."""
    try:
        return read()
    except DataError as error:
        return error
    except UnsplittableError:
        return None


def parts_of(
    name: str, size: int, side: Side, reading: ScoreReading
) -> list[ScorePart | DataError | None]:
    format = name.rsplit(".", 1)[1]  # noqa: A001 - as in YAML
    return [
        tried(partial(read_score_piece, piece, side, reading, format)) for piece in cut(name, size)
    ]


def good_parts(text: str, size: int, side: Side = "samples", **options: Any) -> list[ScorePart]:
    found = parts_of(written(text, "a.csv"), size, side, ScoreReading(**options))
    good = [part for part in found if isinstance(part, ScorePart)]
    assert len(good) == len(found)
    return good


def shown(problems: tuple[Problem, ...]) -> set[tuple[str, str]]:
    """Problems; of rows that contradict another, less which: it may be one of another piece."""
    return {(one.place, re.sub(r"on line \d+", "on a line", one.message)) for one in problems}


def facts_of(found: ScoreFile) -> tuple[Any, ...]:
    """What of a file is the same however it was read."""
    samples, files = found.samples, found.files[0]
    assert samples.rows is not None
    return (
        said(found),
        type(found.scores),
        samples.rows.tolist(),
        (samples.place, samples.skipped, samples.parts),
        (set(found.labels), set(found.keys), found.classes),
        (files.path, files.rows, files.skipped),
        list(found.warnings),
    )


def agrees(odd: OddFile, size: int, whole: ScoreFile | DataError) -> bool:
    """Whether pieces of a size could be used; then they say what the whole file does."""
    found = parts_of(odd.name, size, odd.side, odd.reading)
    if any(part is None for part in found):
        return False
    errors = [part for part in found if isinstance(part, DataError)]
    if errors:
        assert isinstance(whole, DataError)
        for error in errors:
            assert shown(error.problems) <= shown(whole.problems)
        return True
    parts = [part for part in found if isinstance(part, ScorePart)]
    spans = [part.facts.span for part in parts if part.facts.span is not None]
    assert len(parts) == 1 or seamless(spans, len(odd.content))
    joined = tried(lambda: joined_parts(odd.name, odd.side, parts, "hash"))
    if joined is None:
        return False
    if isinstance(whole, DataError):
        assert str(joined) == str(whole)
    else:
        assert not isinstance(joined, DataError)
        assert facts_of(joined) == facts_of(whole)
    return True


@pytest.mark.parametrize("odd_file", [odd_csv, odd_jsonl])
def test_pieces_say_what_the_file_says(odd_file: Callable[[int], OddFile]) -> None:
    used = 0
    for seed in range(24):
        odd = odd_file(seed)
        Path(odd.name).write_bytes(odd.content)
        format = odd.name.rsplit(".", 1)[1]  # noqa: A001 - as in YAML
        whole = tried(partial(read_score_file, odd.name, odd.side, odd.reading, format))
        sizes = {1 + (seed * 7 + step * 13) % len(odd.content) for step in range(1, 4)}
        used += sum(agrees(odd, size, whole) for size in sizes)
    # Most can be: else nothing was tested.
    assert used > 40


@pytest.mark.parametrize("text", [TOPK.replace("\n", "\r\n"), LONG.rstrip("\n")])
def test_pieces_of_many_sizes(text: str) -> None:
    odd = OddFile("a.csv", text.encode(), "samples", ScoreReading())
    Path("a.csv").write_bytes(odd.content)
    whole = read_score_file("a.csv", "samples", ScoreReading(), "csv")
    for size in (1, 2, 3, 5, 8, 13, 21, 34, 55, len(odd.content), len(odd.content) + 6):
        assert agrees(odd, size, whole)


def test_rows_are_lines_of_the_piece_and_facts_say_how_many_there_are() -> None:
    # 35 bytes of header, then rows of 27, 13 and 15: the last piece has the last two.
    first, second = good_parts(TOPK, 62)
    assert said(first.file) == [("1", None, "cat", [("cat", 0.75), ("dog", 0.25)])]
    assert first.file.samples.rows is not None
    assert second.file.samples.rows is not None
    assert first.file.samples.rows.tolist() == [2]
    assert second.file.samples.rows.tolist() == [1, 2]
    assert [part.facts.lines for part in (first, second)] == [2, 2]
    assert second.file.files[0].sha256 == ""
    assert pickle.loads(pickle.dumps(second.facts)) == second.facts  # noqa: S301 - its own


def test_a_piece_in_which_no_line_begins_has_no_samples() -> None:
    parts = good_parts(TOPK, 5)
    assert [part.facts.samples for part in parts].count(1) == 3
    empty = next(part for part in parts if part.facts.lines == 0)
    assert len(empty.file.samples) == empty.facts.records == 0
    assert empty.facts.keys == ()


def test_the_rows_of_a_sample_stand_in_the_piece_where_the_first_does() -> None:
    # Cut at 47, in the second row of a sample; its third row begins behind that.
    first, second = good_parts(LONG, 60)
    assert LONG.index("1,,owl") > len(LONG) // 2 > LONG.index("1,,dog")
    assert said(first.file) == [("1", None, "cat", [("cat", 0.75), ("dog", 0.25), ("owl", 0.0)])]
    assert first.facts.long
    assert [one[0] for one in said(second.file)] == ["2", "3"]
    assert second.facts.span is not None
    assert second.facts.span.begin == LONG.index("2,dog")


def test_rows_of_a_sample_that_stand_apart_are_left_to_the_whole_file() -> None:
    text = "id,prediction,score\n1,cat,0.75\n2,dog,1\n1,dog,0.25\n"
    parts = good_parts(text, 35, "predictions")
    assert joined_parts("a.csv", "predictions", parts, "") is None
    # Only the whole file knows that the label of 1 is said further up.
    text = "id,label,prediction,score\n1,cat,cat,0.75\n2,dog,dog,1\n1,,dog,0.25\n"
    assert None in parts_of(written(text, "a.csv"), 50, "samples", ScoreReading(invalid="skip"))


@pytest.mark.parametrize("size", [22, 99])
def test_a_row_without_a_label_is_left_out_whatever_another_says(size: int) -> None:
    # A row is all of a sample here, so that no other could say the label of the first.
    text = "id,label,cat,dog\n1,,0.5,0.5\n1,cat,1,0\n2,dog,1,0\n"
    parts = good_parts(text, size, invalid="skip")
    joined = joined_parts("a.csv", "samples", parts, "")
    assert joined is not None
    assert [(row[0], row[2]) for row in said(joined)] == [("1", "cat"), ("2", "dog")]
    assert joined.samples.rows is not None
    assert (joined.samples.rows.tolist(), joined.files[0].skipped) == ([3, 4], 1)


def test_a_long_sample_is_followed_past_several_pieces() -> None:
    rows = [f"1,c{number},0.001\n" for number in range(9_000)]
    text = "id,prediction,score\n" + "".join(rows) + "2,c1,1\n"
    parts = good_parts(text, len(text) // 5 + 1, "predictions")
    assert [part.facts.samples for part in parts] == [1, 0, 0, 0, 1]
    assert parts[0].facts.records == 9_000


def test_quoted_line_ends_are_left_to_the_whole_file() -> None:
    # The second piece begins inside of quotes, and its lines alone look like rows.
    text = 'id,label\n1,"a\n2,b\n3,c\n4"\n5,d\n'
    found = parts_of(written(text, "a.csv"), 15, "ground_truth", ScoreReading())
    assert found[0] is None
    # Nor is a fault named that is none.
    text = 'id,label\n1,"a\n2,b,too many\n4"\n5,d\n'
    found = parts_of(written(text, "a.csv"), 14, "ground_truth", ScoreReading())
    assert found[0] is None
    assert not any(isinstance(part, DataError) for part in found)


def test_a_fault_is_named_by_its_line_in_the_file() -> None:
    text = "id,label\n" + "".join(f"{number},cat\n" for number in range(100)) + "x,cat,1\n"
    found = parts_of(written(text, "a.csv"), 100, "ground_truth", ScoreReading())
    errors = [part for part in found if isinstance(part, DataError)]
    assert len(errors) == 1
    assert errors[0].problems[0].place == "a.csv:102"
    text = '{"id": 1, "label": "cat"}\n' * 50 + '\n{"id": 2}\n'
    (error,) = [
        part
        for part in parts_of(written(text, "a.jsonl"), 90, "predictions", ScoreReading())[-1:]
        if isinstance(part, DataError)
    ]
    assert error.problems[-1].place == "a.jsonl:52"


def test_the_header_is_that_of_the_file() -> None:
    text = "id,cat,dog\n1,0.5,0.5\n2,1,0\n"
    *_, last = good_parts(text, 22, "predictions")
    assert last.file.classes == ("cat", "dog")
    # What the first row says of columns is true of all: here `note` is none of the classes.
    text = "id,label,note,cat,dog\n1,cat,x,0.5,0.5\n2,dog,7,1,0\n"
    *_, last = good_parts(text, 38)
    assert said(last.file) == [("2", None, "dog", [("cat", 1.0), ("dog", 0.0)])]
    assert last.facts.true_classes == {"dog"}


def test_a_header_that_is_wrong_is_wrong_in_every_piece() -> None:
    found = parts_of(written("a,b\n1,2\n3,4\n", "a.csv"), 4, "samples", ScoreReading())
    assert {str(part) for part in found} == {
        str(tried(lambda: read_score_file("a.csv", "samples", ScoreReading(), "csv")))
    }
    assert all(isinstance(part, DataError) for part in found)


def test_what_no_piece_can_say_alone_is_said_by_the_facts_of_all() -> None:
    rows = [f'{{"id": {number}, "label": "cat"}}\n' for number in range(9)]
    for text, expected in (
        ("".join(rows), "a.jsonl: no sample has the metadata 'site'; there is: id, label"),
        ('{"id": 1}\n' * 9, "a.jsonl: there are no samples; at least one is needed; 9 were left"),
    ):
        reading = ScoreReading(metadata=["site"], invalid="skip")
        found = parts_of(written(text, "a.jsonl"), 30, "ground_truth", reading)
        facts = [part.facts for part in found if isinstance(part, ScorePart)]
        assert len(facts) == len(found) > 1
        with pytest.raises(DataError) as caught:
            file_warnings("a.jsonl", "ground_truth", facts)
        assert str(caught.value).startswith(expected)
        with pytest.raises(DataError) as caught:
            read_score_file("a.jsonl", "ground_truth", reading, "jsonl")
        assert str(caught.value).startswith(expected)


def test_label_keys_in_some_pieces_only_are_left_to_the_whole_file() -> None:
    text = '{"id": 1, "label": "cat"}\n{"id": 2, "label": "cat", "label_key": "kind"}\n'
    found = parts_of(written(text, "a.jsonl"), 25, "ground_truth", ScoreReading())
    facts = [part.facts for part in found if isinstance(part, ScorePart)]
    assert [one.keys for one in facts] == [(None,), ("kind",), ()]
    with pytest.raises(UnsplittableError):
        file_warnings("a.jsonl", "ground_truth", facts)


def test_columns_that_are_not_read_are_told_once() -> None:
    text = "id,label,cat,dog,owl\n1,cat,0.5,0.5,0\n2,owl,1,0,0\n"
    told = ["a.csv: columns that are not among `classes` are not read: owl"]
    reading = ScoreReading(classes=["cat", "dog"])
    parts = good_parts(text, 26, classes=["cat", "dog"])
    assert file_warnings("a.csv", "samples", [part.facts for part in parts]) == told
    assert read_score_file("a.csv", "samples", reading, "csv").warnings == told


def test_a_whole_input_is_read_as_ever() -> None:
    for name, text in (
        ("a.json", '[{"id": 1, "label": "cat"}]'),
        ("a.csv", 'id,label\n1,"a\nb"\n'),
    ):
        part = read_score_piece(Piece(written(text, name)), "ground_truth", ScoreReading())
        assert (part.facts.span, part.facts.samples) == (None, 1)
        assert len(part.file.files[0].sha256 or "") == 64
    # A list has no lines to begin with, and of what a package reads they are not known.
    for format in ("json", "a_package.its_format"):  # noqa: A001 - as in YAML
        with pytest.raises(UnsplittableError):
            read_score_piece(Piece("a.json", 0, 9), "ground_truth", ScoreReading(), format)
