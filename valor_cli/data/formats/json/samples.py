"""Read text samples from JSON and JSONL.

A line of JSONL is `{"sample_id": …, "user_input": …, "response": …, "references": […], …}`;
`data/shapes/samples/schema.py` lists the accepted aliases. A JSON file is a list of samples; an
object that holds such a list, possibly nested ("results.results"); an object of columns of equal
length; or a single sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.json_records import (
    TOO_DEEP,
    DuplicateKey,
    Record,
    not_json,
    parsed,
    said,
)
from valor_cli.data.partition.pieces import Piece, span_of_lines
from valor_cli.data.shapes.samples.other_tools import has_lab_rows, is_lab, lab_rows
from valor_cli.data.shapes.samples.parse import (
    FaultyRow,
    SampleBatch,
    SampleParser,
    json_batch,
)
from valor_cli.data.shapes.samples.part import PartOfFile, PieceProblems, whole_file
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.shapes.samples.values import faults_of
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.tape import DUPLICATE, INVALID, OBJECT, Ints, JsonLines, json_tape, tape_of_some
from valor_cli.data.values import LineProblems, Problems
from valor_cli.errors import DataError, Problem, printable

BLOCK: Final = 1 << 18
"""Bytes that are read at once."""

ROW_LISTS: Final = (
    "results",
    "samples",
    "test_cases",
    "testCases",
    "inputs",
    "data",
    "dataset",
    "rows",
    "examples",
    "goldens",
    "queries",
)
"""What a list of samples may be called where an object holds several lists."""

_DEEPEST = 3
_ROWS: Final = 1 << 10
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read_sample_jsonl(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a JSONL file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; there are no
            samples, or no column of a known name.
    """
    source = TextSource(path)
    parser = SampleParser(reading, LineProblems(path))
    read_lines(parser, blocks_of_lines(source, BLOCK), 1)
    return whole_file(path, parser.part(), reading, source.sha256)


def read_jsonl_part(piece: Piece, reading: SampleReading) -> PartOfFile:
    """The samples of some lines of a plain JSONL file.

    Lines and rows are counted from the first of the piece; what is said of faults, from the first
    of the file.

    Raises:
        DataError: The file cannot be read, or is no UTF-8.
    """
    span = span_of_lines(piece)
    parser = SampleParser(reading, PieceProblems(piece.path, span.begin))
    behind = read_lines(parser, blocks_of_lines(TextSource(piece.path, span), BLOCK), 1)
    return parser.part(behind - 1, span)


