"""Read labels and scores from JSONL, or from a JSON list of such records.

A line is `{"sample_id": …, "label": …, "predictions": {"cat": 0.9, …}}` or, with one label per
line, `{"sample_id": …, "label": …, "prediction": "cat", "score": 0.9}`, or has a key per class,
like the columns of CSV. `score_header.ALIASES` lists aliases, `score_json_values` the other
notations of predictions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from valor_cli.data.column_names import check_mapped
from valor_cli.data.formats.jsonl.score_head import JsonHead, json_head, records_in
from valor_cli.data.formats.jsonl.score_rows import KeyNames, ScoreLineReader
from valor_cli.data.json_records import parsed as parsed_json
from valor_cli.data.shapes.scores.assembly import score_file
from valor_cli.data.shapes.scores.checks import Named
from valor_cli.data.shapes.scores.columns import GatheredScores, ScoreColumns
from valor_cli.data.shapes.scores.fields import BLOCK
from valor_cli.data.shapes.scores.parse import ScoreFields, ScoreParser
from valor_cli.data.shapes.scores.prediction_columns import unread_column_warnings
from valor_cli.data.shapes.scores.rows import Ints
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreFile, ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE
from valor_cli.data.tape import OBJECT, Column, json_tape, tape_of
from valor_cli.data.values import LineProblems, Problems, describe
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary

_ITEM: Final = "[{row}]"
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read_score_jsonl(path: str, side: Side, reading: ScoreReading) -> ScoreFile:
    """Read labels and scores from a JSONL file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        side: What it holds.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; there are no
            samples.
    """
    source = TextSource(path)
    return _read(source, blocks_of_lines(source, BLOCK), side, reading)


def read_score_json(path: str, side: Side, reading: ScoreReading) -> ScoreFile:
    """Read labels and scores from a JSON list of JSONL records.

    Takes and raises what `read_score_jsonl` does.
    """
    source = TextSource(path)
    content = source.whole()
    blocks = _blocks_of_items(_items(content, path))
    del content
    return _read(source, blocks, side, reading, place=_ITEM)


def _read(
    source: TextSource,
    blocks: Iterator[bytes],
    side: Side,
    reading: ScoreReading,
    *,
    place: str = LINE,
) -> ScoreFile:
    """The samples of blocks of lines; lines are counted from 1, items of a list from 0."""
    block = next(blocks)
    head = json_head(records_in(block), side, reading)
    rows = JsonRows(source.path, side, reading, head, place=place)
    rows.read(chain([block], blocks), int(place == LINE))
    found = rows.file(source.sha256)
    warnings = unread_column_warnings(source.path, side, head.unread, found.labels)
    return replace(found, warnings=[*found.warnings, *warnings])


class JsonRows:
    """The lines of a file or part.

    Attributes:
        line: Number of the line behind those that were read.
    """

    def __init__(
        self, path: str, side: Side, reading: ScoreReading, head: JsonHead, *, place: str = LINE
    ) -> None:
        check_mapped(reading.columns, ALIASES)
        labels, keys = Vocabulary(), Vocabulary()
        self.line = 0
        self._head = head
        self._classes = tuple(reading.classes) if side != "ground_truth" else ()
        if head.wide is not None:
            self._classes = head.wide.names
        for name in self._classes:
            labels.code(name.encode())
        self._path, self._place, self._invalid = path, place, reading.invalid
        self._labels, self._keys = labels, keys
        self._names = KeyNames.of(reading)
        self._problems = LineProblems(path) if place == LINE else _ItemProblems(path)
        self._side = side
        self._metadata = () if side == "predictions" else tuple(reading.metadata)
        self._parser = ScoreParser(
            side, reading.classes, labels, keys, probabilities=reading.probabilities
        )
        self._slow = ScoreLineReader(side, reading, labels, keys, self._problems, head.wide)
        self._gathered = GatheredScores(self._metadata)

    def read(self, blocks: Iterable[bytes], first: int) -> None:
        """Read whole lines; the first has number `first`."""
        for block in blocks:
            lines = json_tape(block)
            number = first + lines.line
            rejected = self._add(lines.values, number)
            wrong = [(int(number[at]), lines.content(block, at)) for at in rejected]
            wrong += self._add_unusual([(first + at, line) for at, line in lines.left])
            if wrong:
                numbers, contents = zip(*sorted(wrong), strict=True)
                self._gathered.add(self._slow.piece(contents, numbers))
            first += lines.count
        self.line = first

    def _add(self, values: Column, line: Ints) -> list[int]:
        """Add the lines that are right; the positions of the others."""
        parsed = self._parser.parse(self._fields(values, line))
        self._gathered.add(parsed.piece)
        rejected: list[int] = parsed.rejected.tolist()
        return rejected

    def _add_unusual(self, left: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Add lines that Python must read; those that are wrong."""
        values, read, wrong = [], [], []
        for line in left:
            try:
                values.append(parsed_json(line[1]))
                read.append(line)
            except (json.JSONDecodeError, RecursionError):
                wrong.append(line)
        if values:
            numbers = np.array([number for number, _ in read], np.int64)
            wrong += [read[at] for at in self._add(tape_of(values), numbers)]
        return wrong

    def _fields(self, values: Column, line: Ints) -> ScoreFields:
        """The columns of lines, by meaning."""
        names, side, wide = self._names, self._side, self._head.wide
        unusable = ~values.is_of(OBJECT)
        if wide is not None and wide.others is not None:
            unusable |= values.other_keys(wide.others)
        listed = side != "ground_truth"
        inner = values.field("metadata")
        return ScoreFields(
            line=line,
            sample_id=values.field(*names.sample_id),
            truth=None if side == "predictions" else values.field(*names.label),
            key=values.field(*names.label_key),
            many=values.field(*names.predictions) if listed else None,
            pairs=[(values.field(*names.prediction), values.field(*names.score))] * listed,
            wide=[] if wide is None else [values.field(name) for name in wide.names],
            metadata={
                name: values.field(name).or_else(inner.field(name)) for name in self._metadata
            },
            cells=False,
            unusable=unusable,
        )

    def columns(self) -> ScoreColumns:
        """The valid rows in file order; empties this object."""
        return self._gathered.columns()

    def file(self, sha256: str, *, part: bool = False) -> ScoreFile:
        """The samples; empties this object.

        Raises:
            DataError: As `score_file` does.
        """
        return score_file(
            self._path,
            self._gathered,
            Named(
                self._labels.names,
                self._keys.names,
                truth=self._names.label[0],
                key=self._names.label_key[0],
                place="line {row}" if self._place == LINE else _ITEM,
            ),
            self._problems,
            faulty=self._slow.rows.faulty,
            sha256=sha256,
            long=self._head.long,
            classes=self._classes,
            invalid=self._invalid,
            place=self._place,
            there=self._head.names,
            part=part,
        )


