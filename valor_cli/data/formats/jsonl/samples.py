"""Read text samples from JSONL.

A line is `{"sample_id": …, "user_input": …, "response": …, "references": […], …}`;
`data/shapes/samples/schema.py` lists the accepted aliases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from valor_cli.data.json_records import parsed
from valor_cli.data.partition.pieces import Piece, span_of_lines
from valor_cli.data.shapes.samples.parse import (
    FaultyRow,
    SampleBatch,
    SampleParser,
    json_batch,
    tape_of_some,
)
from valor_cli.data.shapes.samples.part import PartOfFile, PieceProblems, whole_file
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.values import TOO_DEEP, faults_of
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.tape import Ints, json_tape
from valor_cli.data.values import LineProblems

BLOCK: Final = 1 << 18
"""Bytes that are read at once."""


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
        there = np.sort(np.concatenate([lines.line, [at for at, _ in lines.left]]).astype(np.int64))

        def records(some: Sequence[int], block: bytes = block, lines: Any = lines) -> Sequence[Any]:
            return [parsed(lines.content(block, at)) for at in some]

        number = rows + 1 + np.searchsorted(there, lines.line)
        batches = [json_batch(lines.values, line + lines.line, number, records)]
        wrong: list[FaultyRow] = []
        if lines.left:
            values, own = [], []
            for at, content in lines.left:
                try:
                    values.append(parsed(content))
                    own.append(at)
                except json.JSONDecodeError as error:
                    message = f"not JSON ({error.msg}, column {error.colno})"
                    message += "; each line is one JSON object"
                    wrong.append((line + at, [("", message)]))
                except RecursionError:
                    wrong.append((line + at, [("", TOO_DEEP)]))
            at_line = np.array(own, np.int64)
            number = rows + 1 + np.searchsorted(there, at_line)
            batches.append(python_batch(values, line + at_line, number, wrong))
        parser.add(batches, wrong)
        rows += len(there)
        line += lines.count
    return line


def python_batch(
    values: Sequence[Any], line: Ints, number: Ints, wrong: list[FaultyRow]
) -> SampleBatch:
    """A batch of values of `json_records.parsed`; those that are wrong as a whole are left out.

    Args:
        values: One a row.
        line, number: As in `SampleBatch`.
        wrong: Where the faults of the others are added.
    """
    found = [faults_of(value) for value in values]
    sound = [None if told else one for one, told in zip(values, found, strict=True)]
    column, deep = tape_of_some(sound)
    for at in np.flatnonzero(deep).tolist():
        found[at] = [("", TOO_DEEP)]
    wrong += [(at, told) for at, told in zip(line.tolist(), found, strict=True) if told]
    kept = np.flatnonzero([not told for told in found])
    own = [values[at] for at in kept.tolist()]
    return json_batch(
        column.take(kept), line[kept], number[kept], lambda some: [own[at] for at in some]
    )
