"""Summaries of the pieces of text inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.partition.pieces import Piece
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.sample_file import PartOfFile, SampleFile, SampleReading
from valor_cli.metric import Selection

_KEPT = ("sample_id", "model", "perturbed_from")
"""What a summary has of each row."""


class SamplePiece(Struct, frozen=True):
    """A piece of an input.

    Attributes:
        model: Whose input it is, by the config.
        path: The input, as the user wrote it.
        format: Of the file.
        reading: How it is read.
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
        paths: The files that it has rows of.
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
    paths: Sequence[str]
    rows: SampleColumns
    numbers: Sequence[int]
    digests: NDArray[np.uint64] | None
    models: tuple[str | None, ...]
    model: NDArray[np.int32] | None
    names: tuple[frozenset[str], ...]
    labels: frozenset[str]
    size: int


def summary_of(
    head: SampleFile | PartOfFile,
    paths: Sequence[str],
    selection: Selection,
    digests: NDArray[np.uint64] | None,
) -> PieceSummary:
    """The summary of a piece, or of an input as a whole.

    Args:
        head: Its file, or its part of one, with its rows.
        paths: As in `PieceSummary`.
        selection: What of it the run looks at.
        digests: As in `PieceSummary`.
    """
    rows = head.rows
    models, model = _models(rows)
    labels = rows.lists.get("references", ()) if "labels" in selection.needs else ()
    return PieceSummary(
        head.without_texts(),
        paths,
        rows.only(("metadata", *_KEPT) if selection.keep else _KEPT),
        head.numbers,
        digests,
        models,
        model,
        tuple(rows.names(None if model is None else model == at) for at in range(len(models))),
        frozenset(one.strip() for texts in labels for one in texts or ()),
        rows.text_bytes,
    )


def _models(rows: SampleColumns) -> tuple[tuple[str | None, ...], NDArray[np.int32] | None]:
    """The models that rows name, in order of appearance; (n,) which each is of, if several."""
    column = rows.texts.get("model")
    if column is None:
        return (None,), None
    known: dict[str | None, int] = {}
    codes = [known.setdefault(name, len(known)) for name in column]
    return tuple(known), np.array(codes, np.int32) if len(known) > 1 else None