class _ItemProblems(Problems):
    """What is wrong in the items of a list: a row is an item, counted from 0."""

    __slots__ = ()

    def add(self, row: int, key: str, message: str) -> None:
        """Note a problem of an item; `key` says where in it ("predictions.cat")."""
        super().add(row, f".{key}" if key else "", message)


def _items(content: bytes, path: str) -> list[Any]:
    """The texts of the items of a list.

    Raises:
        DataError: The text is no JSON, or no list.
    """
    try:
        return _RAW.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        value = json.loads(content, parse_int=float)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}, line {error.lineno}, column {error.colno})"
        raise DataError(Problem(path, message)) from None
    except RecursionError:
        raise DataError(Problem(path, "the JSON is nested too deeply to be read")) from None
    if not isinstance(value, list):
        message = f"expected a list of objects, one a sample, found {describe(value)}"
        raise DataError(Problem(path, message))
    # What only the lenient parser takes (NaN) is named by the slow reading.
    return [json.dumps(item).encode() for item in value]


def _blocks_of_items(items: list[Any]) -> Iterator[bytes]:
    """Items as lines, some at a time; at least one block."""
    block: list[bytes] = []
    size = 0
    for item in items:
        # Line ends stand between values alone: in a text they are escaped.
        block.append(bytes(item).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
        size += len(block[-1])
        if size > BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)
