"""Read the rows of labels and scores of one file, or of a piece of it, in any format.

A CSV row is a sample with its label, or one predicted label of a sample with its score, or several
in pairs of columns, or a sample with a score for each class. A JSON line is `{"sample_id": …,
"label": …, "predictions": {"cat": 0.9, …}}` or, with one label a line, `{"sample_id": …,
"label": …, "prediction": "cat", "score": 0.9}`, or has a key for each class. Parquet has the
columns of CSV, or one that lists labels with scores as JSON does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from valor_cli.data.column_names import check_mapped, wrong_field_count
from valor_cli.data.formats.csv.table import CsvRows, CsvTable, csv_head
from valor_cli.data.json_records import TOO_DEEP, not_json, parsed
from valor_cli.data.shapes.scores.assembly import score_file
from valor_cli.data.shapes.scores.columns import GatheredScores, ScoreColumns
from valor_cli.data.shapes.scores.faults import CellFaults, Fault, RecordFaults
from valor_cli.data.shapes.scores.header import (
    KeyNames,
    json_head,
    read_header,
    records_in,
    unread_column_warnings,
    unread_columns,
)
from valor_cli.data.shapes.scores.parse import ScoreFields, ScoreParser
from valor_cli.data.shapes.scores.samples import Named
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreFile, ScoreReading, Side
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE
from valor_cli.data.tape import OBJECT, Column, Ints, json_tape, tape_of_some
from valor_cli.data.values import LineProblems, Problems, describe
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary

BLOCK: Final = 1 << 19
"""Bytes that are read at once. Larger than chunks elsewhere: each block costs a hundred calls."""

ITEM: Final = "[{row}]"
"""How the items of a list are named."""

_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


class Layout(Struct, frozen=True):
    """What all rows of a file have in common.

    Attributes:
        truth, key: What the file calls the true label and the label key.
        classes: The classes in an order that means something.
        long: Whether a row is one label of a sample, so that samples may have several rows.
        metadata: Names of metadata to read.
        unread: Columns that may be classes, and are not among those of the config.
        place: How a row is named.
        there: Names of metadata that the file has, where it need not have all that are asked for.
    """

    truth: str
    key: str
    classes: tuple[str, ...]
    long: bool
    metadata: Sequence[str]
    unread: Sequence[str]
    place: str = LINE
    there: Sequence[str] | None = None


class ScoreRows:
    """The rows of a file or part, as they are read."""

    def __init__(
        self, path: str, side: Side, reading: ScoreReading, layout: Layout, problems: Problems
    ) -> None:
        self._path = path
        self._side = side
        self._reading = reading
        self._layout = layout
        self._problems = problems
        self._faulty = 0
        self._labels, self._keys = Vocabulary(), Vocabulary()
        for name in layout.classes:
            self._labels.code(name.encode())
        self._parser = ScoreParser(
            side,
            layout.classes,
            self._labels,
            self._keys,
            probabilities=reading.probabilities,
        )
        self._gathered = GatheredScores(layout.metadata)

    def add(self, fields: ScoreFields) -> list[int]:
        """Add rows; the positions of those that are wrong."""
        piece, rejected = self._parser.parse(fields)
        self._gathered.add(piece)
        wrong: list[int] = rejected.tolist()
        return wrong

    def reject(self, row: int, faults: Sequence[Fault]) -> None:
        """Note what is wrong with a row."""
        if not faults:
            raise RuntimeError(f"{self._path}: row {row} was refused, and nothing is wrong with it")
        self._faulty += 1
        for place, message in faults:
            self._problems.add(row, place, message)

    def columns(self) -> ScoreColumns:
        """The valid rows in file order; empties this object."""
        return self._gathered.columns()

    def file(self, sha256: str, *, part: bool = False) -> ScoreFile:
        """The samples; empties this object.

        Raises:
            DataError: As `score_file` does.
        """
        layout = self._layout
        file = score_file(
            self._path,
            self._gathered,
            Named(
                self._labels.names,
                self._keys.names,
                truth=layout.truth,
                key=layout.key,
                place="line {row}" if layout.place == LINE else layout.place,
            ),
            self._problems,
            faulty=self._faulty,
            sha256=sha256,
            long=layout.long,
            classes=layout.classes,
            invalid=self._reading.invalid,
            place=layout.place,
            there=layout.there,
            part=part,
        )
        if part:
            return file
        warnings = unread_column_warnings(self._path, self._side, layout.unread, file.labels)
        return replace(file, warnings=[*file.warnings, *warnings])


class LineFile(Protocol):
    """A file of lines whose head has been read.

    Attributes:
        layout: What its rows have in common.
        headed: Whether its first line names the columns.
    """

    layout: Layout
    headed: bool

    def rows(self) -> ScoreRows:
        """A place for its rows, without any."""

    def read(
        self, rows: ScoreRows, blocks: Iterator[bytes], line: int, *, part: bool = False
    ) -> int | None:
        """Read whole lines; the number of the line behind them.

        Args:
            rows: Where they go.
            blocks: The lines.
            line: Number of the first.
            part: Whether these are some lines of the file: None where they do not show where rows
                begin.
        """


class CsvFile:
    """A CSV file; all ids and labels are text.

    Attributes:
        blocks: The rows, in blocks of whole lines.
        line: Number of the first line of `blocks`.
    """

    headed = True

    def __init__(self, source: TextSource, side: Side, reading: ScoreReading) -> None:
        """Read the header.

        Raises:
            DataError: The file cannot be read; a column is missing; there are no rows.
        """
        path = source.path
        head = csv_head(source)
        header = read_header(head.first, head.second, path, side, reading)
        if not head.second:
            raise DataError(Problem(path, "there are no rows below the first line"))
        self.blocks, self.line = head.blocks, head.line
        self._path, self._side, self._reading = path, side, reading
        self._header = header
        self.layout = Layout(
            truth="" if header.truth is None else header.names[header.truth],
            key="" if header.key is None else header.names[header.key],
            classes=tuple(name for name, _ in header.classes),
            long=header.is_long,
            metadata=tuple(header.metadata),
            unread=unread_columns(header, reading),
        )

    def rows(self) -> ScoreRows:
        """A place for its rows."""
        problems = LineProblems(self._path)
        return ScoreRows(self._path, self._side, self._reading, self.layout, problems)

    def read(
        self, rows: ScoreRows, blocks: Iterator[bytes], line: int, *, part: bool = False
    ) -> int | None:
        """Read whole lines; the number of the line behind them.

        None for a part in which a row is on several lines, or a quote is no part of a quoted cell;
        what follows on other lines begins outside of quotes if this text does.

        Raises:
            DataError: A quote is not closed, or text follows a closing one.
        """
        header = self._header
        table = CsvTable(self._path, header.delimiter, len(header.names), spaced=header.spaced)
        faults = CellFaults(header, self._reading)
        try:
            for found in table.rows(blocks, line):
                if part and table.is_split:
                    return None
                self._add(rows, found, faults)
        except DataError:
            if part:
                return None
            raise
        return table.line

    def _add(self, rows: ScoreRows, found: CsvRows, faults: CellFaults) -> None:
        header, column = self._header, found.column
        rejected = rows.add(
            ScoreFields(
                line=found.line,
                sample_id=column(header.sample_id),
                truth=None if header.truth is None else column(header.truth),
                key=None if header.key is None else column(header.key),
                many=None,
                pairs=[
                    (column(label), None if score < 0 else column(score))
                    for label, score in header.pairs
                ],
                wide=[column(at) for _, at in header.classes],
                metadata={name: column(at) for name, at in header.metadata.items()},
                cells=True,
                unusable=np.zeros(len(found.line), np.bool_),
            )
        )
        wrong = [(int(found.line[at]), faults.of(found.record(at))) for at in rejected]
        expected = len(header.names)
        for line, count in found.uneven:
            message = wrong_field_count(count, expected, header.delimiter, "field")
            wrong.append((line, [Fault("", message)]))
        for line, own in sorted(wrong):
            rows.reject(line, own)


class JsonFile:
    """A JSONL file, or a JSON list of what its lines are.

    Attributes:
        blocks: The lines, in blocks; the items of a list are lines as well.
        line: Number of the first.
    """

    headed = False

    def __init__(
        self, source: TextSource, side: Side, reading: ScoreReading, *, is_list: bool = False
    ) -> None:
        """Read the first lines.

        Raises:
            DataError: The file cannot be read, or is no list where it should be.
        """
        check_mapped(reading.columns, ALIASES)
        blocks = _items(source) if is_list else blocks_of_lines(source, BLOCK)
        first = next(blocks)
        head = json_head(records_in(first), side, reading)
        self.blocks, self.line = chain([first], blocks), 0 if is_list else 1
        self._path, self._side, self._reading = source.path, side, reading
        self._names, self._wide = KeyNames.of(reading), head.wide
        classes = tuple(reading.classes) if side != "ground_truth" else ()
        self.layout = Layout(
            truth=self._names.label[0],
            key=self._names.label_key[0],
            classes=classes if head.wide is None else head.wide.names,
            long=head.long,
            metadata=() if side == "predictions" else tuple(reading.metadata),
            unread=head.unread,
            place=ITEM if is_list else LINE,
            there=head.names,
        )

    def rows(self) -> ScoreRows:
        """A place for its rows."""
        listed = self.layout.place == ITEM
        problems = _ItemProblems(self._path) if listed else LineProblems(self._path)
        return ScoreRows(self._path, self._side, self._reading, self.layout, problems)

    def read(
        self, rows: ScoreRows, blocks: Iterator[bytes], line: int, *, part: bool = False
    ) -> int:
        """Read whole lines; the number of the line behind them."""
        faults = RecordFaults(self._side, self._reading, self._names, self._wide)
        for block in blocks:
            found = json_tape(block)
            number = line + found.line
            wrong = [
                (int(number[at]), faults.of(parsed(found.content(block, at))))
                for at in rows.add(self._fields(found.values, number))
            ]
            wrong += self._unusual(rows, [(line + at, text) for at, text in found.left], faults)
            for at, own in sorted(wrong):
                rows.reject(at, own)
            line += found.count
        return line

    def _unusual(
        self, rows: ScoreRows, lines: Iterable[tuple[int, bytes]], faults: RecordFaults
    ) -> list[tuple[int, list[Fault]]]:
        """Add lines that Python must read; what is wrong in them."""
        values, numbers = list[Any](), list[int]()
        wrong = list[tuple[int, list[Fault]]]()
        for number, text in lines:
            try:
                values.append(parsed(text))
                numbers.append(number)
            except (json.JSONDecodeError, RecursionError) as error:
                wrong.append((number, [Fault("", not_json(error))]))
        if values:
            column, deep = tape_of_some(values)
            for at in rows.add(self._fields(column, np.array(numbers, np.int64))):
                own = [Fault("", TOO_DEEP)] if deep[at] else faults.of(values[at])
                wrong.append((numbers[at], own))
        return wrong

    def _fields(self, values: Column, line: Ints) -> ScoreFields:
        """The columns of lines, by meaning."""
        names, side, wide = self._names, self._side, self._wide
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
                name: values.field(name).or_else(inner.field(name)) for name in self.layout.metadata
            },
            cells=False,
            unusable=unusable,
        )


class _ItemProblems(Problems):
    """What is wrong in the items of a list: a row is an item, counted from 0."""

    __slots__ = ()

    def add(self, row: int, key: str, message: str) -> None:
        """Note a problem of an item; `key` says where in it ("predictions.cat")."""
        super().add(row, f".{key}" if key else "", message)


def _items(source: TextSource) -> Iterator[bytes]:
    """The items of a list as lines, in blocks; at least one block.

    Raises:
        DataError: The text is no JSON, or no list.
    """
    block, size = list[bytes](), 0
    for item in _listed_items(source.whole(), source.path):
        # Line ends stand between values alone: in a text they are escaped.
        block.append(bytes(item).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
        size += len(block[-1])
        if size > BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def _listed_items(content: bytes, path: str) -> Sequence[msgspec.Raw | bytes]:
    try:
        found: list[msgspec.Raw] = _RAW.decode(content)
        return found
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        value = json.loads(content, parse_int=float)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}, line {error.lineno}, column {error.colno})"
        raise DataError(Problem(path, message)) from None
    except RecursionError:
        raise DataError(Problem(path, TOO_DEEP)) from None
    if not isinstance(value, list):
        message = f"expected a list of objects, one a sample, found {describe(value)}"
        raise DataError(Problem(path, message))
    # What only the lenient parser takes (NaN) is named when the item is looked at.
    return [json.dumps(item).encode() for item in value]


def opened(
    path: str,
    side: Side,
    reading: ScoreReading,
    format: str,  # noqa: A002 - as in YAML
) -> tuple[TextSource, CsvFile | JsonFile]:
    """A file of text whose head has been read.

    Raises:
        DataError: As `CsvFile` and `JsonFile` do.
    """
    source = TextSource(path)
    if format == "csv":
        return source, CsvFile(source, side, reading)
    return source, JsonFile(source, side, reading, is_list=format == "json")
