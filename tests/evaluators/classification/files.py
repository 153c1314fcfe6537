"""Score files written by hand: what a reader would hand out for a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.table import LINE, Table
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores
from valor_cli.results import InputFile, Scalar


def score_file(
    path: str,
    ids: Sequence[str],
    *,
    truth: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    scores: Sequence[Mapping[str, float]] | None = None,
    wide: bool = False,
    metadata: Mapping[str, Sequence[Scalar]] | None = None,
) -> ScoreFile:
    """A file with a row per id, from line 2 on.

    Args:
        path: Its name.
        ids: Of the samples.
        truth: The true label of each row, if the file says it.
        keys: The label key of each row, if there are any.
        scores: The labels that each row lists, in order.
        wide: Whether all rows list the same ones.
        metadata: Columns of values.
    """
    labels: dict[str, int] = {}
    for row in scores or ():
        for name in row:
            labels.setdefault(name, len(labels))
    classes = tuple(labels) if wide else ()
    for name in truth or ():
        labels.setdefault(name, len(labels))
    names = list(dict.fromkeys(keys)) if keys else []
    columns = {
        "sample_id": np.array([one.encode() for one in ids] or np.zeros(0, "S1")),
        "key": np.array([names.index(one) if keys else 0 for one in keys or ids], np.int64),
    }
    if truth is not None:
        columns["truth"] = np.array([labels[name] for name in truth], np.int64)
    count = len(ids)
    table = Table(path, columns, LINE, np.arange(count) + 2)
    return ScoreFile(
        path,
        table,
        tuple(names) or (None,),
        tuple(labels),
        None if scores is None else rows_of(scores, labels, wide=wide),
        classes,
        metadata or {},
        (InputFile(path, "0" * 64, count),),
    )


def rows_of(
    rows: Sequence[Mapping[str, float]], labels: Mapping[str, int], *, wide: bool = False
) -> Scores:
    """Rows of scores, dense ones if wide."""
    if wide:
        names = [labels[name] for name in rows[0]]
        return DenseScores(np.array(names), np.array([list(row.values()) for row in rows], float))
    return SparseScores(
        np.cumsum([0, *map(len, rows)]),
        np.array([labels[name] for row in rows for name in row], np.int32),
        np.array([score for row in rows for score in row.values()], float),
    )


def listed(scores: Scores, labels: Sequence[str]) -> list[dict[str, float]]:
    """What each row lists, in order."""
    rows = scores.sparse()
    ends = rows.start.tolist()
    entries = list(zip(rows.label.tolist(), rows.score.tolist(), strict=True))
    return [
        {labels[label]: score for label, score in entries[begin:end]}
        for begin, end in pairwise(ends)
    ]
