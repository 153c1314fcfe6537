"""The first line of a CSV file of labels and scores comes in; what its columns mean goes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from valor_cli.errors import DataError, Problem
from valor_cli.readers.csv_columns import (
    DELIMITERS,
    absent,
    check_mapped,
    fields_of,
    listed,
    repeated,
)
from valor_cli.readers.score_files import ScoreReading, Side
from valor_cli.readers.score_forms import Columns, form_of
from valor_cli.readers.score_header import ALIASES, positions
from valor_cli.readers.score_rows import ScoreHeader

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
    """Find the columns that are needed and those that may be there.

    Args:
        line: The first line of the file.
        first: The line of the first row, in a list; empty without rows.
        path: The file, for messages.
        side: What the file holds; metadata is read of ground truth and of samples.
        reading: `columns` and `classes` of it say what columns are.

    Raises:
        DataError: A column is missing or stands twice; there is a single column; what is a class
            cannot be told; `columns` has an unknown name, or names a column that is not there.
    """
    check_mapped(reading.columns, ALIASES)
    place = f"{path}:1"
    delimiter = max(DELIMITERS, key=lambda one: _known_names(line, one, reading))
    raw = fields_of(line, delimiter)
    names = tuple(name.strip() for name in raw)
    if len(names) == 1:
        message = f"expected fields between commas, semicolons or tabs, found one: {listed(names)}"
        raise DataError(Problem(place, message), hint=_NO_HEADER)
    found = positions(names, reading)
    read = {name: found[name] for name in _READ[side] if name in found}
    metadata = [] if side == "predictions" else list(reading.metadata)
    mapped = {file: f"for {name}" for name, file in reading.columns.items() if name in _READ[side]}
    wanted = mapped | dict.fromkeys(metadata, "for this metadata")
    if problems := [*repeated(names, place), *absent(wanted, names, place)]:
        raise DataError(problems)
    needed = ["sample_id", *([] if side == "predictions" else ["label"])]
    if missing := [name for name in needed if name not in read]:
        hint = _HINT if read else _NO_HEADER
        raise DataError(Problem(place, _missing(missing, names)), hint=hint)
    rows = [cell.strip() for one in first for cell in fields_of(one, delimiter)]
    columns = Columns(path, names, rows, found, side, reading)
    classes, pairs = ((), ()) if side == "ground_truth" else form_of(columns)
    return ScoreHeader(
        names=names,
        delimiter=delimiter,
        spaced=any(name.startswith(" ") for name in raw[1:]),
        sample_id=read["sample_id"],
        truth=read.get("label"),
        key=read.get("label_key"),
        classes=classes,
        pairs=pairs,
        metadata={name: names.index(name) for name in metadata},
    )


def _known_names(line: str, delimiter: str, reading: ScoreReading) -> tuple[int, int]:
    """How many names a delimiter makes known, then how many it makes."""
    names = tuple(name.strip() for name in fields_of(line, delimiter))
    return len(positions(names, reading)), len(names)


def _missing(missing: Sequence[str], names: Sequence[str]) -> str:
    shown = " and ".join(f"'{name}' (or {', '.join(ALIASES[name])})" for name in missing)
    verb = "columns {} are" if len(missing) > 1 else "column {} is"
    return f"the {verb.format(shown)} missing (the first line names these: {listed(names)})"
