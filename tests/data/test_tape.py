"""Tapes: what the compiled kernel reads is what the json and csv modules read."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.formats.csv import table
from valor_cli.data.formats.csv.table import CsvFile
from valor_cli.data.json_records import Number, parsed
from valor_cli.data.tape import (
    ABSENT,
    DUPLICATE,
    FALSE,
    INVALID,
    LIST,
    NULL,
    NUMBER,
    OBJECT,
    TEXT,
    TRUE,
    Column,
    json_tape,
    tape_of,
)
from valor_cli.errors import DataError
from valor_cli.kernels import engine
from valor_cli.kernels.columns.spans import Vocabulary, decimals, padded

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def python(column: Column, at: int) -> Any:
    """A value of a column as Python has it, numbers as written."""
    kind = int(column.kind[at])
    one = column.take(np.array([at]))
    if kind in (LIST, OBJECT):
        count, items = one.items()
        held = [python(items, inner) for inner in range(int(count[0]))]
        if kind == LIST:
            return held
        text = bytes(items.tape.text)
        spans = zip(*(side.tolist() for side in items.key_spans()), strict=True)
        return dict(zip((text[a:b].decode() for a, b in spans), held, strict=True))
    written = one.texts()[0]
    number = float(one.numbers()[0][0])
    known = {NULL: None, TRUE: True, FALSE: False, TEXT: written, NUMBER: (written, number)}
    return known[kind]


def as_written(value: Any) -> Any:
    """The same of what `json_records.parsed` gives."""
    if isinstance(value, Number):
        return (value.text, float(value))
    if isinstance(value, dict):
        return {key: as_written(one) for key, one in value.items()}
    return [as_written(one) for one in value] if isinstance(value, list) else value


@pytest.mark.skipif(engine.compiled is None, reason="no compiled kernel")
@given(values=st.lists(VALUES, max_size=5), spaced=st.booleans(), escaped=st.booleans())
def test_json_lines_are_what_python_reads(values: list[Any], spaced: bool, escaped: bool) -> None:
    separators = (", ", " : ") if spaced else (",", ":")
    lines = [json.dumps(one, separators=separators, ensure_ascii=escaped) for one in values]
    block = "\n".join(lines).encode()
    found = json_tape(block)
    # What Python writes is all usual, but for whole numbers beyond every double.
    assert found.left == []
    assert found.line.tolist() == list(range(len(values)))
    for column in (found.values, tape_of([parsed(line.encode()) for line in lines])):
        read = [python(column, at) for at in range(len(column))]
        assert read == [as_written(parsed(line.encode())) for line in lines]


@pytest.mark.skipif(engine.compiled is None, reason="no compiled kernel")
@given(text=st.text(st.sampled_from('{}[]:,"\\ntrufalse0123.eE+- \t\r\nu\ud7ffé'), max_size=30))
def test_no_line_is_read_that_python_refuses(text: str) -> None:
    block = text.encode()
    found = json_tape(block)
    lines = block.removesuffix(b"\n").split(b"\n")
    assert found.count == (len(lines) if block else 0)
    left = {number for number, _ in found.left}
    for number, line in enumerate(lines):
        if number in left or not line.strip():
            continue
        at = int(np.flatnonzero(found.line == number)[0])
        assert found.content(block, at) == line
        assert python(found.values, at) == as_written(parsed(line))


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '"\\ud800"',
        '"\\udc00x"',
        '"\t"',
        "[1,]",
        "01",
        "1.",
        "NaN",
        "1e999",
        "[" * 100 + "]" * 100,
        '{"a": tru}',
        "{} {}",
    ],
)
def test_what_is_unusual_is_left_to_python(line: str) -> None:
    found = json_tape(f"[1]\n{line}\n\n[2]".encode())
    if engine.compiled is not None:
        assert found.line.tolist() == [0, 3]
    assert (1, line.encode()) in found.left
    assert found.count == 4


def test_python_values_have_kinds() -> None:
    values = [None, False, True, 1, "", [], {}, parsed(b'{"a":1,"a":2}'), "\ud800", math.nan]
    column = tape_of(values)
    expected = [NULL, FALSE, TRUE, NUMBER, TEXT, LIST, OBJECT, DUPLICATE, INVALID, INVALID]
    assert column.kind.tolist() == expected
    assert column.field("a").kind.tolist() == [ABSENT] * 7 + [NUMBER] + [ABSENT] * 2


def test_the_first_of_several_keys() -> None:
    rows = tape_of([{"b": 1}, {"a": 2, "b": 3}, {}, 5])
    found = rows.field("a", "b")
    assert found.texts() == ["1", "2", "", ""]
    assert found.is_of(ABSENT).tolist() == [False, False, True, True]
    assert rows.other_keys({"a"}).tolist() == [True, True, False, False]
    assert rows.keys() == ["b", "a"]


CELLS = st.text(st.sampled_from('a é;",\n\r'), max_size=6)


def by_the_module(text: str, delimiter: str, width: int) -> list[tuple[int, list[str]]] | str:
    """Line and cells of each row, those of uneven rows as their number, or the error."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found, line = [], 1
    try:
        for row in reader:
            if row and line > 1:
                found.append((line, row if len(row) == width else [str(len(row))]))
            line = reader.line_num + 1
    except csv.Error:
        return f"a.csv:{line}"
    return found


