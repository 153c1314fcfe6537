"""Read JSON lines as rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Final

import msgspec
import numpy as np

from valor_cli.data.batch import (
    ALL,
    Batch,
    Block,
    FaultyRow,
    Known,
    Part,
    RowFile,
    Shaped,
    TextRowFile,
    TypedReading,
)
from valor_cli.data.json_records import json_or_none, not_json, parsed
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.table import LINE
from valor_cli.data.tape import Ints, JsonLines, json_tape
from valor_cli.data.value_rows import ValueFile, batch_of, names_of

BLOCK: Final = 3 << 17
"""Bytes that are read at once."""


def open_rows(path: str, known: Known, shaped: Shaped | None = None) -> RowFile:
    """Open a file of JSON lines; or, where its name says nothing, a document that is on one line.

    Args:
        path: The file.
        known: Not asked: every line is a row.
        shaped: Finds the rows of such a document.
    """
    source = TextSource(path)
    blocks = blocks_of_lines(source, BLOCK)
    if shaped is None or extension_of(path):
        return JsonLinesFile(source, blocks)
    first = list(islice(blocks, 1))
    if first and b"\n" not in first[0].strip():
        first += islice(blocks, 1)
        document = json_or_none(first[0]) if len(first) == 1 else None
        if isinstance(document, dict) and (found := shaped(document, None)) is not None:
            return ValueFile.of_document(path, found, source.sha256)
    return JsonLinesFile(source, chain(first, blocks))


class JsonLinesFile(TextRowFile):
    """Objects of JSON, one a line; see `RowFile`."""

    def __init__(
        self, source: TextSource, blocks: Iterator[bytes], place: str = LINE, line: int = 1
    ) -> None:
        """Open a file.

        Args:
            source: The file.
            blocks: Its lines.
            place: How a line is named, as in `Table.place`.
            line: The number of the first.
        """
        super().__init__(source)
        self.head = source.path
        self.place = place
        self.line = line
        self._blocks = blocks

    def first_rows(self) -> Iterator[Mapping[str, Any]]:
        """The objects of the first block."""
        if first := next(self._blocks, b""):
            self._blocks = chain([first], self._blocks)
            yield from _records_in(first)

    def blocks(self, part: Part | None = None, typed: TypedReading = ALL) -> Iterator[Block]:
        """The rows, in order; see `RowFile.blocks`."""
        blocks = self._blocks
        if part is not None:
            blocks, self.line = blocks_of_lines(TextSource(self.path, part[:2]), BLOCK), 1
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
                names_of(values, self.line + lines.line),
                values.field,
                partial(_records, lines, block),
                values,
                irregular=False,
            )
            yield _with_left(batch, lines.left, self.line, others)
            count += len(number)
            self.line += lines.count


def _records(lines: JsonLines, block: bytes, rows: Sequence[int]) -> list[Any]:
    return [parsed(lines.content(block, row)) for row in rows]


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


def _records_in(block: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a block that are objects."""
    for line in block.split(b"\n"):
        try:
            found = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
