"""Read and write the rows of JSONL, JSON or CSV unchanged, each a mapping of its own keys."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.batch import Fault
from valor_cli.data.formats.tables import open_rows, read_records
from valor_cli.data.json_records import TOO_DEEP, plain, said
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.shapes.samples.values import faults
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.table import LINE
from valor_cli.data.values import is_text
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
    file = open_rows(path, form, lambda names: len(SCHEMA.layout(names, {})))
    if file.place not in (LINE, "[{row}]"):
        raise DataError(Problem(path, "expected a list of rows, found an object"))
    rows = [row for _, row in read_records(file, _faults)]
    if not rows:
        below = " below the first line" if form == "csv" else ""
        raise DataError(Problem(path, f"there are no rows{below}"))
    return RawRows(path, form, rows, file.delimiter)


def _faults(value: Any) -> list[Fault]:
    """Why a row cannot be written again."""
    if not isinstance(value, dict):
        return [("", f"expected an object, found {said(value)}")]
    if wrong := list(faults(value)):
        return wrong
    try:
        if not is_text(json.dumps(plain(value), ensure_ascii=False, allow_nan=False)):
            return [("", "expected Unicode text, found half of a surrogate pair")]
    except ValueError:
        return [("", "a number in it is too large")]
    except RecursionError:
        return [("", TOO_DEEP)]
    return []


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
