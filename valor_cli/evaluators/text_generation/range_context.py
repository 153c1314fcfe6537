"""What all ranges of text samples share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.source.files import STDIN
from valor_cli.evaluators.text_generation.inputs import TRUTH, TextInputs
from valor_cli.evaluators.text_generation.joining import MissingColumns, ModelColumns
from valor_cli.metric import Selection
from valor_cli.results import InputFile, Scalar

Ints = NDArray[np.int64]

Rows: TypeAlias = tuple[int, int] | Ints
"""Rows of a piece: from one to below another, or any."""


def folder_of(inputs: TextInputs, path: str) -> str:
    """The folder to which a file's artifact paths are relative."""
    return inputs.artifacts or ("" if path == STDIN else os.path.dirname(path))


def labels_of(texts: Iterable[str], selection: Selection) -> list[str]:
    """The labels in the references, sorted."""
    return sorted({selection.label_map.get(one, one) for one in texts if one})


def numbered(numbers: Sequence[int], rows: Rows) -> Sequence[int]:
    """Row numbers."""
    if isinstance(rows, tuple):
        return numbers[slice(*rows)]
    return [numbers[at] for at in rows.tolist()]


def rows_between(rows: Rows, low: int, high: int) -> Rows:
    """Those of some rows from a position to below another."""
    if isinstance(rows, tuple):
        return rows[0] + low, rows[0] + high
    return rows[low:high]


class Pick(NamedTuple):
    """Rows of a piece, all of one model.

    Attributes:
        piece: The position of the piece among all.
        model: Whose they are.
        rows: Which of its rows.
        places: (rows,) position of each among all samples, ascending; a number: that of the
            first, others follow it.
    """

    piece: int
    model: str
    rows: Rows
    places: int | Ints

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.rows[1] - self.rows[0] if isinstance(self.rows, tuple) else len(self.rows)

    @property
    def every_place(self) -> Ints:
        """(rows,) the place of each."""
        if isinstance(self.places, int):
            return np.arange(self.places, self.places + self.size)
        return self.places

    @property
    def begin(self) -> int:
        """The place of the first row."""
        return self.places if isinstance(self.places, int) else int(self.places[0])

    @property
    def end(self) -> int:
        """The place behind the last row; 0 without any."""
        if not self.size:
            return 0
        if isinstance(self.places, int):
            return self.places + self.size
        return int(self.places[-1]) + 1

    def between(self, low: int, high: int) -> Pick | None:
        """The rows from a place to below another; None without any."""
        if isinstance(self.places, int):
            begin, end = max(low - self.places, 0), min(high - self.places, self.size)
        else:
            begin, end = np.searchsorted(self.places, [low, high]).tolist()
        if begin >= end:
            return None
        places = self.places
        own = places + begin if isinstance(places, int) else places[begin:end]
        return self._replace(rows=rows_between(self.rows, begin, end), places=own)


class Span(NamedTuple):
    """The rows of a range, the `number`th."""

    number: int
    picks: Sequence[Pick]


class RunFacts(NamedTuple):
    """What is known of a run before its texts are read.

    Attributes:
        having: What each model's rows say; of models with samples in common, as they were read.
        files: Of all inputs.
        warnings: What reading them warns of.
        link_warnings: What is odd about copies.
        perturbed: By model, from copies to originals, both under evaluation.
        known_labels: The labels of all samples.
        missing_columns: What of `Selection.wanted` no file has.
        samples: How many samples are evaluated.
        unmatched: Models of whose samples few have a name that the first model knows.
        filled: Of models with samples in common, how many each lacks, and the first of them.
        truth: What the rows of a file of the ground truth say; None if there is none.
    """

    having: Mapping[str, ModelColumns]
    files: Sequence[InputFile]
    warnings: Sequence[str]
    link_warnings: Sequence[str]
    perturbed: Mapping[str, Mapping[Scalar, Scalar]]
    known_labels: Sequence[str]
    missing_columns: frozenset[str]
    samples: int
    unmatched: Sequence[str]
    filled: Mapping[str, tuple[int, Sequence[str]]]
    truth: ModelColumns | None = None


class RangeContext(Struct, frozen=True):
    """What all ranges share, and what they add to it.

    Attributes:
        columns: The names of the metadata of all rows.
        models: In the order of the results.
        folders: Of each piece, where the paths of artifacts begin, by the file of a row.
        numbers: Of each piece, which row of its input each of its rows is, from 1, by which samples
            are called that say no id; None: they do.
        first: Of each model, the place of its first sample.
        links: Of each model, from copies to originals.
        missing: Of models that have samples in common, what each does not say of them; None: they
            have none.
        whole: Whether one range has all samples, in memory.
        unselected: Whether samples are linked and selected when models have said all of them, as
            those that they have in common are in one range.
    """

    inputs: TextInputs
    selection: Selection
    columns: tuple[str, ...]
    models: tuple[str, ...]
    folders: Sequence[Sequence[str]]
    numbers: Sequence[Sequence[int] | None]
    first: Mapping[str, int]
    links: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, MissingColumns] | None
    facts: RunFacts
    whole: bool = False
    unselected: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The models, and before them the ground truth where it has a file of its own."""
        return self.models if self.facts.truth is None else (TRUTH, *self.models)
