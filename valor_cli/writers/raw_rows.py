"""Rows by name come in; the bytes of a JSONL, JSON or CSV file go out."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import orjson

from valor_cli.readers.raw_rows import RowForm


def rows_as(rows: Sequence[Mapping[str, Any]], form: RowForm, delimiter: str = ",") -> bytes:
    """The file of those rows; in CSV, what is no text stands as JSON, and nothing as nothing."""
    if form == "jsonl":
        return b"".join(orjson.dumps(row) + b"\n" for row in rows)
    if form == "json":
        return b"[\n" + b",\n".join(map(orjson.dumps, rows)) + b"\n]\n"
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
