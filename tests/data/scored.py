"""Files of labels and scores: written, read, said by names, refused, and joined of their pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.joined import ScorePart, file_warnings, joined_score_files
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.results import InputFile


def written(text: str | bytes, name: str) -> str:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def read(text: str | bytes, side: Side, name: str = "a.csv", **options: Any) -> ScoreFile:
    return read_scores(written(text, name), side, ScoreReading(**options))


def said(found: ScoreFile) -> list[tuple[Any, ...]]:
    """Each row: id, label key, true label, labels listed with scores, and metadata."""
    samples = found.samples
    truth = samples.columns.get("truth", np.full(len(samples), -1)).tolist()
    rows = zip(
        [one.decode() for one in samples["sample_id"].tolist()],
        [found.keys[key] for key in samples["key"].tolist()],
        [None if code < 0 else found.labels[code] for code in truth],
        listed(found),
        *found.metadata.values(),
        strict=True,
    )
    return list(rows)


def listed(found: ScoreFile) -> list[list[tuple[str, float]] | None]:
    """The labels of each row with their scores, in the order listed."""
    scores = found.scores
    if scores is None:
        return [None] * len(found.samples)
    if isinstance(scores, DenseScores):
        names = [found.labels[code] for code in scores.label.tolist()]
        return [list(zip(names, row, strict=True)) for row in scores.score.tolist()]
    pairs = [
        (found.labels[code], score)
        for code, score in zip(scores.label.tolist(), scores.score.tolist(), strict=True)
    ]
    start = scores.start.tolist()
    assert start[0] == 0
    assert start[-1] == len(pairs)
    return [pairs[a:b] for a, b in itertools.pairwise(start)]


def saved(columns: dict[str, Any], name: str = "a.parquet", **options: Any) -> str:
    """The path of a table; lists have the types that Arrow finds for them."""
    pq.write_table(pa.table(columns), name, **options)
    return name


def table_error(table: dict[str, Any], side: Side, **options: Any) -> list[str]:
    """The lines of what is said."""
    with pytest.raises(DataError) as caught:
        read_scores(saved(table), side, ScoreReading(**options))
    return str(caught.value).splitlines()


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
