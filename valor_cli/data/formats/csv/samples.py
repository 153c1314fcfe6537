"""Read text samples from CSV.

The first line names the columns (`sample_header.ALIASES`). An empty response is an empty answer;
every other empty cell means no value.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, Final

from valor_cli.data.column_names import (
    DELIMITERS,
    csv_reader,
    duplicate_columns,
    fields_of,
    not_csv,
    number_in,
    wrong_field_count,
)
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.samples import values
from valor_cli.data.shapes.samples.assembly import check_names, sample_file
from valor_cli.data.shapes.samples.columns import gathered
from valor_cli.data.shapes.samples.header import (
    COLUMNS,
    in_milliseconds,
    known_names,
    read_layout,
)
from valor_cli.data.shapes.samples.logprobs import logprobs_in
from valor_cli.data.shapes.samples.other_tools import expected_answer
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.shapes.samples.values import Note
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import LineProblems
from valor_cli.errors import DataError, Problem
from valor_cli.results import Scalar

PEER_METADATA: Final = "__metadata:"
"""The prefix of promptfoo's metadata columns."""

_SAVED_BY_DEEPEVAL: Final = frozenset({"input", "actual_output", "expected_output", "source_file"})
"""The columns that identify a data set saved by deepeval, which writes "|" between contexts."""

_UNREADABLE: Final = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What `ast.parse` raises for a text that is not Python."""

_LISTS = "a JSON list of texts, or a list as Python writes it"


def read_sample_csv(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a CSV file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; no column has a known name, or a mapped one is missing;
            a row has too few or too many fields; a value is wrong; there are no samples.
    """
    source = TextSource(path)
    text = source.whole().decode()
    first = text.lstrip("\r\n").split("\n", 1)[0].split("\r", 1)[0]
    delimiter, spaced = delimiter_of(first, reading)
    records = _records(text, path, delimiter, spaced=spaced)
    begin, header = next(records, (1, []))
    if not header:
        raise DataError(Problem(path, "the file is empty: it has only line breaks"))
    names = [name.strip() for name in header]
    place = f"{path}:{begin}"
    if problems := duplicate_columns(names, place):
        raise DataError(problems)
    check_names(names, reading, place)
    problems_found = LineProblems(path)
    reader = _CellReader(names, delimiter, reading, problems_found)
    found = (
        (number, row)
        for number, (line, record) in enumerate(records, 1)
        if (row := reader.row(record, line)) is not None
    )
    rows = gathered(found, reading)
    return sample_file(
        path,
        rows,
        problems_found,
        reading,
        faulty=reader.faulty,
        sha256=source.sha256,
        names=names,
        metadata=reader.metadata,
        plain_contexts=reader.plain_contexts,
    )


def delimiter_of(first: str, reading: SampleReading) -> tuple[str, bool]:
    """The delimiter of a header line, and whether a space follows it."""
    delimiter = max(DELIMITERS, key=lambda one: _delimiter_rank(first, one, reading))
    return delimiter, any(name.startswith(" ") for name in fields_of(first, delimiter)[1:])


def _delimiter_rank(line: str, delimiter: str, reading: SampleReading) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = [name.strip() for name in fields_of(line, delimiter)]
    return known_names(names, reading.columns), len(names)


def _records(
    text: str, path: str, delimiter: str, *, spaced: bool
) -> Iterator[tuple[int, list[str]]]:
    """The fields of rows, and the lines they begin on; blank lines are left out.

    Raises:
        DataError: A quote is not closed, or text follows a closing one.
    """
    reader = csv_reader(StringIO(text, newline=""), delimiter, spaced=spaced)
    begin = 1
    try:
        for record in reader:
            if record:
                yield begin, record
            begin = reader.line_num + 1
    except csv.Error as error:
        raise not_csv(path, begin, error) from None


