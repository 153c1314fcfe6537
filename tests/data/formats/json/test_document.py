"""JSON texts: parsed as the standard library does, and broken ones named by line and column."""

from __future__ import annotations

import json
import math

import pytest

from valor_cli.data.formats.json.document import parse_json
from valor_cli.errors import DataError


@pytest.mark.parametrize(
    "text", ['{"a": [1, 1.5, "x", null, true]}', '{"a": 1, "a": 2}', '"\\ud800"', "[1e999]", "7"]
)
def test_reads_what_the_standard_library_reads(text: str) -> None:
    assert parse_json(text.encode(), "a.json") == json.loads(text)


def test_numbers_beyond_all_bounds_do_not_crash() -> None:
    assert parse_json(b"1" * 5000, "a.json") == math.inf
    assert parse_json(b"1" * 50, "a.json") == int("1" * 50)


CUT = "it was cut off; write or copy it again"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n ", "a.json:2:2: there is no JSON here, only white space"),
        ('[{"a": 1}', f"a.json:1:10: the file ends inside a list: {CUT}"),
        ('[{"a": 1, "b": [1, 2], ', f"a.json:1:24: the file ends inside an object: {CUT}"),
        ('[{"a": [1,\n2', f"a.json:2:2: the file ends inside a list: {CUT}"),
        ('[\n{"a": "{xx', f"a.json:2:7: the file ends inside a string: {CUT}"),
        ('[{"a": 0.', f"a.json:1:9: the file ends inside an object: {CUT}"),
        ('[{"a": tru', f"a.json:1:8: the file ends inside an object: {CUT}"),
        ('[{"a": "}]', f"a.json:1:8: the file ends inside a string: {CUT}"),
        (
            "[1]\n[2]\n",
            "a.json:2:1: not JSON: more text after its end: [2] (one value a line is JSONL)",
        ),
        ("[1,\n 2 3]", "a.json:2:4: not JSON: expected a comma or the end, found: 3]"),
        ("{'a': 1}", "a.json:1:2: not JSON: expected a key in double quotes, found: 'a': 1}"),
        ("nope", "a.json:1:1: not JSON: expected a value, found: nope"),
        ('{"a" 1}', "a.json:1:6: not JSON: expected a colon, found: 1}"),
        ('["\\q"]', 'a.json:1:3: not JSON: invalid \\escape, found: \\q"]'),
        ("image_id,score\n1,2", "a.json:1:1: not JSON: expected a value, found: image_id,score"),
    ],
)
def test_a_broken_text_names_line_and_column(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_json(text.encode(), "a.json")
    assert str(caught.value) == message
