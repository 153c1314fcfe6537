"""Stream text inputs: read them in pieces, load samples range by range.

A piece is a file, or some lines of a large one. Samples keep the order of the files; only samples
that several models answered are brought together, whichever piece they are in.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from valor_cli.data.formats.csv.table import has_rows_of_lines
from valor_cli.data.formats.tables import can_cut, format_of
from valor_cli.data.inputs.samples import check_reading, read_sample_file, read_sample_part
from valor_cli.data.partition.pieces import Piece, UnsplittableError, cut
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.samples.logs import is_log
from valor_cli.data.shapes.samples.sample_file import PartOfFile, SampleFile
from valor_cli.data.shapes.samples.schema import LOGPROBS
from valor_cli.data.source.inputs import expanded_tables, extension_of
from valor_cli.data.table import SKIP_HINT, stop_on
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.piece_summary import (
    PieceSummary,
    SamplePiece,
    summary_of,
)
from valor_cli.evaluators.text_generation.ranges import join_ranges, load_range
from valor_cli.evaluators.text_generation.reading import malformed_conditions, reading_of
from valor_cli.evaluators.text_generation.survey import survey
from valor_cli.kernels.columns.text_columns import TextColumn
from valor_cli.metric import NoOptions, Selection, Stream
from valor_cli.paths import is_url
from valor_cli.results import Illustration, MetricExample

SHARE: Final = 4
"""A piece of text has that part of the bytes that others have: measuring it takes longer."""

PACKED: Final = 4
"""Bytes of text that a byte of a compressed file holds, about."""

UNKNOWN: Final = 1 << 30
"""Bytes that a file is taken to have that is not on this machine."""


def cut_inputs(
    inputs: TextInputs, options: NoOptions, selection: Selection, size: int
) -> list[SamplePiece]:
    """The pieces of all inputs.

    Raises:
        DataError: An input is not there, or its format cannot be detected.
        UnsplittableError: They are small, or must be read whole.
    """
    if selection.every_metadata or LOGPROBS in selection.needs:
        raise UnsplittableError
    reading = reading_of(inputs, selection)
    size = max(size // SHARE, 1)
    pieces: list[SamplePiece] = []
    total = 0
    for model, path in inputs.files.items():
        check_reading(path, reading, inputs.format)
        for file in expanded_tables(path):
            length = _length(file)
            if length is None:
                raise UnsplittableError
            total += length
            found = inputs.format or format_of(file)
            parts = cut(file, size) if can_cut(found) and not is_log(file) else []
            if len(parts) > 1 and found == "csv" and not has_rows_of_lines(file):
                parts = []
            pieces += [
                SamplePiece(model, path, found, reading, selection, one, size)
                for one in parts or [Piece(file)]
            ]
    if total <= size:
        raise UnsplittableError
    return pieces


def _length(file: str) -> int | None:
    """Bytes of the text of a file, about; None of what cannot be read twice."""
    if is_url(file):
        return UNKNOWN
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    packed = extension_of(file) != os.path.splitext(file)[1].lower()
    return found.st_size * (PACKED if packed else 1)


def read_piece(task: SamplePiece) -> tuple[PieceSummary, SampleColumns]:
    """A piece with its rows.

    Raises:
        DataError: What it holds is wrong.
        UnsplittableError: It must be read with all others.
    """
    head: SampleFile | PartOfFile
    if task.piece.end is None:
        head = read_sample_file(task.piece.path, task.reading, task.format)
    else:
        head = read_sample_part(task.piece, task.reading, task.format)
        if task.reading.invalid == "error":
            stop_on([head.problems], SKIP_HINT)
    rows, selection = head.rows, task.selection
    if "condition" in selection.needs and malformed_conditions(rows.text("condition")):
        raise UnsplittableError
    ids = rows.texts.get("sample_id")
    digests = None if ids is None else ids.digests()
    return summary_of(head, [task.piece.path], selection, digests), rows


def illustrate(
    parts: Sequence[TextDataset], examples: Sequence[MetricExample]
) -> list[Illustration]:
    """The illustration of examples, from any range."""
    ids = [str(example.sample_id) for example in examples]
    digests = TextColumn.of(ids).digests()
    found: dict[str, tuple[TextDataset, int]] = {}
    for part in parts:
        if part.prepared is None:
            raise ValueError("what is read in ranges is prepared for reports")
        for at in np.flatnonzero(np.isin(part.prepared.digests, digests)).tolist():
            found[part.sample_ids[at]] = part, at
    shown = []
    for name, example in zip(ids, examples, strict=True):
        part, at = found[name]
        shown.append(part.illustration(at, example))
    return shown


STREAM: Final[Stream[Any]] = Stream(
    cut=cut_inputs,
    read=read_piece,
    survey=survey,
    load=load_range,
    join=join_ranges,
    illustrate=illustrate,
)