def read_sample_json(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a JSON file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; it is no JSON, or holds no list of samples; a value is
            wrong; there are no samples, or no column of a known name.
    """
    source = TextSource(path)
    content = source.whole()
    items = _items(content)
    found = _Found("", ()) if items is not None else _rows_in(content, path, reading)
    del content
    parser = SampleParser(reading, ItemProblems(path, found.name))
    if items is not None:
        read_lines(parser, blocks_of_items(items), 0)
    for first in range(0, len(found.rows), _ROWS):
        values = found.rows[first : first + _ROWS]
        line = np.arange(first, first + len(values))
        wrong: list[FaultyRow] = []
        batch = python_batch(values, line, line + 1, wrong)
        parser.add([batch], wrong)
    place = f": {printable(found.name).replace('{', '{{').replace('}', '}}')}[{{row}}]"
    return whole_file(path, parser.part(), reading, source.sha256, place)


def read_lines(parser: SampleParser, blocks: Iterable[bytes], line: int) -> int:
    """Read whole lines of JSON.

    Args:
        parser: Takes the rows.
        blocks: The lines.
        line: Number of the first.

    Returns:
        The number of the line behind the last.
    """
    rows = 0
    for block in blocks:
        lines = json_tape(block)
        left = np.array([at for at, _ in lines.left], np.int64)
        number = rows + 1 + np.argsort(np.argsort(np.concatenate([lines.line, left])))
        own, others = np.split(number, [len(lines.line)])
        batch = json_batch(lines.values, line + lines.line, own, partial(_lines_of, lines, block))
        wrong: list[FaultyRow] = []
        values = _values_of(lines.left, line, wrong)
        kept = np.array(list(values), np.int64)
        other = python_batch(list(values.values()), line + left[kept], others[kept], wrong)
        parser.add([batch, other], wrong)
        rows += len(number)
        line += lines.count
    return line


def _lines_of(lines: JsonLines, block: bytes, some: Sequence[int]) -> list[Any]:
    return [parsed(lines.content(block, at)) for at in some]


def _values_of(
    lines: Sequence[tuple[int, bytes]], line: int, wrong: list[FaultyRow]
) -> dict[int, Any]:
    """The values of lines by their position; what is wrong with others is added to `wrong`."""
    values = {}
    for position, (at, content) in enumerate(lines):
        try:
            values[position] = parsed(content)
        except (json.JSONDecodeError, RecursionError) as error:
            wrong.append((line + at, [("", not_json(error))]))
    return values


def python_batch(
    values: Sequence[Any], line: Ints, number: Ints, wrong: list[FaultyRow]
) -> SampleBatch:
    """A batch of values of `json_records.parsed`; those that are wrong as a whole are left out.

    Args:
        values: One a row.
        line, number: As in `SampleBatch`.
        wrong: Where the faults of the others are added.
    """
    column, deep = tape_of_some(values)
    suspect = deep | ~column.is_of(OBJECT) | column.holds(DUPLICATE, INVALID)
    faulty = {
        at: [("", TOO_DEEP)] if deep[at] else faults_of(values[at])
        for at in np.flatnonzero(suspect).tolist()
    }
    wrong += [(int(line[at]), found) for at, found in faulty.items() if found]
    kept = np.array([at for at in range(len(values)) if not faulty.get(at)], np.int64)
    own = [values[at] for at in kept.tolist()]
    return json_batch(
        column.take(kept), line[kept], number[kept], lambda some: [own[at] for at in some]
    )


def records_in(content: bytes, path: str, reading: SampleReading) -> Sequence[Any]:
    """The rows of a JSON file as Python values.

    Raises:
        DataError: It is no JSON, or holds no list of samples.
    """
    items = _items(content)
    if items is None:
        return _rows_in(content, path, reading).rows
    records: Sequence[Any] = msgspec.json.decode(content)
    return records


class ItemProblems(Problems):
    """What is wrong in the items of a list: a row is an item, counted from 0."""

    __slots__ = ()

    def add(self, row: int, key: str, message: str) -> None:
        """Note a problem of an item; `key` says where in it ("references[2]")."""
        super().add(row, f".{key}" if key else "", message)


class _Found(NamedTuple):
    """A list of rows, and the dotted path of its keys."""

    name: str
    rows: Sequence[Any]


def _items(content: bytes) -> list[Any] | None:
    """The texts of the items of a list; None if the content is something else."""
    try:
        return _RAW.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return None


def blocks_of_items(items: Sequence[Any]) -> Iterator[bytes]:
    """The texts of items as lines, some at a time."""
    block: list[bytes] = []
    size = 0
    for item in items:
        # Line ends stand between values alone: in a text they are escaped.
        block.append(bytes(item).replace(b"\n", b" ").replace(b"\r", b" "))
        size += len(block[-1])
        if size > BLOCK:
            yield b"\n".join(block)
            block, size = [], 0
    if block:
        yield b"\n".join(block)


def _rows_in(content: bytes, path: str, reading: SampleReading) -> _Found:
    """The rows of an object, or of a list that only a lenient parser takes (NaN in it).

    Raises:
        DataError: It is no JSON, or there are no rows in it.
    """
    try:
        document = parsed(content)
    except json.JSONDecodeError:
        parse_json(content, path)
        raise
    except RecursionError:
        raise DataError(Problem(path, TOO_DEEP)) from None
    if isinstance(document, list):
        return _Found("", document)
    if not isinstance(document, dict):
        message = f"expected a list of objects, one a sample, found {said(document)}"
        raise DataError(Problem(path, message))
    if isinstance(document, DuplicateKey):
        raise DataError(Problem(f"{path}: {document.key}", "duplicate key in this object"))
    found = _Found("dataset.inputs", document["dataset"]["inputs"]) if is_lab(document) else None
    found = found or _search(document, path, "", _DEEPEST)
    if found is not None:
        shaped = has_lab_rows(found.rows)
        return found._replace(rows=lab_rows(document, found.rows)) if shaped else found
    if SCHEMA.layout(document, reading.columns):
        return _Found("", list(_columns(document)) or [document])
    shown = ", ".join(printable(key) for key in list(document)[:12])
    message = f"there is no list of samples in this object; there is: {shown or 'nothing'}"
    raise DataError(Problem(path, message))


def _search(document: Record, path: str, name: str, depth: int) -> _Found | None:
    """The list of objects in an object: the only one, the best known, or one further inside."""
    lists = {
        key: value
        for key, value in document.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    inside = [key for key in (*ROW_LISTS, *document) if isinstance(document.get(key), dict)]
    known = [key for key in ROW_LISTS if key in lists]
    if known or (len(lists) == 1 and not any(key in ROW_LISTS for key in inside)):
        key = known[0] if known else next(iter(lists))
        return _Found(name + key, lists[key])
    if depth > 1:
        for key in dict.fromkeys(inside):
            if isinstance(document[key], DuplicateKey):
                place = f"{path}: {name}{key}.{document[key].key}"
                raise DataError(Problem(place, "duplicate key in this object"))
            found = _search(document[key], path, f"{name}{key}.", depth - 1)
            if found is not None:
                return found
    return None


def _columns(document: Record) -> Iterator[Record]:
    """The rows of an object of columns, as pandas and `Dataset.to_dict` write them."""
    columns = [
        list(value.values()) if isinstance(value, dict) else value for value in document.values()
    ]
    lengths = {len(value) if isinstance(value, list) else -1 for value in columns}
    if len(lengths) == 1 and -1 not in lengths:
        for row in zip(*columns, strict=True):
            yield dict(zip(document, row, strict=True))