class _CellReader:
    """Reads rows one by one.

    Attributes:
        faulty: How many could not be used.
        plain_contexts: How many had a text where a list of contexts is expected.
        metadata: Position of each column of metadata asked for that there is, by name.
    """

    def __init__(
        self,
        names: Sequence[str],
        delimiter: str,
        reading: SampleReading,
        problems: LineProblems,
    ) -> None:
        self.faulty = 0
        self.plain_contexts = 0
        self._names = names
        self._delimiter = delimiter
        self._problems = problems
        self._line = 0
        layout = read_layout(names, reading)
        self._at = {
            standard: names.index(key)
            for standard, key in zip(COLUMNS, layout.keys, strict=True)
            if key is not None
        }
        self._asked = reading.metadata
        self.metadata = {
            name: names.index(one)
            for name in reading.metadata
            for one in (name, PEER_METADATA + name)
            if one in names
        }
        saved = names[0] == "input" and set(names) >= _SAVED_BY_DEEPEVAL
        self._joined_by = "|" if saved else ""

    def row(self, record: Sequence[str], line: int) -> SampleRow | None:
        """The row of some fields; None if it cannot be used."""
        self._line = line
        before = self._problems.total
        row = None
        if len(record) == len(self._names):
            row = self._row(record)
        else:
            message = wrong_field_count(len(record), len(self._names), self._delimiter, "field")
            self._note("", message)
        if self._problems.total == before:
            return row
        self.faulty += 1
        return None

    def _note(self, place: str, message: str) -> None:
        self._problems.add(self._line, place, message)

    def _row(self, record: Sequence[str]) -> SampleRow:
        cell = {name: record[at] for name, at in self._at.items()}
        name = {name: self._names[at] for name, at in self._at.items()}
        note = self._note
        duration = amount(cell.get("duration_s", ""), name.get("duration_s", ""), note)
        if duration is not None and in_milliseconds(name["duration_s"]):
            duration /= 1000
        return SampleRow(
            sample_id=self._id(cell.get("sample_id"), name.get("sample_id", "")),
            model=_filled(cell.get("model")),
            user_input=cell.get("user_input") or None,
            response=cell.get("response"),
            references=self._references(cell.get("references", ""), name.get("references", "")),
            retrieved_contexts=self._contexts(cell.get("retrieved_contexts", "")),
            condition=_filled(cell.get("condition")),
            categories=listed_texts(cell.get("categories", ""), name.get("categories", ""), note),
            group=_filled(cell.get("group")),
            perturbed_from=_filled(cell.get("perturbed_from")),
            duration_s=duration,
            cost_usd=amount(cell.get("cost_usd", ""), name.get("cost_usd", ""), note),
            artifacts=self._path(cell.get("artifacts")),
            token_logprobs=logprobs_in(
                cell.get("token_logprobs", ""), name.get("token_logprobs", ""), note
            ),
            metadata=tuple(self._metadata(record)),
            line=self._line,
        )

    def _id(self, cell: str | None, place: str) -> str | None:
        if cell is None:
            return None
        if not cell or "\0" in cell:
            found = "one with a NUL character" if cell else "nothing"
            self._note(place, f"expected the id of a sample, found {found}")
        return cell

    def _references(self, cell: str, name: str) -> tuple[str, ...]:
        found = listed_texts(cell, name, self._note)
        if not name.startswith("__"):
            return found
        return tuple(one for one in map(expected_answer, found) if one is not None)

    def _contexts(self, cell: str) -> tuple[str, ...] | None:
        if not cell.strip():
            return None
        if cell.lstrip().startswith("["):
            name = self._names[self._at["retrieved_contexts"]]
            return contexts(cell, name, self._note)
        if self._joined_by:
            return tuple(cell.split(self._joined_by))
        self.plain_contexts += 1
        return (cell,)

    def _path(self, cell: str | None) -> str | None:
        if cell and "\0" in cell:
            self._note("artifacts", "expected a path, found one with a NUL character")
        return _filled(cell)

    def _metadata(self, record: Sequence[str]) -> Iterator[Scalar]:
        for name in self._asked:
            yield (record[self.metadata[name]] or None) if name in self.metadata else None


def _filled(cell: str | None) -> str | None:
    return cell if cell and cell.strip() else None


def amount(cell: str, place: str, note: Note) -> float | None:
    """A number of 0 or more; None where there is none."""
    if not cell.strip():
        return None
    found, wrong = number_in(cell)
    if not wrong and found < 0:
        wrong = f"expected 0 or more, found {cell.strip()}"
    if wrong:
        note(place, wrong)
        return None
    return found


def contexts(cell: str, place: str, note: Note) -> tuple[str, ...] | None:
    """The texts of a list: JSON, or as Python and numpy write one."""
    found = _json_list(cell)
    if found is not None:
        for where, message in values.faults(found, place):
            note(where, message)
        return values.contexts(found, place, note)
    strings = _python_strings(cell)
    if strings is None:
        note(place, f"expected {_LISTS}, for the cell begins with [; found neither")
    return strings


def listed_texts(cell: str, place: str, note: Note) -> tuple[str, ...]:
    """The texts of a list, otherwise the whole cell, since a text may begin with a bracket."""
    if not cell:
        return ()
    if cell.lstrip().startswith("["):
        found = _json_list(cell)
        if found is not None:
            return values.texts(found, place, note)
        strings = _python_strings(cell)
        if strings is not None:
            return strings
    return (cell,)


def _json_list(cell: str) -> list[Any] | None:
    try:
        found = parsed(cell.encode())
    except (json.JSONDecodeError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _python_strings(cell: str) -> tuple[str, ...] | None:
    """The strings of a list as `repr` writes it, of a list or of a numpy array.

    numpy writes no commas. Python itself would join such strings to one.
    """
    text = cell.strip()
    try:
        with warnings.catch_warnings():
            # An odd backslash in a string is no affair of whoever runs this.
            warnings.simplefilter("ignore")
            found = ast.literal_eval(text)
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
            strings = [one.string for one in tokens if one.type == tokenize.STRING]
            commas = any(one.type == tokenize.OP and one.string == "," for one in tokens)
            apart = [ast.literal_eval(one) for one in strings]
    except (*_UNREADABLE, tokenize.TokenError):
        return None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in [*found, *apart]):
        return None
    if len(apart) == len(found):
        return tuple(found)
    return None if commas else tuple(apart)
