"""Record which piece holds the rows of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.column_names import listed, quoted
from valor_cli.data.inputs.samples import joined_files
from valor_cli.data.partition.pieces import UnsplittableError, seamless
from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.sample_file import (
    PartOfFile,
    SampleFile,
    SampleReading,
    file_of_parts,
)
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.id_mismatch import SHOWN, spellings
from valor_cli.evaluators.text_generation.inputs import TRUTH, TextInputs
from valor_cli.evaluators.text_generation.piece_summary import PieceSummary, SamplePiece
from valor_cli.evaluators.text_generation.range_context import Rows, numbered
from valor_cli.kernels.columns.text_columns import TextColumn


class Place(NamedTuple):
    """Where a piece stands in its input.

    Attributes:
        file: The position of its first file in the input.
        lines_above: Lines of that file that stand above it.
        numbers: Which row of the input each of its rows is, from 1, by which samples are called
            that say no id; None: they do.
    """

    file: int = 0
    lines_above: int = 0
    numbers: Sequence[int] | None = None


class Source(Struct, frozen=True, eq=False):
    """The rows of a model in a piece.

    Attributes:
        at: The position of the piece among all.
        model: Whose they are.
        rows: Which of its rows.
        count: How many.
        names: The standard columns that some of them have a value of.
    """

    at: int
    summary: PieceSummary
    place: Place
    model: str
    rows: Rows
    count: int
    names: frozenset[str]

    def digests(self) -> NDArray[np.uint64]:
        """(count,) hashes of the sample ids."""
        found = self.summary.digests
        if found is None:
            return TextColumn.of(self.ids()).digests()
        return found[slice(*self.rows)] if isinstance(self.rows, tuple) else found[self.rows]

    def only(self, kept: NDArray[np.bool_]) -> Source:
        """Some of the rows; `kept` is a mask over them."""
        rows = np.arange(*self.rows) if isinstance(self.rows, tuple) else self.rows
        return replace(self, rows=rows[kept], count=int(np.count_nonzero(kept)))

    def ids(self) -> Sequence[str]:
        """(count,) the ids."""
        if self.place.numbers is not None:
            return [str(one) for one in numbered(self.place.numbers, self.rows)]
        column: Any = self.columns().text("sample_id")
        found: Sequence[str] = column
        return found

    def columns(self) -> SampleColumns:
        """Columns of the rows."""
        rows = self.summary.rows
        return rows.part(*self.rows) if isinstance(self.rows, tuple) else rows.take(self.rows)


class InputPieces(NamedTuple):
    """An input in pieces.

    Attributes:
        file: All of it, without rows.
        pieces: Of each piece its position among all, its summary and its place.
    """

    file: SampleFile
    pieces: Sequence[tuple[int, PieceSummary, Place]]


class Sources(Struct, frozen=True):
    """The location of the rows of all models.

    Attributes:
        files: Of each input, all of it, without rows.
        of: Of each model, in the order of the results, its file and its rows in their order; before
            them those of the ground truth, if it has a file of its own.
    """

    files: list[SampleFile]
    of: dict[str, tuple[SampleFile, list[Source]]]

    @property
    def models(self) -> tuple[str, ...]:
        """Those under evaluation."""
        return tuple(model for model in self.of if model != TRUTH)

    @property
    def all(self) -> list[Source]:
        """Those of all models, one after the other."""
        return [one for _, own in self.of.values() for one in own]

    def numbers(self, pieces: int) -> list[Sequence[int] | None]:
        """Of each of so many pieces, `Place.numbers`."""
        found: list[Sequence[int] | None] = [None] * pieces
        for one in self.all:
            found[one.at] = one.place.numbers
        return found

    def digests(self) -> dict[str, NDArray[np.uint64]]:
        """By model, hashes of its sample ids; nothing for one model whose rows have none."""
        if len(self.of) == 1 and self.all[0].place.numbers is not None:
            return {}
        none = np.zeros(0, np.uint64)
        return {
            model: np.concatenate([none, *(one.digests() for one in own)])
            for model, (_, own) in self.of.items()
        }


def sources_of(inputs: TextInputs, read: Mapping[str, InputPieces]) -> Sources:
    """Locate the rows of all models.

    Args:
        inputs: What the config says of the data.
        read: The inputs, by what the config calls their models.

    Raises:
        DataError: One of several inputs has rows of several models; rows are of a model that is
            called as the ground truth; predictions name a sample that it does not have.
    """
    found = Sources([own.file for own in read.values()], {})
    for model, own in read.items():
        several = model == TRUTH or not isinstance(inputs.responses, str)
        summaries = [summary for _, summary, _ in own.pieces]
        names = _models(summaries)
        if several and len(names) > 1:
            raise _several_models(own.file, model, [one for one in names if one is not None])
        if not several and inputs.ground_truth is not None and TRUTH in names:
            raise DataError(
                Problem(own.file.path, f"no model can be called {TRUTH!r}"),
                hint="Give it another name in the column `model`.",
            )
        for name in names:
            found.of[model if several or name is None else name] = own.file, []
        for at, summary, place in own.pieces:
            for code, name in enumerate(summary.models):
                rows, count = _rows(summary, code)
                if count:
                    called = model if several or name is None else name
                    source = Source(at, summary, place, called, rows, count, summary.names[code])
                    found.of[called][1].append(source)
    return found if inputs.ground_truth is None else _known_samples(found, inputs)


def _known_samples(sources: Sources, inputs: TextInputs) -> Sources:
    """The rows whose samples the ground truth has.

    Raises:
        DataError: There are others, and they are not to be left out, or nothing else is there.
    """
    digests = sources.digests()
    files = {id(file): file for file in sources.files}
    kept = {}
    for model, (file, own) in sources.of.items():
        known = np.isin(digests[model], digests[TRUTH])
        if not known.all():
            if inputs.on_invalid == "error" or not known.any():
                raise _unknown(sources, model, known)
            each = np.split(known, np.cumsum([one.count for one in own])[:-1])
            own = [one.only(good) for one, good in zip(own, each, strict=True)]
            files[id(file)] = _with_skipped(files[id(file)], sources.of[model][1], each)
        kept[model] = id(file), own
    of = {model: (files[at], own) for model, (at, own) in kept.items()}
    return Sources([files[id(file)] for file in sources.files], of)


def _with_skipped(
    file: SampleFile, own: Sequence[Source], known: Sequence[NDArray[np.bool_]]
) -> SampleFile:
    """The file of sources whose rows are not all known."""
    lost = np.zeros(len(file.files), np.int64)
    for one, good in zip(own, known, strict=True):
        np.add.at(lost, one.columns().file[~good] + one.place.file, 1)
    files = [
        replace(one, skipped=one.skipped + count)
        for one, count in zip(file.files, lost.tolist(), strict=True)
    ]
    return replace(file, files=files)


def _unknown(sources: Sources, model: str, known: NDArray[np.bool_]) -> DataError:
    """The error for rows of samples that the ground truth does not have."""
    (truth, true), (file, own) = sources.of[TRUTH], sources.of[model]
    problems: list[Problem] = []
    first: list[str] = []
    above = 0
    for one in own:
        rows, ids = one.columns(), one.ids()
        for at in np.flatnonzero(~known[above : above + one.count])[:LISTED].tolist():
            place = file.place(
                int(rows.file[at]) + one.place.file, rows.line[at] + one.place.lines_above
            )
            message = f"no sample {quoted(ids[at])} in {truth.path}"
            problems.append(Problem(f"{place}: sample_id", message))
            first.append(ids[at])
        above += one.count
    there = list(islice(chain.from_iterable(one.ids() for one in true), SHOWN + 1))
    hint = f"Ids are compared as they are written: {spellings(first, there)}.\n{SKIP_HINT}"
    return DataError(problems[:LISTED], total=int(np.count_nonzero(~known)), hint=hint)


def _models(summaries: Sequence[PieceSummary]) -> list[str | None]:
    """The models that rows of an input name."""
    return list(dict.fromkeys(name for one in summaries if len(one.rows) for name in one.models))


def _several_models(file: SampleFile, model: str, names: Sequence[str]) -> DataError:
    message = f"holds samples of several models ({listed(names)}), for {quoted(model)}"
    return DataError(
        Problem(file.path, message),
        hint="Name such a file alone, as `samples: path`: its `model` column tells them apart.",
    )


def inputs_in_pieces(
    inputs: TextInputs, pieces: Sequence[SamplePiece], summaries: Sequence[PieceSummary]
) -> dict[str, InputPieces]:
    """The inputs, by their models.

    Raises:
        DataError: A file has no samples, or no column of a known name.
        UnsplittableError: Rows are incomplete, or a file changed.
    """
    found = {}
    for model, path in inputs.files.items():
        at = [one for one, piece in enumerate(pieces) if piece.model == model]
        found[model] = _input(path, at, [pieces[one] for one in at], [summaries[one] for one in at])
    return found


def _input(
    path: str,
    numbers: Sequence[int],
    pieces: Sequence[SamplePiece],
    summaries: Sequence[PieceSummary],
) -> InputPieces:
    named = [one.digests is not None for one in summaries if len(one.rows)]
    whole = all(
        one.rows.text("sample_id").none is None for one in summaries if one.digests is not None
    )
    models = _models(summaries)
    if (any(named) and not all(named)) or not whole or (None in models and len(models) > 1):
        raise UnsplittableError
    files: list[SampleFile] = []
    places: list[Place] = []
    above = 0
    pairs = zip(pieces, summaries, strict=True)
    for number, (name, parts) in enumerate(groupby(pairs, lambda one: one[0].piece.path)):
        own = list(parts)
        file = _file(name, own)
        lines = 0
        for _, one in own:
            called = None if any(named) else _shifted(one.numbers, above)
            places.append(Place(number, lines, called))
            if isinstance(one.head, PartOfFile):
                lines += one.head.lines
                above += one.head.counted
            else:
                above += one.head.files[0].rows or 0
        files.append(file)
    joined = joined_files(path, files)
    return InputPieces(joined, list(zip(numbers, summaries, places, strict=True)))


def _file(name: str, pieces: Sequence[tuple[SamplePiece, PieceSummary]]) -> SampleFile:
    """A file without its rows.

    Raises:
        UnsplittableError: It was written to while it was read.
    """
    reading: SampleReading = pieces[0][0].reading
    heads = [told.head for _, told in pieces]
    parts = [head for head in heads if isinstance(head, PartOfFile)]
    if not parts:
        return next(head for head in heads if isinstance(head, SampleFile))
    end = pieces[-1][0].piece.end
    if end is None or not seamless([part.span for part in parts], end):
        raise UnsplittableError
    return file_of_parts(name, parts, reading)


def _shifted(numbers: Sequence[int], above: int) -> Sequence[int]:
    if isinstance(numbers, range):
        return range(numbers.start + above, numbers.stop + above)
    return [one + above for one in numbers]


def _rows(summary: PieceSummary, code: int) -> tuple[Rows, int]:
    if summary.model is None:
        return (0, len(summary.rows)), len(summary.rows)
    rows = np.flatnonzero(summary.model == code)
    return rows, len(rows)
