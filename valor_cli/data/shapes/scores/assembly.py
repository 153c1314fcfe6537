"""Build a `ScoreFile` from the collected rows, or report all their problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.column_names import listed
from valor_cli.data.shapes.scores.columns import GatheredScores
from valor_cli.data.shapes.scores.samples import Named, one_a_sample
from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.table import LINE, SKIP_HINT, Columns, InvalidRows, Table
from valor_cli.data.values import Problems, stop_on
from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.results import InputFile


class Unsettled(Exception):  # noqa: N818 - nothing is wrong
    """Raised if only the whole file can tell whether the rows of a part are wrong."""


def score_file(
    path: str,
    gathered: GatheredScores,
    named: Named,
    problems: Problems,
    *,
    faulty: int,
    sha256: str,
    long: bool,
    classes: tuple[str, ...],
    invalid: InvalidRows,
    place: str = LINE,
    there: Sequence[str] | None = None,
    part: bool = False,
) -> ScoreFile:
    """Build a `ScoreFile`, one row per sample and label key.

    Args:
        path: The file.
        gathered: Its rows, good ones alone.
        named: What codes and columns are called.
        problems: What is wrong with the other rows.
        faulty: How many lines these are.
        sha256: Of the file.
        long: Whether a row is one label of a sample.
        classes: The classes in an order that means something.
        invalid: What to do with rows that cannot be used.
        place: How a row is named.
        there: Names of metadata that the file has, where it need not have all that are asked for.
        part: Whether these are rows of a part of the file, which need not have any.

    Raises:
        Unsettled: Rows of a part contradict each other, or lack what other parts may have.
        DataError: Rows are wrong and not to be left out; there are none; no sample has metadata of
            a name.
    """
    lines, found = gathered.lines, problems.total
    samples = one_a_sample(gathered.columns(), named, problems, long=long)
    if part and long and problems.total > found:
        raise Unsettled
    if invalid == "error":
        stop_on([problems], SKIP_HINT)
    rows = samples.columns
    skipped = faulty + samples.dropped
    if not part:
        check_some(path, len(rows), skipped)
    columns: Columns = {
        "sample_id": rows.sample_id,
        "key": np.zeros(len(rows), np.int64) if rows.key is None else rows.key.astype(np.int64),
    }
    if rows.truth is not None and rows.truths is None:
        columns["truth"] = rows.truth.astype(np.int64)
    metadata = {name: column.tolist() for name, column in rows.metadata.items()}
    if not part:
        check_metadata(path, absent_metadata(metadata), there)
    return ScoreFile(
        path=path,
        samples=Table(path, columns, place=place, rows=rows.line.astype(np.int64), skipped=skipped),
        keys=(None,) if rows.key is None else tuple(named.keys),
        labels=tuple(named.labels),
        scores=samples.scores,
        truths=rows.truths,
        classes=classes,
        metadata=metadata,
        files=[InputFile(path, sha256, lines + faulty, skipped)],
    )


def check_some(path: str, samples: int, skipped: int) -> None:
    """Check that a file has samples.

    Raises:
        DataError: It has none.
    """
    if not samples:
        left = f"; {skipped:,} were left out" if skipped else ""
        raise DataError(Problem(path, f"there are no samples; at least one is needed{left}"))


def absent_metadata(metadata: Mapping[str, Sequence[Any]]) -> list[str]:
    """Metadata names that no sample has."""
    return [name for name, column in metadata.items() if all(value is None for value in column)]


def check_metadata(path: str, missing: Sequence[str], there: Sequence[str] | None) -> None:
    """Check that some sample has each metadata name.

    Args:
        path: The file.
        missing: The names that no sample of it has.
        there: As in `score_file`.

    Raises:
        DataError: None has.
    """
    if there is None or not missing:
        return
    raise DataError(
        [
            Problem(
                path,
                f"no sample has the metadata '{name}'{did_you_mean(name, there)}; "
                f"there is: {listed(there)}",
            )
            for name in missing
        ]
    )
