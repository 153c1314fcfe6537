"""The pieces of a file of labels and scores, joined as the whole reader reads the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import TypeVar

from msgspec.structs import replace

from valor_cli.data.shapes.scores.joined import ScorePart, file_warnings, joined_score_files
from valor_cli.data.shapes.scores.score_file import ScoreFile, Side
from valor_cli.errors import DataError
from valor_cli.results import InputFile

_N = TypeVar("_N", bound=str | None)


def joined_parts(
    path: str, side: Side, parts: Sequence[ScorePart], sha256: str
) -> ScoreFile | None:
    """The samples of all pieces of a file; None where it must be read whole.

    That is where a sample stands in two pieces. Labels and label keys may have other codes than by
    the whole reader; all else is as it says.

    Args:
        path: The file.
        side: What it holds.
        parts: Its pieces, in their order; at least one.
        sha256: Of the file.

    Raises:
        DataError, UnsplittableError: As `file_warnings`.
    """
    facts = [one.facts for one in parts]
    warnings = file_warnings(path, side, facts)
    above = accumulate((one.lines for one in facts), initial=0)
    files = [
        _moved(one.file, lines)
        for one, lines in zip(parts, above, strict=False)
        if one.facts.samples
    ]
    try:
        found = joined_score_files(path, files)
    except DataError:
        # What is wrong, the whole reader says; and of rows of one label each nothing is.
        return None
    skipped = sum(one.skipped for one in facts)
    return replace(
        found,
        keys=_names(found.keys, (one.keys for one in facts)),
        labels=_names(found.labels, (one.labels for one in facts)),
        samples=replace(found.samples, place=files[0].samples.place, parts=None, skipped=skipped),
        files=[InputFile(path, sha256, sum(one.records for one in facts), skipped)],
        warnings=warnings,
    )


def _names(found: tuple[_N, ...], more: Iterable[tuple[_N, ...]]) -> tuple[_N, ...]:
    """The names found, and those that rows left out alone have."""
    return tuple(dict.fromkeys(chain(found, *more)))


def _moved(file: ScoreFile, lines: int) -> ScoreFile:
    """The samples of a piece above which there are so many lines."""
    rows = file.samples.rows
    return file if rows is None else replace(file, samples=replace(file.samples, rows=rows + lines))
