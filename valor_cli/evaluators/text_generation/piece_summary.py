"""Summaries of the pieces of text inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.part import PartOfFile
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.metric import Selection


class SamplePiece(Struct, frozen=True):
    """A piece of an input.

    Attributes:
        model: Whose input it is, by the config.
        path: The input, as the user wrote it.
        format: Of the file.
        reading: How it is read: to columns.
        selection: What of it the run looks at.
        piece: The piece.
        size: Bytes of text that are looked at together.
    """

    model: str
    path: str
    format: str
    reading: SampleReading
    selection: Selection
    piece: Piece
    size: int


class PieceSummary(Struct, frozen=True):
    """Summary of a piece, before its texts are read.

    Attributes:
        head: Its file, or its part of one, without rows.
        rows: Their ids, models and links; what a filter looks at.
        numbers: Which row of the piece each is, from 1.
        digests: (n,) hashes of their ids; None where no row says one.
        models: The models that they name, in order of appearance; None alone: they name none.
        model: (n,) which of these each row is of; None: there is one.
        names: Of each model, the standard columns that some row has a value of.
        labels: What references say, less white space around it, where labels are needed.
        size: Bytes of all texts.
    """

    head: SampleFile | PartOfFile
    rows: SampleColumns
    numbers: Sequence[int]
    digests: NDArray[np.uint64] | None
    models: tuple[str | None, ...]
    model: NDArray[np.int32] | None
    names: tuple[frozenset[str], ...]
    labels: frozenset[str]
    size: int
