"""CSV files of text samples: cells, lists in cells, delimiters, and what is refused."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read(text: str | bytes, name: str = "a.csv", **reading: Any) -> SampleFile:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_samples(name, SampleReading(**reading))


def error(text: str | bytes, **reading: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        read(text, **reading)
    return str(caught.value).split("\n")


def cell(name: str, value: str) -> Any:
    """The rows of a file with one cell under a name."""
    told = StringIO()
    csv.writer(told).writerows([["id", name], ["1", value]])
    return read(told.getvalue())


def test_an_empty_response_is_an_answer_and_other_empty_cells_say_nothing() -> None:
    header = "id,question,answer,reference,contexts,condition,categories,group,latency_s,artifacts"
    (row,) = read(f"{header}\n1{',' * 9}\n").rows
    assert row[:13] == (
        "1", None, None, "", (), None, None, (), None, None, None, None, None,
    )  # fmt: skip


def test_texts_are_cells_as_they_are() -> None:
    (row,) = read('id,question,answer\n007,"a ""b"", c\r\nd", 1.50 \n').rows
    assert (row.sample_id, row.user_input, row.response) == ("007", 'a "b", c\r\nd', " 1.50 ")


@pytest.mark.parametrize(
    ("value", "contexts"),
    [
        ('["a", "b, c"]', ("a", "b, c")),
        ('[{"text": "a"}, "b"]', ("a", "b")),
        ("['a', \"b's\"]", ("a", "b's")),
        ("['a'\n 'b']", ("a", "b")),
        ("['one' \"two's\" 'three']", ("one", "two's", "three")),
        (r"['a \d']", (r"a \d",)),
        ("[]", ()),
        ("[1.50]", ("1.50",)),
        ("a | b; c", ("a | b; c",)),
    ],
)
def test_contexts_are_lists_of_json_python_and_numpy(value: str, contexts: tuple[str]) -> None:
    assert cell("contexts", value).rows[0].retrieved_contexts == contexts


@pytest.mark.parametrize(
    "value",
    ["[see page 3] text", "['a', 1]", "['a' 'b', 'c']", "[open('x')]", "['a']['b']", "[" * 9999],
)
def test_contexts_that_begin_like_a_list_and_are_none_are_told(value: str) -> None:
    with pytest.raises(DataError) as caught:
        cell("contexts", value)
    assert str(caught.value).split("\n")[0] == (
        "a.csv:2: contexts: expected a JSON list of texts, or a list as Python writes it, for the "
        "cell begins with [; found neither"
    )


def test_contexts_that_are_no_texts_are_told_with_their_position() -> None:
    with pytest.raises(DataError, match=r"a.csv:2: contexts\[1\]: expected a text, found null"):
        cell("contexts", '["a", null]')
    with pytest.raises(DataError, match=r"contexts\[0\].text: duplicate key in this object"):
        cell("contexts", '[{"text": "a", "text": "b"}]')


@pytest.mark.parametrize(
    ("value", "references"),
    [
        ("a", ("a",)),
        ('["a", "b"]', ("a", "b")),
        ("['a', 'b']", ("a", "b")),
        ("[1] is where it stands", ("[1] is where it stands",)),
        ("", ()),
    ],
)
def test_references_are_one_text_or_a_list(value: str, references: tuple[str]) -> None:
    assert cell("reference", value).rows[0].references == references


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("-1", "latency_s: expected 0 or more, found -1"),
        ("nan", 'latency_s: expected a finite number, found the string "nan"'),
        ("fast", 'latency_s: expected a number, found the string "fast"'),
    ],
)
def test_amounts_that_are_none_are_told(value: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        cell("latency_s", value)
    assert str(caught.value).split("\n")[0] == f"a.csv:2: {message}"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_are_told_by_the_names_they_make_known(delimiter: str) -> None:
    others = "x" + "y,z;\t".replace(delimiter, "")
    (row,) = read(f"id{delimiter}answer{delimiter}{others}\n1{delimiter}b{delimiter}c\n").rows
    assert (row.sample_id, row.response) == ("1", "b")


def test_byte_order_mark_and_windows_line_ends() -> None:
    (row,) = read("\ufeffid,answer\r\n1,b\r\n").rows
    assert (row.sample_id, row.response) == ("1", "b")


def test_control_characters_and_fields_of_ten_megabytes() -> None:
    large = "a\x00\x07" * 3_500_000
    assert read(f'id,answer\n1,"{large}"\n').rows[0].response == large


def test_rows_of_another_length_are_told_at_the_line_they_begin_on() -> None:
    text = 'id,answer\n1,"a\nb"\n2\n3,a,b\n4,a\n'
    told = error(text)
    assert told[:2] == [
        "a.csv:4: expected 2 fields as in the first line, found 1",
        (
            "a.csv:5: expected 2 fields as in the first line, found 3; "
            "a field that holds a comma must be in double quotes"
        ),
    ]
    found = read(text, invalid="skip")
    assert [row.sample_id for row in found.rows] == ["1", "4"]
    assert (found.files[0].rows, found.files[0].skipped) == (4, 2)


def test_an_open_quote_is_told_where_it_opens() -> None:
    assert error('id,answer\n1,a\n2,"b\n')[0] == (
        "a.csv:3: a double quote opens a field here, and none closes it"
    )


def test_columns_that_stand_twice_or_are_missing_are_told() -> None:
    assert error("id,answer,answer\n1,a,b\n")[0] == (
        "a.csv:1: duplicate column 'answer' (columns 2 and 3)"
    )
    assert error("a,b\n1,2\n")[0] == (
        "a.csv:1: no column is one that text samples have; there is: a, b"
    )
    assert error("id,answer\n1,2\n", columns={"user_input": "vars.q"})[0].startswith(
        "a.csv:1: there is no column 'vars' for user_input"
    )


def test_no_rows_are_told() -> None:
    assert error("id,answer\n")[0] == "a.csv: there are no samples; at least one is needed"
    assert error("\n\n")[0] == "a.csv: the file is empty: it has only line breaks"


def test_metadata_is_a_column() -> None:
    found = read("id,answer,cam,__metadata:day\n1,a,,mon\n", metadata=["cam", "day", "no"])
    assert found.rows[0].metadata == (None, "mon", None)
    assert found.metadata == {"cam", "day"}


def test_ids_must_be_there() -> None:
    assert error("id,answer\n1,a\n,b\n")[0] == (
        "a.csv:3: id: expected the id of a sample, found nothing"
    )
