"""Formats of rows, which every shape of input reads: what there is, detection, and opening."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from msgspec import Struct
from pydantic import AfterValidator, WithJsonSchema

from valor_cli.data.batch import Fault, Known, RowFile, Shaped
from valor_cli.data.column_names import DELIMITERS, duplicate_columns
from valor_cli.data.json_records import plain
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import PARQUET, extension_of, head_of
from valor_cli.data.table import Problems, stop_on
from valor_cli.entry_points import NAME, one_of, schema_of
from valor_cli.errors import DataError, Problem, did_you_mean

ARROW_EXTENSIONS: Final = (".arrow", ".feather")


class RowFormat(Struct, frozen=True):
    """A format of rows.

    Attributes:
        module: Where its function `open_rows(path, known, shaped)` is, imported on use.
        extensions: What its files are called.
        about: What to say of it in a list of formats.
        can_cut: Whether a piece of a file can be read alone.
    """

    module: str
    extensions: tuple[str, ...]
    about: str
    can_cut: bool = False


FORMATS: Final[Mapping[str, RowFormat]] = {
    "jsonl": RowFormat("json.lines", (".jsonl", ".ndjson"), "one sample a line", can_cut=True),
    "csv": RowFormat(
        "csv.table", (".csv", ".tsv"), "the first line names the columns", can_cut=True
    ),
    "json": RowFormat("json.table", (".json",), "a list of what lines of jsonl are"),
    "parquet": RowFormat(
        "parquet.table",
        (".parquet", ".pq", *ARROW_EXTENSIONS),
        "or Arrow, with the columns of csv or the keys of jsonl",
        can_cut=True,
    ),
}


def names_of(formats: Collection[str]) -> Any:
    """The type of a format in a config: one of some names, or one that a package offers."""
    check = AfterValidator(one_of(formats, "reader"))
    return Annotated[str, check, WithJsonSchema(schema_of(formats))]


def is_offered(name: str) -> bool:
    """Whether it is a name of `entry_points.FORMATS`."""
    return NAME.fullmatch(name) is not None


def can_cut(name: str) -> bool:
    """Whether a piece of a file of that format can be read alone."""
    return name in FORMATS and FORMATS[name].can_cut


if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:
    FormatName = names_of(FORMATS)

EXTENSIONS: Final = {end: name for name, one in FORMATS.items() for end in one.extensions}
_HINT: Final = "Formats: {}. Name one as `format:` under `data:`.".format(
    ", ".join(f"{name} ({one.about})" for name, one in FORMATS.items())
)


def check_format(path: str, format: str | None) -> None:  # noqa: A002 - as in YAML
    """Check that there is a format of that name; None is none.

    Raises:
        DataError: There is not.
    """
    if format is not None and format not in FORMATS and not is_offered(format):
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
    if found := EXTENSIONS.get(extension_of(path)):
        return found
    head = head_of(path).lstrip()
    if head in PARQUET:
        return "parquet"
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
    """Open a file of rows.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        format: One of `FORMATS`, or a name of `entry_points.FORMATS`.
        known: How many of some names are of the shape that is read.
        shaped: Finds the rows of other tools' JSON documents.

    Raises:
        DataError: It cannot be read, or its head is wrong.
        MissingExtraError: A package that the format needs is not installed.
    """
    if is_offered(format):
        from valor_cli.data.formats.offered import open_offered

        return open_offered(path, format)
    module = import_module(f"valor_cli.data.formats.{FORMATS[format].module}")
    file: RowFile = module.open_rows(path, known, shaped)
    return file


def read_records(
    file: RowFile, faults: Callable[[Any], Sequence[Fault]]
) -> list[tuple[int, dict[str, Any]]]:
    """All rows as objects with Python's own numbers, and the line of each.

    Args:
        file: A file whose head has been read.
        faults: What is wrong with a row.

    Raises:
        DataError: Two columns have one name; a row cannot be read, or something is wrong with it.
    """
    problems = Problems(file.path, file.place)
    for twice in duplicate_columns(file.names, file.head):
        problems.keep(twice.place, "", twice.message)
    rows: list[tuple[int, dict[str, Any]]] = []
    for block in file.blocks():
        for line, value, faulty in block.records():
            wrong = faulty or faults(value)
            for place, message in wrong:
                problems.add(line, place, message)
            if not wrong:
                rows.append((line, plain(value)))
    stop_on([problems])
    return rows