def by_the_table(path: Path, names: Sequence[str]) -> list[tuple[int, list[str]]] | str:
    file, found = CsvFile(str(path), lambda some: len(set(some) & set(names))), []
    try:
        for (rows,), wrong in file.blocks():
            records = rows.records(range(len(rows)))
            found += zip(rows.line.tolist(), (list(one.values()) for one in records), strict=True)
            found += [(line, re.findall(r"\d+", own[0][1])[1:2]) for line, own in wrong]
    except DataError as error:
        return str(error).split(": ")[0].rpartition("/")[2]
    return sorted(found)


@given(
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5),
    raw=st.booleans(),
    delimiter=st.sampled_from(",;"),
    numpy=st.booleans(),
    cut=st.integers(1, 9),
)
def test_csv_is_what_the_module_reads(
    rows: list[list[str]],
    raw: bool,
    delimiter: str,
    numpy: bool,
    cut: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text, names = StringIO(newline=""), ["x", "y", "z"]
    text.write(delimiter.join(names) + "\n")
    if raw:
        text.write("\n".join(delimiter.join(row) for row in rows))
    else:
        csv.writer(text, delimiter=delimiter).writerows(rows)
    path = tmp_path_factory.getbasetemp() / "a.csv"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "BLOCK", 4 * cut)
        if numpy:
            patch.setattr(engine, "compiled", None)
        found = by_the_table(path, names)
    assert found == by_the_module(text.getvalue(), delimiter, len(names))


@given(
    cells=st.lists(st.one_of(NUMBERS.map(repr), st.text("0123456789.eE+-_ \tnaif", max_size=8))),
    between=st.sampled_from(["", ",", "\n", "-", "," * 40]),
)
def test_decimals_are_those_of_float(cells: list[str], between: str) -> None:
    text = between.join(cells).encode()
    ends = np.cumsum([len(cell) + len(between) for cell in cells], dtype=np.int32)
    ends -= np.int32(len(between))
    begins = ends - np.array([len(cell) for cell in cells], np.int32)
    value, read = decimals(text, begins, ends)
    for cell, number, fine in zip(cells, value.tolist(), read.tolist(), strict=True):
        try:
            expected = math.nan if "_" in cell else float(cell)
        except ValueError:
            expected = math.nan
        assert fine == math.isfinite(expected)
        if fine:
            assert (number, math.copysign(1, number)) == (expected, math.copysign(1, expected))


@given(
    batches=st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=70)), max_size=4),
    kept=st.integers(0, 3),
    numpy=st.booleans(),
)
def test_names_are_numbered_as_they_appear(
    batches: list[list[str]], kept: int, numpy: bool
) -> None:
    names, known = Vocabulary(), dict[str, int]()
    with pytest.MonkeyPatch.context() as patch:
        if numpy:
            patch.setattr(engine, "compiled", None)
        for batch in batches:
            content = [one.encode() for one in batch]
            ends = np.cumsum([0, *map(len, content)]).astype(np.int32)
            codes = names.codes(b"".join(content), ends[:-1], ends[1:])
            assert codes.tolist() == [known.setdefault(one, len(known)) for one in batch]
            assert names.names == tuple(known)
            kept = min(kept, len(known))
            names.forget(kept)
            known = dict(list(known.items())[:kept])
            assert len(names) == kept


def test_many_names_of_any_length() -> None:
    names = Vocabulary()
    many = [f"{number} " * (number % 40) + str(number) for number in range(5000)]
    assert [names.code(one.encode()) for one in many] == list(range(5000))
    assert names.names == tuple(many)
    assert [names.code(one.encode()) for one in many] == list(range(5000))


@pytest.mark.parametrize("longest", [1, 64, 300])
def test_ids_are_of_equal_width_unless_a_few_are_long(longest: int) -> None:
    ids = [b"a" * longest, *(f"{number}".encode() for number in range(100))]
    ends = np.cumsum([0, *map(len, ids)]).astype(np.int32)
    found = padded(b"".join(ids), ends[:-1], ends[1:])
    assert found.tolist() == ids
    assert (found.dtype.kind == "O") == (longest == 300)
