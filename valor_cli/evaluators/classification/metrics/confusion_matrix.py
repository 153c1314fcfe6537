"""Confusion matrix of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import (
    ONE_LABEL,
    Pairs,
    decide,
    hashable,
    pairs,
    truth_counts,
)
from valor_cli.evaluators.classification.evidence.example_objects import Prediction, objects_of
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.parameters import MaxExamples, ScoreThreshold
from valor_cli.kernels.columns.grouping import places_in_runs
from valor_cli.kernels.columns.texts import order_of
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricExample, MetricTable

Ints = NDArray[np.int64]

TRUE_POSITIVE: Final = "true_positive"
MISCLASSIFICATION: Final = "misclassification"
UNMATCHED_GROUND_TRUTH: Final = "unmatched_ground_truth"
KINDS: Final = (TRUE_POSITIVE, MISCLASSIFICATION, UNMATCHED_GROUND_TRUTH)

MOST_EXAMPLES: Final = 20_000
"""Examples of all cells together."""

MOST_LABELS: Final = 2_000
"""Labels of a table: it has as many cells as their square, of which few could be looked at."""

Floats = NDArray[np.float64]


class CellExamples(NamedTuple):
    """The best rows of each pair of labels: by pair, by score, then by sample id.

    Attributes:
        most: How many a pair has, at most.
        truth: (c,) the true label.
        positive: (c,) the positive label; -1 for none.
        score: (c,) its score; where there is none, the highest of the row.
        sample_id: (c,) as in `Scored`.
        number: (c,) the row in the whole dataset.
    """

    most: int
    truth: Ints
    positive: Ints
    score: Floats
    sample_id: NDArray[Any]
    number: Ints

    @staticmethod
    def merged(parts: Sequence[CellExamples]) -> CellExamples:
        """The best over all parts."""
        _, *columns = zip(*parts, strict=True)
        truth, positive, score, ids, number = (np.concatenate(column) for column in columns)
        place = np.empty(len(ids), np.int64)
        place[order_of(ids)] = np.arange(len(ids))
        pair = truth * (int(positive.max(initial=-1)) + 2) + positive + 1
        most = parts[0].most
        at = best_of_each(pair, score, place, most)
        return CellExamples(most, truth[at], positive[at], score[at], ids[at], number[at])


def confusion_matrix(
    evidence: Evidence,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    max_examples: MaxExamples = 3,
) -> Findings:
    """Counts of true labels by predicted label.

    With `hardmax` a row is in the cell of its top label, if its score is at least its threshold;
    else in that of every label whose score is. A ground truth without any is unmatched. The
    diagonal is the true positives of `counts`; under `hardmax` a label's cells and unmatched ground
    truths add up to its ground truths. Every cell has up to `max_examples` examples, by score, then
    by sample; where all cells would have more than 20,000, errors go before hits, and cells with
    many rows before those with few. Of more than 2,000 labels there is no table, and no example.

    Formula:
        cell (T, P) = rows of true label T in which P is positive
        unmatched ground truths of T = rows of T in which no label is positive

    Pitfalls:
        Cells are counts, so a frequent label has large ones whatever its share of errors. Without
        `hardmax` a row is in several cells, and they add up to more than the samples.

    Example:
        True labels cat, cat, dog and top labels cat, dog, dog: cell (cat, cat) is 1, (cat, dog) 1,
        (dog, dog) 1, and all others are 0.
    """
    if len(evidence.labels) > MOST_LABELS:
        rows = truth_counts(evidence).any()
        return Findings(warnings=[_too_many(len(evidence.labels))] if rows else ())
    found = pairs(evidence, score_threshold, hardmax=hardmax)
    examples: list[MetricExample] = []
    if max_examples and not evidence.resampled:
        quotas = _quotas(found, max_examples)
        best = _best(evidence, score_threshold, max_examples, quotas, hardmax=hardmax)
        examples = _examples(evidence.labels, best, found, quotas)
    if not len(found.truth):
        return Findings()
    return Findings(tables=[_table(evidence.labels, found)], examples=examples)


def _too_many(labels: int) -> str:
    return (
        f"{labels:,} labels make a table of {labels**2 / 1e6:,.0f} million cells; left out (at "
        f"most {MOST_LABELS:,} labels: `filter` or merge them by `label_map`)"
    )


def _table(labels: Sequence[str], found: Pairs) -> MetricTable:
    count = len(labels)
    # The last column is that of no label.
    matrix = np.zeros((count, count + 1), np.int64)
    matrix[found.truth, found.positive] = found.rows[0]
    return MetricTable(labels, matrix[:, :-1].tolist(), matrix[:, -1].tolist(), [0] * count)


def _quotas(found: Pairs, most: int) -> Ints:
    """(p,) how many examples each cell has: errors go before hits, and many rows before few."""
    rows = found.rows[0]
    quotas: Ints = np.minimum(rows, most)
    order = np.lexsort((-rows, found.truth == found.positive))
    before = np.cumsum(quotas[order]) - quotas[order]
    quotas[order] = np.clip(MOST_EXAMPLES - before, 0, quotas[order])
    return quotas


def _best(
    evidence: Evidence, score_threshold: ScoreThreshold, most: int, quotas: Ints, *, hardmax: bool
) -> CellExamples:
    """The best-scored rows of each cell, of those at least that have some."""
    if isinstance(evidence, Scored) and evidence.noted is None:
        wanted = quotas > 0
        return best_of_cells(evidence, score_threshold, most, hardmax=hardmax, wanted=wanted)
    # In which cells of all shards there will be many rows, no shard knows.
    return evidence.tally(
        ("cell examples", hashable(score_threshold), hardmax, most),
        lambda scored: best_of_cells(scored, score_threshold, most, hardmax=hardmax),
    )


def _examples(
    labels: Sequence[str], best: CellExamples, found: Pairs, quotas: Ints
) -> list[MetricExample]:
    """The best rows of each cell, as many as it may have: hits, then errors, then the unmatched."""
    width = len(labels) + 1
    cells, cell = (one.truth * width + one.positive for one in (found, best))
    shown = np.flatnonzero(places_in_runs(cell) < quotas[cells.searchsorted(cell)])
    truth, positive = best.truth[shown], best.positive[shown]
    kind = np.where(positive < 0, 2, (truth != positive).astype(np.int64))
    order = np.argsort(kind, kind="stable")
    columns = (kind, truth, positive, *(column[shown] for column in best[3:]))
    return [
        _example(labels, *row)
        for row in zip(*(one[order].tolist() for one in columns), strict=True)
    ]


def _example(
    labels: Sequence[str],
    kind: int,
    truth: int,
    positive: int,
    score: float,
    sample_id: bytes,
    number: int,
) -> MetricExample:
    said = None if positive < 0 else Prediction(labels[positive], score)
    objects = objects_of(KINDS[kind], number, labels[truth], said)
    return MetricExample(KINDS[kind], sample_id.decode(), labels[truth], objects)


CONFUSION_MATRIX = Metric(
    name="confusion_matrix",
    compute=confusion_matrix,
    needs=ONE_LABEL,
    reference="sklearn.metrics.confusion_matrix",
    citation="Stehman, Selecting and interpreting measures of thematic classification accuracy, "
    "Remote Sensing of Environment, 1997",
    outputs=(),
    draws="table",
    condensed=True,
    aliases=("ConfusionMatrix",),
)


def best_of_cells(
    scored: Scored,
    score_threshold: ScoreThreshold,
    most: int,
    *,
    hardmax: bool,
    wanted: NDArray[np.bool_] | None = None,
) -> CellExamples:
    """The best-scored rows of each pair of a true and a positive label.

    Args:
        scored: Rows of one label key, which has one of a sample.
        score_threshold, hardmax: As for `decide`.
        most: How many of a pair, at most; not 0.
        wanted: (p,) of the pairs that occur, which to look at; None for all.
    """
    found = decide(scored, score_threshold, hardmax=hardmax)
    pair, score, row = found.pair, found.score, found.row
    if wanted is None or wanted.all():
        at = best_of_each(pair, score, row, most)
    else:
        # To sort the rows of pairs that show none costs more than to leave them out.
        some = np.flatnonzero(wanted[pair])
        at = some[best_of_each(pair[some], score[some], row[some], most)]
    return CellExamples(
        most,
        found.truth[pair[at]],
        found.positive[pair[at]],
        score[at],
        scored.sample_ids[scored.unit[row[at]]],
        scored.number[row[at]],
    )


LANES_PER_ROW: Final = 0.5
"""So many lanes for each row are worth a pass over the rows that spares most of them a sort."""

DEALT: Final = 32
"""Rows for each lane that are dealt, evenly spaced, where there are more."""


def best_of_each(
    group: NDArray[Any], score: NDArray[np.float64], row: NDArray[Any], most: int
) -> Ints:
    """Positions of the best of each group: group after group, by score, then by row.

    Args:
        group: (n,) whole numbers from 0.
        score: (n,) the higher, the better.
        row: (n,) what decides between equal scores: the lower first.
        most: How many of a group, at most; not 0.
    """
    at = _hopeful(group, score, most)
    at = at[np.lexsort((row[at], -score[at], group[at]))]
    return np.asarray(at[places_in_runs(group[at]) < most])


def _hopeful(group: NDArray[Any], score: NDArray[np.float64], most: int) -> Ints:
    """Positions that may be among the best, for a pass over them all is cheaper than a sort.

    Rows of a group are dealt to lanes. The best of `most` lanes are `most` rows, so that whatever
    is below the worst of them is not among the best.
    """
    groups, lanes = int(group.max(initial=-1)) + 1, 4 * most
    if groups * lanes > LANES_PER_ROW * len(group):
        return np.arange(len(group))
    dealt = slice(None, None, max(len(group) // max(groups * lanes * DEALT, 1), 1))
    lane = group[dealt].astype(np.int64) * lanes
    lane += np.arange(len(lane)) % lanes
    best = np.full(groups * lanes, -np.inf)
    np.maximum.at(best, lane, score[dealt])
    least = np.partition(best.reshape(groups, lanes), lanes - most, axis=1)[:, lanes - most]
    return np.flatnonzero(score >= least[group])
