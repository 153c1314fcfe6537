"""The gathered rows of one file come in; a `ScoreFile` goes out, or all that is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.readers.checks import Problems, stop_on
from valor_cli.readers.csv_columns import listed
from valor_cli.readers.score_checks import Named
from valor_cli.readers.score_columns import GatheredScores
from valor_cli.readers.score_files import ScoreFile
from valor_cli.readers.score_samples import one_a_sample
from valor_cli.readers.table import LINE, SKIP_HINT, Columns, InvalidRows, Table
from valor_cli.results import InputFile


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
) -> ScoreFile:
    """One row a sample and label key.

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

    Raises:
        DataError: Rows are wrong and not to be left out; there are none; no sample has metadata of
            a name.
    """
    lines = gathered.lines
    samples = one_a_sample(gathered.columns(), named, problems, long=long)
    if invalid == "error":
        stop_on([problems], SKIP_HINT)
    rows = samples.columns
    if not len(rows):
        left = f"; {faulty + samples.dropped:,} were left out" if faulty + samples.dropped else ""
        raise DataError(Problem(path, f"there are no samples; at least one is needed{left}"))
    columns: Columns = {
        "sample_id": rows.sample_id,
        "key": np.zeros(len(rows), np.int64) if rows.key is None else rows.key.astype(np.int64),
    }
    if rows.truth is not None:
        columns["truth"] = rows.truth.astype(np.int64)
    skipped = faulty + samples.dropped
    return ScoreFile(
        path=path,
        samples=Table(path, columns, place=place, rows=rows.line.astype(np.int64), skipped=skipped),
        keys=(None,) if rows.key is None else tuple(named.keys),
        labels=tuple(named.labels),
        scores=samples.scores,
        classes=classes,
        metadata=_metadata(rows.metadata, path, there),
        files=[InputFile(path, sha256, lines + faulty, skipped)],
    )


def _metadata(
    metadata: Mapping[str, NDArray[Any]], path: str, there: Sequence[str] | None
) -> dict[str, list[Any]]:
    """Values by name.

    Raises:
        DataError: No sample has any of a name.
    """
    values = {name: column.tolist() for name, column in metadata.items()}
    problems = [
        Problem(
            path,
            f"no sample has the metadata '{name}'{did_you_mean(name, there)}; "
            f"there is: {listed(there)}",
        )
        for name, column in values.items()
        if there is not None and all(value is None for value in column)
    ]
    if problems:
        raise DataError(problems)
    return values
