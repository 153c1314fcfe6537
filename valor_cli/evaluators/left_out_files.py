"""Identify the samples whose predictions were in a skipped file.

A skipped file of predictions leaves samples without a prediction although the model made one; to
count them as wrong would turn a broken file into a number. No remaining file says which samples
these are. It is known where both sides are split alike, that is, where every prediction that could
be read is in the file with the same name as its ground truth's: the skipped predictions are then
those of the ground truth file of that name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.table import Table
from valor_cli.errors import DataError, Problem
from valor_cli.paths import stem_source
from valor_cli.results import InputFile

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_COMPRESSED = (".gz", ".zst")

_HINT = (
    "Fix the file, or leave these {units} out of the ground truth or with `filter:`. Where ground "
    "truth and predictions are cut alike, into files of the same names, those of a file that was "
    "left out are left out with it."
)


class Rows(NamedTuple):
    """The source file of each row on one side.

    Attributes:
        files: Paths.
        of_row: (n,) positions in `files`.
    """

    files: Sequence[str]
    of_row: Ints

    @classmethod
    def of(cls, table: Table) -> Rows:
        """The rows of an input."""
        if table.parts is None:
            return cls([table.path], np.zeros(len(table), np.int64))
        return cls([path for path, _ in table.parts.files], table.parts.of_row)


def lost_files(files: Sequence[InputFile]) -> list[str]:
    """Paths of the input files that were skipped."""
    return [file.path for file in files if file.left_out is not None]


def lost_rows(
    truth: Rows, truth_lost: Sequence[str], answers: Rows, at: Ints, lost: Sequence[str]
) -> Flags | None:
    """(n,) rows of the ground truth whose predictions were in skipped files.

    Args:
        truth: (n,) rows of the ground truth.
        truth_lost: Files of it that were left out.
        answers: (m,) rows of predictions.
        at: (m,) the row of the ground truth that each is for; -1 for none.
        lost: Files of predictions that were left out.

    Returns:
        None where the two sides are not cut alike, so that nobody can say.
    """
    numbers = _numbered([*truth.files, *truth_lost])
    theirs = _numbered([*answers.files, *lost])
    if numbers is None or theirs is None or any(_stem(path) not in numbers for path in lost):
        return None
    own = np.array([numbers[_stem(path)] for path in truth.files], np.int64)[truth.of_row]
    other = np.array([numbers.get(_stem(path), -1) for path in answers.files], np.int64)
    known = at >= 0
    alike = own[at[known]] == other[answers.of_row[known]]
    if not alike.all() or not len(alike):
        return None
    return np.isin(own, [numbers[_stem(path)] for path in lost])


def possibly_skipped_error(
    lost: Sequence[InputFile], path: str, missing: int, first: str, units: str, harm: str
) -> DataError:
    """An error for units whose prediction may have been in a skipped file.

    Args:
        lost: The files of predictions, left out or not.
        path: What the predictions are called.
        missing: How many units.
        first: Some of them, for the message.
        units: What a unit is called: "samples".
        harm: What they would count as.
    """
    broken = [file for file in lost if file.left_out is not None]
    message = (
        f"{len(broken):,} of {len(lost):,} files cannot be used, and {units} without a prediction "
        f"in the others may have theirs there: {missing:,} ({first}); they would count as {harm}"
    )
    problems = [Problem(path, message)]
    problems += [Problem(file.path, file.left_out or "") for file in broken[:3]]
    return DataError(problems, hint=_HINT.format(units=units))


def _numbered(paths: Sequence[str]) -> dict[str, int] | None:
    """A number for each name; None where two files have one."""
    distinct = dict.fromkeys(paths)
    numbers = {_stem(path): at for at, path in enumerate(distinct)}
    return numbers if len(numbers) == len(distinct) else None


def _stem(path: str) -> str:
    """The name of a file without its extension, and that of its compression."""
    name = stem_source(path.replace(os.sep, "/"))
    for extension in _COMPRESSED:
        if name.lower().endswith(extension):
            name = name[: -len(extension)]
    return name.rpartition(".")[0] or name
