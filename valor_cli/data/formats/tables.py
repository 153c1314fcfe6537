"""Detect the format of a table of samples: JSONL, CSV, JSON, Parquet or Arrow."""

from __future__ import annotations

import json
import os
from typing import Final

from valor_cli.data.batch import Known, RowFile, Shaped
from valor_cli.data.column_names import DELIMITERS
from valor_cli.data.formats.parquet.magic import EXTENSIONS as PARQUET
from valor_cli.data.formats.parquet.magic import is_parquet
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import extension_of, head_of
from valor_cli.errors import DataError, Problem, did_you_mean

FORMATS: Final = ("jsonl", "csv", "json", "parquet")

_EXTENSIONS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    **dict.fromkeys(PARQUET, "parquet"),
}
_HINT: Final = (
    "Formats: jsonl (one sample a line), csv (the first line names the columns), json (a list of "
    "what lines of jsonl are), parquet (or Arrow, with the columns of csv or the keys of jsonl). "
    "Name one as `format:` under `data:`."
)


def check_format(path: str, format: str | None) -> None:  # noqa: A002 - as in YAML
    """Check that there is a format of that name; None is none.

    Raises:
        DataError: There is not.
    """
    if format is not None and format not in FORMATS:
        message = f"there is no format '{format}'{did_you_mean(format, FORMATS)}"
        raise DataError(Problem(path, message), hint=_HINT)


def format_of(path: str) -> str:
    """The format of an input, by its extension, then by its content.

    Raises:
        DataError: It cannot be detected, or the input cannot be read.
    """
    if path != STDIN and os.path.isdir(path):
        message = "this is a folder; a file, or a pattern such as folder/*.jsonl, is needed"
        raise DataError(Problem(path, message))
    if found := _EXTENSIONS.get(extension_of(path)):
        return found
    if is_parquet(path):
        return "parquet"
    head = head_of(path).lstrip()
    if not head:
        # A named pipe cannot be looked into.
        return "jsonl"
    if head[:1] == b"[":
        return "json"
    first = head.splitlines()[0]
    if head[:1] == b"{":
        return "jsonl" if first == head or _is_object(first) else "json"
    if any(mark.encode() in first for mark in DELIMITERS):
        return "csv"
    raise DataError(Problem(path, "the format cannot be detected from the content"), hint=_HINT)


def _is_object(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def open_rows(
    path: str,
    format: str,  # noqa: A002 - as in YAML
    known: Known,
    shaped: Shaped | None = None,
) -> RowFile:
    """Open a file of rows. Formats are imported on use.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        format: One of `FORMATS`.
        known: How many of some names are of the shape that is read.
        shaped: Finds the rows of other tools' JSON documents.

    Raises:
        DataError: It cannot be read, or its head is wrong.
        MissingExtraError: A package that the format needs is not installed.
    """
    if format == "csv":
        from valor_cli.data.formats.csv.table import CsvFile

        return CsvFile(path, known)
    if format == "parquet":
        from valor_cli.data.formats.parquet.table import TypedFile

        return TypedFile(path)
    from valor_cli.data.formats.json.table import JsonFile

    return JsonFile(path, known, is_list=format == "json", shaped=shaped)
