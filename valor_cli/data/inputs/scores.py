"""Read labels and scores from an input of any format."""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

import numpy as np

from valor_cli.data.column_names import quoted
from valor_cli.data.formats.parquet.magic import EXTENSIONS as PARQUET
from valor_cli.data.formats.parquet.magic import is_parquet
from valor_cli.data.inputs.score_rows import opened
from valor_cli.data.partition.shards import read_shards
from valor_cli.data.shapes.scores.joined import incompatible_score_files, joined_score_files
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import expanded_tables, extension_of, head_of
from valor_cli.data.table import LINE
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
_HINT = (
    "Formats: jsonl (one sample a line), csv (the first line names the columns), json (a list of "
    "what lines of jsonl are), parquet (columns as those of csv). Name one as "
    "`format:` under `data:`."
)
_CLASSES = "Name the columns that are classes under `data: classes:`."


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
    if format is not None and format not in FORMATS:
        message = f"there is no format '{format}'{did_you_mean(format, FORMATS)}"
        raise DataError(Problem(path, message), hint=_HINT)
    if twice := [name for name, count in Counter(reading.classes).items() if count > 1]:
        raise DataError([Problem("classes", f"duplicate class {quoted(name)}") for name in twice])
    parts, left_out = read_shards(
        path,
        expanded_tables(path),
        lambda one: read_score_file(one, side, reading, format or format_of(one)),
        reading.invalid,
        incompatible_score_files,
    )
    found = joined_score_files(path, parts, left_out)
    if side == "samples" and not reading.classes:
        _check_classes(found)
    return found


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
    if not head or head[:1] == b"{":
        # A named pipe cannot be looked into.
        return "jsonl"
    if head[:1] == b"[":
        return "json"
    if any(mark in head.splitlines()[0] for mark in b",;\t"):
        return "csv"
    raise DataError(Problem(path, "the format cannot be detected from the content"), hint=_HINT)


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
    if format == "parquet":
        # Its package is an extra.
        from valor_cli.data.inputs.parquet_scores import read_parquet_scores

        return read_parquet_scores(path, side, reading)
    source, file = opened(path, side, reading, format)
    rows = file.rows()
    file.read(rows, file.blocks, file.line)
    return rows.file(source.sha256)


def _check_classes(found: ScoreFile) -> None:
    """Columns of numbers were taken as classes: each should be the label of a sample.

    Raises:
        DataError: One is not.
    """
    seen = np.zeros(len(found.labels), np.bool_)
    seen[found.samples["truth"]] = True
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
        raise DataError(problems, hint=_CLASSES)
