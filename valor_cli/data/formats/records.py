"""Read and write the rows of JSONL, JSON or CSV unchanged, each a mapping of its own keys."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import StringIO
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.column_names import DELIMITERS, csv_reader, duplicate_columns, wrong_field_count
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.json_records import TOO_DEEP, Number, parsed, said
from valor_cli.data.shapes.samples.values import faults
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.values import LineProblems, Problems, is_text, stop_on
from valor_cli.errors import DataError, Problem

RowForm: TypeAlias = Literal["jsonl", "json", "csv"]

FORMS: Final[Mapping[str, RowForm]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}
"""Extension to the form of a file of rows."""


class RawRows(Struct, frozen=True):
    """The rows of a file.

    Attributes:
        path: The file.
        form: How it is written.
        rows: By name, the values: any JSON, or the texts of cells.
        delimiter: What stands between the cells of a CSV file.
    """

    path: str
    form: RowForm
    rows: Sequence[Mapping[str, Any]]
    delimiter: str = ","


def read_raw_rows(path: str) -> RawRows:
    """Read a JSONL file, a JSON list, or a CSV file whose first line names the columns.

    Args:
        path: The file, plain or compressed; "-" is standard input, of JSONL.

    Raises:
        DataError: It cannot be read, is of another form, or a row is no such thing.
    """
    form = "jsonl" if path == STDIN else FORMS.get(extension_of(path))
    if form is None:
        raise DataError(
            Problem(path, "the extension does not name a format"), hint=f"known: {', '.join(FORMS)}"
        )
    content = TextSource(path).whole()
    if form == "csv":
        return _csv(path, content.decode())
    rows = _lines(path, content) if form == "jsonl" else _items(path, content)
    if not rows:
        raise DataError(Problem(path, "there are no rows"))
    return RawRows(path, form, rows)


def _lines(path: str, content: bytes) -> list[dict[str, Any]]:
    problems = LineProblems(path)
    rows = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        note = partial(problems.add, number)
        try:
            rows.append(_row(parsed(line), note))
        except json.JSONDecodeError as error:
            note("", f"not JSON (column {error.colno}): {error.msg}")
        except RecursionError:
            note("", TOO_DEEP)
    stop_on([problems])
    return rows


def _items(path: str, content: bytes) -> list[dict[str, Any]]:
    try:
        document = parsed(content)
    except json.JSONDecodeError:
        parse_json(content, path)
        raise
    except RecursionError:
        raise DataError(Problem(path, TOO_DEEP)) from None
    if not isinstance(document, list):
        message = f"expected a list of rows, found {said(document)}"
        raise DataError(Problem(path, message))
    problems = Problems(path)
    rows = []
    for number, item in enumerate(document):
        try:
            rows.append(_row(item, partial(_note_item, problems, number)))
        except RecursionError:
            problems.add(number, "", TOO_DEEP)
    stop_on([problems])
    return rows


def _note_item(problems: Problems, number: int, place: str, message: str) -> None:
    problems.add(number, f".{place}" if place else "", message)


def _row(value: Any, note: Callable[[str, str], None]) -> dict[str, Any]:
    """The row of a value from `json_records.parsed`, as `json.loads` has it; it can be written.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if not isinstance(value, dict):
        note("", f"expected an object, found {said(value)}")
        return {}
    row: dict[str, Any] = _plain(value)
    wrong = list(faults(value))
    for place, message in wrong:
        note(place, message)
    if not wrong:
        try:
            if not is_text(json.dumps(row, ensure_ascii=False, allow_nan=False)):
                note("", "expected Unicode text, found half of a surrogate pair")
        except ValueError:
            note("", "a number in it is too large")
    return row


def _plain(value: Any) -> Any:
    """The value with plain numbers.

    Writing takes no more calls a level than this: what gets through is not too deep for that.
    """
    if isinstance(value, Number):
        return value.plain
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def _csv(path: str, text: str) -> RawRows:
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv_reader(StringIO(text, newline=""), delimiter)
    problems = LineProblems(path)
    rows: list[dict[str, str]] = []
    names: list[str] = []
    begin = header = 1
    try:
        for cells in reader:
            if not names:
                names, header = cells, begin
            elif len(cells) == len(names):
                rows.append(dict(zip(names, cells, strict=True)))
            elif cells:
                problems.add(
                    begin, "", wrong_field_count(len(cells), len(names), delimiter, "text")
                )
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(Problem(f"{path}:{begin}", f"not CSV ({error})")) from None
    if twice := duplicate_columns(names, f"{path}:{header}"):
        raise DataError(twice)
    stop_on([problems])
    if not rows:
        raise DataError(Problem(path, "there are no rows below the first line"))
    return RawRows(path, "csv", rows, delimiter)


def rows_as(rows: Sequence[Mapping[str, Any]], form: RowForm, delimiter: str = ",") -> bytes:
    """Rows as file content; in CSV, values that are not text are written as JSON, None as empty."""
    if form == "jsonl":
        return "".join(f"{_json(row)}\n" for row in rows).encode()
    if form == "json":
        return "[\n{}\n]\n".format(",\n".join(map(_json, rows))).encode()
    return "".join(f"{line}\n" for line in _csv_lines(rows, delimiter)).encode()


def _json(value: Any) -> str:
    # orjson knows no whole numbers of more than 64 bits, and less depth than is read.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Lines(list[str]):
    """The lines that a csv.writer writes."""

    write = list.append


def _csv_lines(rows: Sequence[Mapping[str, Any]], delimiter: str) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = _Lines()
    # Characters of the line end are quoted in cells: a lone "\r" has to be.
    end = "\r\n"
    writer = csv.writer(lines, delimiter=delimiter, lineterminator=end)
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return [line.removesuffix(end) for line in lines]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)
