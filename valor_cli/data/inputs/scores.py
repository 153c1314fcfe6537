"""Read labels and scores from an input of any format."""

from __future__ import annotations

from collections import Counter

import numpy as np
from msgspec.structs import replace

from valor_cli.data.batch import RowFile
from valor_cli.data.column_names import check_mapped, quoted
from valor_cli.data.formats.tables import check_format, format_of, open_rows
from valor_cli.data.partition.shards import read_joined
from valor_cli.data.shapes.scores.joined import (
    ScorePart,
    file_warnings,
    incompatible_score_files,
    joined_score_files,
)
from valor_cli.data.shapes.scores.layout import known_names, layout_of
from valor_cli.data.shapes.scores.rows import ScoreRows
from valor_cli.data.shapes.scores.schema import ALIASES, CLASSES_HINT
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.table import LINE
from valor_cli.errors import DataError, Problem


def read_scores(
    path: str,
    side: Side,
    reading: ScoreReading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> ScoreFile:
    """The samples of one side, with their labels and scores.

    Args:
        path: A file, plain or compressed; "-" for standard input; or a glob ("shards/*.jsonl"),
            whose files are read in sorted order and joined.
        side: What it holds.
        reading: How to read it.
        format: One of `FORMATS`; None to tell it by the extension, then by the content.

    Raises:
        DataError: There is no such input, its format is not known, or what it holds is wrong.
    """
    check_format(path, format)
    if twice := [name for name, count in Counter(reading.classes).items() if count > 1]:
        raise DataError([Problem("classes", f"duplicate class {quoted(name)}") for name in twice])
    found = read_joined(
        path,
        expanded_tables(path),
        lambda one: read_score_file(one, side, reading, format or format_of(one)),
        reading.invalid,
        joined_score_files,
        incompatible_score_files,
    )
    if side == "samples" and not reading.classes:
        _check_classes(found)
    return found


def read_score_file(
    path: str,
    side: Side,
    reading: ScoreReading,
    format: str,  # noqa: A002
) -> ScoreFile:
    """The samples of one file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        side: What it holds.
        reading: How to read it.
        format: Its format.

    Raises:
        DataError: The file cannot be read; a column is missing; a row or a value is wrong; there
            are no samples.
    """
    part = read_score_rows(path, side, reading, format)
    return replace(part.file, warnings=file_warnings(path, side, [part.facts]))


def read_score_rows(
    path: str,
    side: Side,
    reading: ScoreReading,
    format: str,  # noqa: A002
) -> ScorePart:
    """The samples of one file, of which there may be none; otherwise as `read_score_file`."""
    file = open_score_rows(path, reading, format)
    rows = ScoreRows(file, side, layout_of(file, side, reading))
    rows.read()
    return rows.part()


def open_score_rows(path: str, reading: ScoreReading, format: str) -> RowFile:  # noqa: A002
    """A file of labels and scores.

    Raises:
        DataError: It cannot be read, or a column is mapped that there is not.
    """
    check_mapped(reading.columns, ALIASES)
    return open_rows(path, format, lambda names: known_names(names, reading))


def _check_classes(found: ScoreFile) -> None:
    """Columns of numbers were taken as classes: each should be the label of a sample.

    Raises:
        DataError: One is not.
    """
    seen = np.zeros(len(found.labels), np.bool_)
    seen[found.true_labels] = True
    parts = found.samples.parts
    path, place = (found.path, found.samples.place) if parts is None else parts.files[0]
    where = f"{path}:1" if place == LINE else path
    problems = [
        Problem(
            f"{where}: {name}",
            "read as a class because its values are numbers, and no sample has that label",
        )
        for code, name in enumerate(found.classes)
        if not seen[code]
    ]
    if problems:
        raise DataError(problems, hint=CLASSES_HINT)
