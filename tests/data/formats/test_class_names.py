"""Files that name classes: every shape of them, and what is said of those that cannot be read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from valor_cli.data.formats.class_names import read_names
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

HINT = (
    "Give a name a line (.txt), or as .json or .yaml a list of names or a map from index to name."
)


def error(name: str, text: str | bytes) -> list[str]:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DataError) as caught:
        read_names(name)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("classes.txt", "cat\nbig dog\nowl\n"),
        ("classes.txt", "cat\r\n big dog \r\nowl\r\n\r\n\n"),
        ("classes.names", "cat\nbig dog\nowl"),
        ("classes.json", '["cat", "big dog", "owl"]'),
        ("classes.json", '{"0": "cat", "1": "big dog", "2": "owl"}'),
        ("classes.json", '{"2": "owl", "0": "cat", "1": "big dog"}'),
        ("CLASSES.YAML", "[cat, big dog, owl]"),
        ("classes.yml", "- cat\n- big dog\n- 'owl'\n"),
        ("classes.yaml", "0: cat\n2: owl\n1: big dog\n"),
        ("data.yaml", "nc: 3\npath: x\nnames: [cat, big dog, owl]\n"),
        ("data.yaml", "names:\n  0: cat\n  1: big dog\n  2: owl\ntrain: [1, 2]\n"),
    ],
)
def test_every_shape_says_the_same(name: str, text: str) -> None:
    Path(name).write_bytes(text.encode())
    found = read_names(name)
    assert list(found.items()) == [(0, "cat"), (1, "big dog"), (2, "owl")]


def test_a_map_may_leave_indexes_out() -> None:
    Path("classes.json").write_text('{"255": "ignored", "0": "road", "007": "car"}')
    assert list(read_names("classes.json").items()) == [(0, "road"), (7, "car"), (255, "ignored")]


def test_names_are_taken_as_written() -> None:
    Path("a.json").write_text('[3, 3.0, true, 1e5, "\\u00e4 b"]')
    assert list(read_names("a.json").values()) == ["3", "3.0", "true", "1e5", "ä b"]
    Path("a.yaml").write_text("[no, 1_0, 0x1F, 12:30:00, ä]")
    assert list(read_names("a.yaml").values()) == ["no", "1_0", "0x1F", "12:30:00", "ä"]
    Path("a.txt").write_text("# 1\n1,2\n")
    assert list(read_names("a.txt").values()) == ["# 1", "1,2"]


def test_compressed_and_with_a_byte_order_mark() -> None:
    Path("a.json.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"1": "cat"}'))
    Path("a.json.gz").rename("A.JSON.GZ")
    assert read_names("A.JSON.GZ") == {1: "cat"}


NONE, NAME = "there are no names", "expected a name, found"
INDEX = "expected an index of 0 or more, found"
SHAPE = "expected a list of names or a map from index to name, found"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "cat\n\ndog\n", f"2: {NAME} nothing"),
        ("a.txt", "\ncat\n", f"1: {NAME} nothing"),
        ("a.txt", "cat\ndog\ncat\n", "3: duplicate name 'cat', first at a.txt:1"),
        ("a.txt", " \n\n", f" {NONE}"),
        ("a.json", "[]", f" {NONE}"),
        ("a.json", "{}", f" {NONE}"),
        ("a.yaml", "names: []", f" {NONE}"),
        ("a.json", '["cat", null]', f" [1]: {NAME} null"),
        ("a.json", '["cat", " "]', f" [1]: {NAME} nothing"),
        ("a.json", '["cat", {"id": 1}]', f" [1]: {NAME} an object"),
        ("a.json", '["cat", ["b"]]', f" [1]: {NAME} a list"),
        ("a.json", "[NaN]", f" [0]: {NAME} NaN"),
        ("a.json", '["\\ud800"]', f' [0]: {NAME} the string "\\ud800"'),
        ("a.json", '{"0": "cat", "4": "cat"}', " 4: duplicate name 'cat', first at a.json: 0"),
        ("a.json", '{"0": "cat", "0": "dog"}', " 0: duplicate index 0"),
        ("a.json", '{"cat": 0}', f' cat: {INDEX} the string "cat"'),
        ("a.json", '{"-1": "cat"}', f' -1: {INDEX} the string "-1"'),
        ("a.json", '{"99999999999": "cat"}', f' 99999999999: {INDEX} the string "99999999999"'),
        ("a.json", "3", f" {SHAPE} 3"),
        ("a.yaml", "cat", f' {SHAPE} the string "cat"'),
        ("a.yaml", "# none\n", f" {SHAPE} nothing"),
        ("a.yaml", "- cat\n- ~\n", f"2: {NAME} null"),
        ("a.yaml", "- cat\n- {a: b}\n", f"2: {NAME} an object"),
        ("a.yaml", "0: cat\n1: cat\n", "2: duplicate name 'cat', first at a.yaml:1"),
        ("a.yaml", "0: cat\n0: dog\n", "2: duplicate index 0"),
        ("a.yaml", "nc: 1\n", f'1: {INDEX} the string "nc"'),
        ("a.yaml", "? [a, b]\n: cat\n", f"1: {INDEX} a list"),
    ],
)
def test_what_cannot_be_a_name(name: str, text: str, message: str) -> None:
    assert error(name, text) == [f"{name}:{message}", HINT]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '["cat",\n "dog"', "2:7: the file ends inside a list: it was cut off; write "),
        ("a.json", "NaN", " "),
        ("a.yaml", "[cat, dog", " not YAML: while parsing a flow sequence"),
        ("a.yaml", "names: [a]\nnames: [b]\n", "2: names: duplicate key"),
        ("a.yaml", "[" * 5000, " not YAML: "),
        ("a.txt", b"caf\xe9\n", "1: not UTF-8 text"),
    ],
)
def test_what_is_no_json_yaml_or_text(name: str, text: str | bytes, message: str) -> None:
    assert error(name, text)[0].startswith(f"{name}:{message}")


@pytest.mark.parametrize("depth", [*range(850, 1050, 25), 5000])
def test_json_of_any_depth_is_refused(depth: int) -> None:
    assert error("a.json", "[" * depth + "]" * depth)[0].startswith("a.json: ")


def test_problems_are_listed_and_counted() -> None:
    lines = error("a.txt", "cat\n" * 30)
    assert len(lines) == 22
    assert lines[20] == "… and 9 more problems"
