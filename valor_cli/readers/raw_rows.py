"""A file of rows comes in; each row as it is written, a mapping of its own names, goes out."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final, Literal, TypeAlias

from valor_cli.errors import DataError, Problem
from valor_cli.readers.checks import LineProblems, Problems, describe, is_text, stop_on
from valor_cli.readers.csv_cells import ragged
from valor_cli.readers.csv_columns import DELIMITERS
from valor_cli.readers.files import STDIN, TextSource
from valor_cli.readers.inputs import extension_of
from valor_cli.readers.json_document import parse_json

RowForm: TypeAlias = Literal["jsonl", "json", "csv"]

FORMS: Final[Mapping[str, RowForm]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}
"""Extension to the form of a file of rows."""


@dataclass(frozen=True, slots=True)
class RawRows:
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
            Problem(path, "the extension tells no format"), hint=f"known are {', '.join(FORMS)}"
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
    for number, line in enumerate(content.decode().split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(_object(json.loads(line), problems, number))
        except json.JSONDecodeError as error:
            problems.add(number, "", f"not JSON (column {error.colno}): {error.msg}")
        except RecursionError:
            problems.add(number, "", "the JSON is nested too deeply to be read")
    stop_on([problems])
    return rows


def _items(path: str, content: bytes) -> list[dict[str, Any]]:
    document = parse_json(content, path)
    if not isinstance(document, list):
        message = f"expected a list of rows, found {describe(document)}"
        raise DataError(Problem(path, message))
    problems = Problems(path)
    rows = [_object(item, problems, number) for number, item in enumerate(document)]
    stop_on([problems])
    return rows


def _object(value: Any, problems: Problems, row: int) -> dict[str, Any]:
    if isinstance(value, dict) and is_text(json.dumps(value, ensure_ascii=False)):
        return value
    expected = "an object" if not isinstance(value, dict) else "Unicode text"
    problems.add(row, "", f"expected {expected}, found {describe(value)}")
    return {}


def _csv(path: str, text: str) -> RawRows:
    csv.field_size_limit(2**31 - 1)
    first = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems, rows = LineProblems(path), []
    try:
        names = next(reader, [])
        begin = reader.line_num + 1
        for cells in reader:
            if len(cells) == len(names):
                rows.append(dict(zip(names, cells, strict=True)))
            elif cells:
                problems.add(begin, "", ragged(len(cells), len(names), delimiter, "text"))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(Problem(f"{path}:{reader.line_num}", f"not CSV ({error})")) from None
    if len(set(names)) < len(names):
        raise DataError(Problem(f"{path}:1", "a column stands twice"))
    stop_on([problems])
    if not rows:
        raise DataError(Problem(path, "there are no rows below the first line"))
    return RawRows(path, "csv", rows, delimiter)
