"""Group rows by sample into a `ScoreFile` with one row per sample.

Faults between rows are reported here: duplicate samples, rows of one sample that contradict each
other, and samples without a true label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.checks import Named, RowChecks
from valor_cli.data.shapes.scores.columns import Codes, ScoreColumns
from valor_cli.data.tape import Ints
from valor_cli.data.values import Problems
from valor_cli.kernels.columns.grouping import spread
from valor_cli.kernels.columns.texts import begins, order_of
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores


class Samples(NamedTuple):
    """One row for each sample and label key.

    Attributes:
        columns: The rows. `count`, `label` and `score` are in `scores`.
        scores: What they list; None for ground truth alone.
        dropped: How many lines were left out.
    """

    columns: ScoreColumns
    scores: Scores | None
    dropped: int


def one_a_sample(columns: ScoreColumns, named: Named, problems: Problems, *, long: bool) -> Samples:
    """Bring rows together, in the order in which samples first appear; faulty ones are left out.

    Args:
        columns: The rows, in the order of the file.
        named: For messages.
        problems: Where faults are noted.
        long: Whether a row is one label of a sample, so that a sample may have several.
    """
    columns = _keyed(columns, named, problems)
    lost: NDArray[Any] = columns.line[:0]
    if not long:
        # A row that is all of a sample is wrong by itself, whatever another says of the sample.
        alone = RowChecks(columns, np.arange(len(columns)), named, problems)
        alone.missing_labels()
        lost = columns.line[alone.bad]
        columns = columns.take(~alone.bad) if len(lost) else columns
    order, starts = _segments(columns)
    if order is not None:
        columns = columns.take(order)
    checks = RowChecks(columns, _numbered(starts, len(columns)), named, problems)
    if len(starts) < len(columns):
        checks.repeated_samples(long=long)
        checks.contradicted_labels()
        checks.contradicted_metadata()
        checks.repeated_labels()
    checks.missing_labels()
    kept = ~checks.bad
    if not kept.all():
        lost = np.append(lost, columns.line[~kept])
        columns = columns.take(kept)
        starts = np.flatnonzero(begins(checks.sample[kept])) if len(columns) else starts[:0]
    dropped = len(np.unique(lost))
    return Samples(_first_rows(columns, starts), _scores(columns, starts), dropped)


def _keyed(columns: ScoreColumns, named: Named, problems: Problems) -> ScoreColumns:
    """Rows without a label key, where others have one: empty, or an error."""
    if columns.key is None or (columns.key >= 0).all():
        return columns
    without = columns.key < 0
    says = np.zeros(len(columns), np.bool_)
    if columns.truth is not None:
        says |= columns.truth >= 0
    if columns.count is not None:
        says |= columns.count > 0
    elif columns.score is not None:
        says[:] = True
    there = named.place.format(row=columns.line[~without][0])
    for row in np.flatnonzero(without & says).tolist():
        message = f"expected a label key as on {there}, found none"
        problems.add(int(columns.line[row]), named.key, message)
    return columns.take(~without)


def _segments(columns: ScoreColumns) -> tuple[Ints | None, Ints]:
    """The order that brings rows of a sample together, and where each sample begins in it.

    None for the order that rows have.
    """
    ids, key = columns.sample_id, columns.key
    new = _changes(ids, key)
    starts = np.flatnonzero(new)
    if len(starts) == len(columns):
        heads, head_keys = ids, key
    else:
        heads, head_keys = ids[starts], None if key is None else key[starts]
    order = _order(heads, head_keys)
    apart = _changes(heads[order], None if head_keys is None else head_keys[order])
    if apart.all():
        return None, starts
    order = _order(ids, key)
    sorted_starts = np.flatnonzero(_changes(ids[order], None if key is None else key[order]))
    counts = np.diff(np.append(sorted_starts, len(order)))
    by_appearance = np.argsort(order[sorted_starts], kind="stable")
    counts = counts[by_appearance]
    return order[spread(sorted_starts[by_appearance], counts)], np.cumsum(counts) - counts


def _order(ids: NDArray[Any], key: Codes | None) -> Ints:
    order = order_of(ids)
    if key is None:
        return order
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.cumsum(begins(ids[order]))
    return np.lexsort((key, rank))


def _changes(ids: NDArray[Any], key: Codes | None) -> NDArray[np.bool_]:
    return begins(ids) if key is None else begins(ids) | begins(key)


def _numbered(starts: Ints, total: int) -> Ints:
    """The number of the sample of each row."""
    kind = np.int32 if len(starts) < 2**31 else np.int64
    return np.repeat(np.arange(len(starts), dtype=kind), np.diff(np.append(starts, total)))


def _first_rows(columns: ScoreColumns, starts: Ints) -> ScoreColumns:
    """A row for each sample, without what it lists."""
    bare = replace(columns, count=None, label=None, score=None)
    if len(starts) == len(columns):
        return bare
    sample = _numbered(starts, len(columns))
    said: Mapping[str, NDArray[Any]] = {
        name: _first_said(values, values != None, sample, starts)  # noqa: E711 - for each value
        for name, values in columns.metadata.items()
    }
    truth = columns.truth
    if truth is not None:
        truth = _first_said(truth, truth >= 0, sample, starts)
    return replace(bare.take(starts), truth=truth, metadata=said)


def _first_said(
    values: NDArray[Any], said: NDArray[np.bool_], sample: Ints, starts: Ints
) -> NDArray[Any]:
    """For each sample the value of the first row that says one, or of its first row."""
    at = starts.copy()
    if said[at].all():
        return values[at]
    rows = np.flatnonzero(said)[::-1]
    at[sample[rows]] = rows
    return values[at]


def _scores(columns: ScoreColumns, starts: Ints) -> Scores | None:
    """What each sample lists: dense where all list the same labels in the same order."""
    score, count, label = columns.score, columns.count, columns.label
    if score is None:
        return None
    if count is None or label is None:
        return DenseScores(np.arange(score.shape[1] if score.ndim == 2 else 0), score)
    counts = np.add.reduceat(count, starts, dtype=np.int64) if len(starts) else count
    width = int(counts[0]) if len(counts) else 0
    if width > 1 and (counts == width).all():
        rows = label.reshape(-1, width)
        if (rows[0] == rows[-1]).all() and (rows == rows[0]).all():
            return DenseScores(rows[0].astype(np.int64), score.reshape(-1, width))
    return SparseScores(np.append(0, np.cumsum(counts)), label, score)
