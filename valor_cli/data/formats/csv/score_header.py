"""Map the columns of labels and scores to their meaning.

The names come from the first line of a CSV file or from the schema of a Parquet file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from valor_cli.data.column_names import (
    DELIMITERS,
    check_mapped,
    duplicate_columns,
    fields_of,
    listed,
    missing_columns,
)
from valor_cli.data.shapes.scores.prediction_columns import Columns, form_of
from valor_cli.data.shapes.scores.rows import ScoreHeader
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreReading, Side, positions
from valor_cli.errors import DataError, Problem

_READ: Final[Mapping[Side, tuple[str, ...]]] = {
    "ground_truth": ("sample_id", "label", "label_key"),
    "predictions": ("sample_id", "prediction", "score", "label_key"),
    "samples": ("sample_id", "label", "prediction", "score", "label_key"),
}
"""The columns that are read of each side."""

_HINT = "Map other names under `data: columns:`, as {label: my_column}."
_NO_HEADER = "The first line must name the columns. " + _HINT


def read_header(
    line: str, first: Sequence[str], path: str, side: Side, reading: ScoreReading
) -> ScoreHeader:
    """Find the required and optional columns.

    Args:
        line: The first line of the file.
        first: The line of the first row, in a list; empty without rows.
        path: The file, for messages.
        side: What the file holds; metadata is read of ground truth and of samples.
        reading: `columns` and `classes` of it say what columns are.

    Raises:
        DataError: A column is missing or duplicate; there is a single column; the classes
            are not known; `columns` has an unknown name, or names a column that is not there.
    """
    check_mapped(reading.columns, ALIASES)
    place = f"{path}:1"
    delimiter = max(DELIMITERS, key=lambda one: _known_names(line, one, reading))
    raw = fields_of(line, delimiter)
    names = tuple(name.strip() for name in raw)
    if len(names) == 1:
        message = f"expected fields between commas, semicolons or tabs, found one: {listed(names)}"
        raise DataError(Problem(place, message), hint=_NO_HEADER)
    rows = [cell.strip() for one in first for cell in fields_of(one, delimiter)]
    columns = Columns(place, names, rows, positions(names, reading), side, reading)
    header = header_of(columns, there="the first line names these", no_hint=_NO_HEADER)
    spaced = any(name.startswith(" ") for name in raw[1:])
    return replace(header, delimiter=delimiter, spaced=spaced)


def header_of(
    columns: Columns, *, listed_in: bool = False, there: str = "there is", no_hint: str = _HINT
) -> ScoreHeader:
    """The meaning of columns.

    Args:
        columns: Their names, and what is known of them.
        listed_in: Whether a column lists the labels of each row with their scores; then none is
            looked for that holds a score of its own.
        there: What names the columns that there are, in a message.
        no_hint: What to do where no column has a known name.

    Raises:
        DataError: As `read_header` does.
    """
    place, names, _, found, side, reading = columns
    read = {name: found[name] for name in _READ[side] if name in found}
    metadata = [] if side == "predictions" else list(reading.metadata)
    mapped = {file: f"for {name}" for name, file in reading.columns.items() if name in _READ[side]}
    wanted = mapped | dict.fromkeys(metadata, "for this metadata")
    if problems := [*duplicate_columns(names, place), *missing_columns(wanted, names, place)]:
        raise DataError(problems)
    needed = ["sample_id", *([] if side == "predictions" else ["label"])]
    if missing := [name for name in needed if name not in read]:
        message = f"{_missing(missing)} ({there}: {listed(names)})"
        raise DataError(Problem(place, message), hint=_HINT if read else no_hint)
    classes, pairs = ((), ()) if side == "ground_truth" or listed_in else form_of(columns)
    return ScoreHeader(
        names=tuple(names),
        delimiter="",
        spaced=False,
        sample_id=read["sample_id"],
        truth=read.get("label"),
        key=read.get("label_key"),
        classes=classes,
        pairs=pairs,
        metadata={name: names.index(name) for name in metadata},
    )


def _known_names(line: str, delimiter: str, reading: ScoreReading) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = tuple(name.strip() for name in fields_of(line, delimiter))
    return len(positions(names, reading)), len(names)


def _missing(missing: Sequence[str]) -> str:
    shown = " and ".join(f"'{name}' (or {', '.join(ALIASES[name])})" for name in missing)
    verb = "columns {} are" if len(missing) > 1 else "column {} is"
    return f"the {verb.format(shown)} missing"
