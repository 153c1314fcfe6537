"""Read JSON as rows: lines of JSONL, or the list in a JSON file.

A JSON file is a list of rows; an object that holds such a list, possibly nested
("results.results"); an object of columns of equal length; or a single row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

import msgspec
import numpy as np

from valor_cli.data.batch import (
    Batch,
    Block,
    ColumnType,
    FaultyRow,
    Form,
    Found,
    Known,
    Part,
    Shaped,
)
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.json_records import TOO_DEEP, DuplicateKey, Record, not_json, parsed, said
from valor_cli.data.partition.pieces import Piece, span_of_lines
from valor_cli.data.schema import Path
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE
from valor_cli.data.tape import Column, Ints, JsonLines, json_tape, tape_of_some
from valor_cli.errors import DataError, Problem, printable

BLOCK: Final = 3 << 17
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
"""What a list of rows may be called where an object holds several lists."""

_DEEPEST = 3
_ROWS: Final = 1 << 10
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


class JsonFile:
    """A JSONL or JSON file; see `RowFile`."""

    form: Form = "json"
    names: Sequence[str] = ()
    types: Mapping[str, ColumnType] = {}
    is_split = False

    def __init__(
        self, path: str, known: Known, *, is_list: bool = False, shaped: Shaped | None = None
    ) -> None:
        """Open a file.

        Args:
            path: The file.
            known: Says whether an object may be a row, or columns of rows.
            is_list: Whether it is one JSON value, not one a line.
            shaped: Finds the rows of other tools' documents.

        Raises:
            DataError: It cannot be read; it is no JSON, or holds no list of rows.
        """
        self.path = self.head = path
        self.place = LINE
        self.line = 1
        self._source = TextSource(path)
        self._rows: Sequence[Any] = ()
        self._blocks: Iterator[bytes] = iter(())
        if not is_list:
            self._blocks = blocks_of_lines(self._source, BLOCK)
            return
        content = self._source.whole()
        self.place, self.line = "[{row}]", 0
        try:
            self._blocks = _blocks_of_items(_RAW.decode(content))
        except (msgspec.MsgspecError, RecursionError):
            found = _rows_in(content, path, known, shaped)
            name = printable(found.name).replace("{", "{{").replace("}", "}}")
            self.place, self._rows = f"{name}[{{row}}]", found.rows

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """The objects of the first block."""
        if isinstance(first := next(self._blocks, None), bytes):
            self._blocks = chain([first], self._blocks)
            yield from records_in(first)
        yield from (row for row in self._rows[:_ROWS] if isinstance(row, dict))

    def part_of(self, piece: Piece) -> Part:
        """The lines that begin in a piece."""
        span = span_of_lines(piece)
        return Part(*span, span)

    @property
    def sha256(self) -> str:
        """Hex digest of the file, once all of it has been read."""
        return self._source.sha256

    def blocks(
        self,
        part: Part | None = None,
        line: int = 1,
        *,
        columns: Sequence[Path] | None = None,
        coded: Sequence[str] = (),
        most: int = 0,
    ) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`."""
        blocks = self._blocks
        if part is not None:
            blocks, self.line = blocks_of_lines(TextSource(self.path, part[:2]), BLOCK), line
        count = 0
        for block in blocks:
            lines = json_tape(block)
            at = np.array([one for one, _ in lines.left], np.int64)
            number = count + 1 + np.argsort(np.argsort(np.concatenate([lines.line, at])))
            own, others = np.split(number, [len(lines.line)])
            values = lines.values
            batch = Batch(
                "json",
                self.line + lines.line,
                own,
                _names(values, self.line + lines.line),
                values.field,
                partial(_records, lines, block),
                values,
                irregular=False,
            )
            yield _with_left(batch, lines.left, self.line, others)
            count += len(number)
            self.line += lines.count
        for first in range(0, len(self._rows), _ROWS):
            rows = self._rows[first : first + _ROWS]
            at = np.arange(first, first + len(rows))
            wrong = list[FaultyRow]()
            yield Block([batch_of(rows, at, at + 1, wrong)], wrong)


def _records(lines: JsonLines, block: bytes, rows: Sequence[int]) -> list[Any]:
    return [parsed(lines.content(block, row)) for row in rows]


def _names(values: Column, line: Ints) -> dict[str, int]:
    return {name: int(line[row]) for name, row in values.first_keys().items()}


def _with_left(batch: Batch, left: Sequence[tuple[int, bytes]], line: int, number: Ints) -> Block:
    """The rows of a block with those lines that Python must read."""
    if not left:
        return Block([batch])
    values, at, wrong = list[Any](), list[int](), list[FaultyRow]()
    for position, (own, content) in enumerate(left):
        try:
            values.append(parsed(content))
            at.append(position)
        except (json.JSONDecodeError, RecursionError) as error:
            wrong.append((line + own, [("", not_json(error))]))
    lines = line + np.array([left[one][0] for one in at], np.int64)
    return Block([batch, batch_of(values, lines, number[at], wrong)], wrong)


def batch_of(values: Sequence[Any], line: Ints, number: Ints, wrong: list[FaultyRow]) -> Batch:
    """A batch of values of `json_records.parsed`.

    Args:
        values: One a row.
        line, number: As in `Batch`.
        wrong: Where those are added that are nested too deeply.
    """
    column, deep = tape_of_some(values)
    if deep.any():
        wrong += [(int(line[at]), [("", TOO_DEEP)]) for at in np.flatnonzero(deep)]
        kept = np.flatnonzero(~deep)
        values, line, number = [values[at] for at in kept.tolist()], line[kept], number[kept]
        column = column.take(kept)
    return Batch(
        "json",
        line,
        number,
        _names(column, line),
        column.field,
        lambda rows: [values[row] for row in rows],
        column,
    )


def records_in(block: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a block that are objects."""
    for line in block.split(b"\n"):
        try:
            found = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _blocks_of_items(items: Sequence[msgspec.Raw]) -> Iterator[bytes]:
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


def _rows_in(content: bytes, path: str, known: Known, shaped: Shaped | None) -> Found:
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
        return Found("", document)
    if not isinstance(document, dict):
        message = f"expected a list of objects, one a sample, found {said(document)}"
        raise DataError(Problem(path, message))
    if isinstance(document, DuplicateKey):
        raise DataError(Problem(f"{path}: {document.key}", "duplicate key in this object"))
    found = _search(document, path, "", _DEEPEST)
    if shaped is not None:
        found = shaped(document, found)
    if found is not None:
        return found
    if known(list(document)):
        return Found("", list(_columns(document)) or [document])
    shown = ", ".join(printable(key) for key in list(document)[:12])
    message = f"there is no list of samples in this object; there is: {shown or 'nothing'}"
    raise DataError(Problem(path, message))


def _search(document: Record, path: str, name: str, depth: int) -> Found | None:
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
        return Found(name + key, lists[key])
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
