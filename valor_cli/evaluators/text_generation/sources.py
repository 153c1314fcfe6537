"""Record which piece holds the rows of each model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.inputs.samples import joined_files
from valor_cli.data.partition.pieces import seamless
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.part import PartOfFile, file_of_parts
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.piece_summary import PieceSummary, SamplePiece
from valor_cli.evaluators.text_generation.range_context import Rows, numbered
from valor_cli.kernels.columns.text_columns import TextColumn


class Source(Struct, frozen=True, eq=False):
    """The rows of a model in a piece.

    Attributes:
        at: The position of the piece among all.
        model: Whose they are.
        rows: Which of its rows.
        count: How many.
        names: The standard columns that some of them have a value of.
        file: The position of its file in the input.
        lines_above: Lines of the file that stand above the piece.
        numbers: As in `Ground`.
    """

    at: int
    summary: PieceSummary
    model: str
    rows: Rows
    count: int
    names: frozenset[str]
    file: int
    lines_above: int
    numbers: Sequence[int] | None

    def digests(self) -> NDArray[np.uint64]:
        """(count,) hashes of the sample ids."""
        found = self.summary.digests
        if found is None:
            return TextColumn.of(self.ids()).digests()
        return found[slice(*self.rows)] if isinstance(self.rows, tuple) else found[self.rows]

    def ids(self) -> Sequence[str]:
        """(count,) the ids."""
        if self.numbers is not None:
            return [str(one) for one in numbered(self.numbers, self.rows)]
        column: Any = self.columns().text("sample_id")
        found: Sequence[str] = column
        return found

    def columns(self) -> SampleColumns:
        """Columns of the rows."""
        rows = self.summary.rows
        return rows.part(*self.rows) if isinstance(self.rows, tuple) else rows.take(self.rows)


class Sources(Struct, frozen=True):
    """The location of the rows of all models.

    Attributes:
        files: Of each input, all of it, without rows.
        of: Of each model, in the order of the results, its file and its rows in their order.
        numbers: As in `Ground`.
    """

    files: list[SampleFile]
    of: dict[str, tuple[SampleFile, list[Source]]]
    numbers: list[Sequence[int] | None]


def sources_of(
    inputs: TextInputs, pieces: Sequence[SamplePiece], summaries: Sequence[PieceSummary]
) -> Sources | None:
    """Locate the rows of all models; None if rows are incomplete or a file changed.

    Raises:
        DataError: A file has no samples, or no column of a known name.
    """
    found = Sources([], {}, [None] * len(pieces))
    several = not isinstance(inputs.samples, str)
    for model, path in inputs.models.items():
        at = [one for one, piece in enumerate(pieces) if piece.model == model]
        own = _input(path, [pieces[one] for one in at], [summaries[one] for one in at])
        if own is None:
            return None
        found.files.append(own.file)
        names = _models([summaries[one] for one in at])
        if names is None or (several and len(names) > 1):
            return None
        for name in names:
            found.of[model if several or name is None else name] = own.file, []
        for one, place in zip(at, own.places, strict=True):
            found.numbers[one] = place.numbers
            for code, name in enumerate(summaries[one].models):
                rows, count = _rows(summaries[one], code)
                if count:
                    called = model if several or name is None else name
                    source = Source(
                        one, summaries[one], called, rows, count, summaries[one].names[code], *place
                    )
                    found.of[called][1].append(source)
    return found


class _Place(NamedTuple):
    """The position of a piece: file, lines before it, row numbers."""

    file: int
    lines_above: int
    numbers: Sequence[int] | None


class _Input(NamedTuple):
    """An input without its rows, and the places of its pieces."""

    file: SampleFile
    places: list[_Place]


def _input(
    path: str, pieces: Sequence[SamplePiece], summaries: Sequence[PieceSummary]
) -> _Input | None:
    named = [one.digests is not None for one in summaries if len(one.rows)]
    whole = all(
        one.rows.text("sample_id").none is None for one in summaries if one.digests is not None
    )
    if (any(named) and not all(named)) or not whole:
        return None
    files: list[SampleFile] = []
    places: list[_Place] = []
    above = 0
    pairs = zip(pieces, summaries, strict=True)
    for number, (name, parts) in enumerate(groupby(pairs, lambda one: one[0].piece.path)):
        own = list(parts)
        file = _file(name, own)
        if file is None:
            return None
        lines = 0
        for _, one in own:
            numbers = None if any(named) else _shifted(one.numbers, above)
            places.append(_Place(number, lines, numbers))
            if isinstance(one.head, PartOfFile):
                lines += one.head.lines
                above += one.head.counted
            else:
                above += one.head.files[0].rows or 0
        files.append(file)
    return _Input(files[0] if len(files) == 1 else joined_files(path, files), places)


def _file(name: str, pieces: Sequence[tuple[SamplePiece, PieceSummary]]) -> SampleFile | None:
    """A file without its rows; None where it was written to while it was read."""
    reading: SampleReading = pieces[0][0].reading
    heads = [told.head for _, told in pieces]
    parts = [head for head in heads if isinstance(head, PartOfFile)]
    if not parts:
        return next(head for head in heads if isinstance(head, SampleFile))
    end = pieces[-1][0].piece.end
    if end is None or not seamless([part.span for part in parts], end):
        return None
    return file_of_parts(name, parts, reading)


def _shifted(numbers: Sequence[int], above: int) -> Sequence[int]:
    if isinstance(numbers, range):
        return range(numbers.start + above, numbers.stop + above)
    return [one + above for one in numbers]


def _models(summaries: Sequence[PieceSummary]) -> list[str | None] | None:
    """The models that the rows of an input name; None where some name one and some do not."""
    names = dict.fromkeys(name for one in summaries if len(one.rows) for name in one.models)
    return None if None in names and len(names) > 1 else list(names)


def _rows(summary: PieceSummary, code: int) -> tuple[Rows, int]:
    if summary.model is None:
        return (0, len(summary.rows)), len(summary.rows)
    rows = np.flatnonzero(summary.model == code)
    return rows, len(rows)
