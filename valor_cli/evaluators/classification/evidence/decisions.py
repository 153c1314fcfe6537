"""Decide labels from scores and count pairs of true and predicted labels.

Everything that uses decisions uses these counts: they are computed once, and a resample only
weights them. Condensed evidence has the counts without the decisions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.classification.evidence.tallies import added
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.kernels.columns.grouping import tallies
from valor_cli.kernels.ranking.scores import members_by_label
from valor_cli.kernels.ranking.sparse_scores import RowNumbers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ONE_LABEL: Final = ("ground_truth", "predictions", "one_label")
"""What metrics of top labels need: samples that have one label each."""

UNNAMED: Final = 0.0
"""The score threshold of a label that a mapping does not name."""

LABEL_SETS: Final = ("ground_truth", "predictions", "label_sets")
"""What metrics of sets need: samples that may have several labels, or none."""


CELLS_TABULATED = 1 << 20
"""Cells of true and positive labels that a table holds, where there are not even so many rows."""


class Decisions(NamedTuple):
    """Positive labels by row. A row without any is listed once, with the label -1.

    Attributes:
        row: (d,) row of the evidence; rows that share a pair ascend.
        label: (d,) the positive label, or -1.
        score: (d,) its score; where there is none, the highest score of the row.
        pair: (d,) which pair of labels it is, by its number in the other columns.
        truth: (p,) the true label of each pair that occurs; pairs ascend.
        positive: (p,) the positive label, or -1.
    """

    row: RowNumbers
    label: RowNumbers
    score: Floats
    pair: RowNumbers
    truth: Ints
    positive: Ints


class Pairs(NamedTuple):
    """Counts of label pairs.

    Attributes:
        truth: (p,) the true label; pairs ascend.
        positive: (p,) the positive label; -1 for none.
        rows: (replicas, p) how many rows it is in.
    """

    truth: Ints
    positive: Ints
    rows: Ints

    @staticmethod
    def merged(parts: Sequence[Pairs]) -> Pairs:
        """Sum over parts."""
        truth, positive, rows = (np.concatenate(one, axis=-1) for one in zip(*parts, strict=True))
        width = int(positive.max(initial=-1)) + 2
        cell, pair = np.unique(truth * width + positive + 1, return_inverse=True)
        return Pairs(cell // width, cell % width - 1, tallies(pair, len(cell), rows))


class TruthCounts(NamedTuple):
    """(replicas, labels) number of rows with each label, and (replicas,) the number of rows."""

    rows: Ints
    total: Ints

    @staticmethod
    def merged(parts: Sequence[TruthCounts]) -> TruthCounts:
        """Sum over parts."""
        return TruthCounts(*added(parts))


class Answers(NamedTuple):
    """Positive labels where each is a decision of its own, label after label.

    Attributes:
        row: (d,) row of the evidence.
        label: (d,) the positive label.
        right: (d,) whether it is a true one.
    """

    row: RowNumbers
    label: RowNumbers
    right: NDArray[np.bool_]


class LabelCounts(NamedTuple):
    """(replicas, labels) one-vs-rest counts; tp + fn is the ground truth."""

    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints

    @staticmethod
    def merged(parts: Sequence[LabelCounts]) -> LabelCounts:
        """Sum over parts."""
        return LabelCounts(*added(parts))


class Agreement(NamedTuple):
    """(replicas, labels + 1) margins of true and top labels; the last is for no prediction.

    Attributes:
        truths: Rows that have the label.
        predictions: Rows whose top label it is.
        right: Rows of both.
    """

    truths: Ints
    predictions: Ints
    right: Ints

    @staticmethod
    def merged(parts: Sequence[Agreement]) -> Agreement:
        """Sum over parts."""
        return Agreement(*added(parts))

    @property
    def total(self) -> Ints:
        """(replicas,) number of rows."""
        return np.asarray(self.truths.sum(axis=1))

    @property
    def correct(self) -> Ints:
        """(replicas,) rows whose top label is the true one."""
        return np.asarray(self.right.sum(axis=1))


def decide(scored: Scored, score_threshold: ScoreThreshold | None, *, hardmax: bool) -> Decisions:
    """The positive labels of each row.

    Args:
        scored: Rows of one label key.
        score_threshold: What a score must reach; None for anything. A score of 0 never does.
        hardmax: Only the top label can be positive, else any.
    """
    return scored.once(
        ("decisions", hashable(score_threshold), hardmax),
        lambda: _paired(scored, *_positives(scored, score_threshold, hardmax=hardmax)),
    )


def wrong_labels(scored: Scored, score_threshold: ScoreThreshold) -> Ints:
    """(n,) number of labels that are positive and not true, or true and not positive."""
    found, n = answers(scored, score_threshold), len(scored.unit)
    positive = np.bincount(found.row, minlength=n)
    right = np.bincount(found.row[found.right], minlength=n)
    return np.asarray(np.diff(scored.sets.start) + positive - 2 * right)


def pairs(evidence: Evidence, score_threshold: ScoreThreshold | None, *, hardmax: bool) -> Pairs:
    """Counts of pairs of true and positive labels; arguments as for `decide`."""
    return evidence.tally(
        ("pairs", hashable(score_threshold), hardmax),
        lambda scored: _pairs(scored, score_threshold, hardmax=hardmax),
    )


def hashable(score_threshold: ScoreThreshold | None) -> Hashable:
    """A threshold as a hashable key."""
    if isinstance(score_threshold, Mapping):
        return tuple(sorted(score_threshold.items()))
    return score_threshold


def _pairs(scored: Scored, score_threshold: ScoreThreshold | None, *, hardmax: bool) -> Pairs:
    found = decide(scored, score_threshold, hardmax=hardmax)
    name = ("pairs", hashable(score_threshold), hardmax)
    rows = scored.counts(name, found.pair, found.row, len(found.truth))
    return Pairs(found.truth, found.positive, rows)


def label_counts(
    evidence: Evidence, score_threshold: ScoreThreshold, *, hardmax: bool
) -> LabelCounts:
    """True and false positives and negatives of each label; arguments as `decide`."""
    return evidence.tally(
        ("label counts", hashable(score_threshold), hardmax),
        lambda scored: _counted(scored, score_threshold, hardmax=hardmax),
    )


def agreement(evidence: Evidence) -> Agreement:
    """Margins of true and top labels, whatever the score."""
    return evidence.tally("agreement", _agreement)


def truth_counts(evidence: Evidence) -> Ints:
    """(replicas, labels) number of rows with each label."""
    return evidence.tally("truth counts", _truth_counts).rows


def count_of_rows(evidence: Evidence) -> Ints:
    """(replicas,) number of rows."""
    return evidence.tally("truth counts", _truth_counts).total


def _truth_counts(scored: Scored) -> TruthCounts:
    if scored.truths is None:
        rows = scored.counts("truths", scored.truth, None, len(scored.labels))
        return TruthCounts(rows, rows.sum(axis=1))
    row = scored.once("rows of sets", lambda: scored.sets.row)
    rows = scored.counts("truths", scored.truths.label, row, len(scored.labels))
    total = scored.counts("rows", np.zeros(len(scored.unit), np.int64), None, 1)[:, 0]
    return TruthCounts(rows, total)


def members(scored: Scored) -> Iterator[tuple[RowNumbers, Floats, NDArray[np.bool_]]]:
    """Of each label its rows with nonzero scores, these, and whether it is true of each."""
    if scored.truths is not None:
        yield from members_by_label(scored.scores, scored.truths, len(scored.labels))
        return
    for label, (rows, score) in enumerate(scored.scores.by_label(len(scored.labels))):
        yield rows, score, scored.truth[rows] == label


def answers(scored: Scored, score_threshold: ScoreThreshold) -> Answers:
    """The labels whose score is at least their threshold, and not 0."""
    return scored.once(
        ("answers", hashable(score_threshold)), lambda: _answers(scored, score_threshold)
    )


def _answers(scored: Scored, score_threshold: ScoreThreshold) -> Answers:
    none = np.zeros(0, np.int32)
    parts = [(none, none, np.zeros(0, bool))]
    least = thresholds(scored, score_threshold).tolist()
    for label, (rows, score, right) in enumerate(members(scored)):
        reached = score >= least[label]
        named = rows[reached].astype(np.int32)
        parts.append((named, np.full(len(named), label, np.int32), right[reached]))
    return Answers(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def thresholds(scored: Scored, score_threshold: ScoreThreshold) -> Floats:
    """(labels,) the threshold of each label."""
    if isinstance(score_threshold, Mapping):
        return np.array(
            [score_threshold.get(label, UNNAMED) for label in scored.labels], np.float64
        )
    return np.full(len(scored.labels), float(score_threshold))


def _positives(
    scored: Scored, score_threshold: ScoreThreshold | None, *, hardmax: bool
) -> tuple[RowNumbers, RowNumbers, Floats]:
    """Row, label and score of each positive label, and of each row that has none."""
    if hardmax:
        top = scored.top
        if score_threshold is not None:
            # The last one is that of no label, which has nothing to reach.
            least = np.append(thresholds(scored, score_threshold), -np.inf)
            top = np.where(scored.top_score >= least[top], top, -1)
        return np.arange(len(top)), top, scored.top_score
    least = thresholds(scored, -np.inf if score_threshold is None else score_threshold)
    # There may be as many as there are scores: the narrow numbers save half of the memory.
    parts = []
    some = np.zeros(len(scored.truth), bool)
    for label, (rows, score) in enumerate(scored.scores.by_label(len(scored.labels))):
        reached = score >= least[label]
        named = rows[reached].astype(np.int32)
        some[named] = True
        parts.append((named, np.full(len(named), label, np.int32), score[reached]))
    none = np.flatnonzero(~some).astype(np.int32)
    parts.append((none, np.full(len(none), -1, np.int32), scored.top_score[none]))
    row, labels, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    return row, labels, scores


def _paired(scored: Scored, row: RowNumbers, label: RowNumbers, score: Floats) -> Decisions:
    """The pairs that these positives make with the true labels."""
    width = len(scored.labels) + 1
    cell = scored.truth[row] * width + label + 1
    if len(scored.labels) * width <= max(CELLS_TABULATED, len(cell)):
        known = np.bincount(cell, minlength=1) > 0
        names, pair = np.flatnonzero(known), (np.cumsum(known, dtype=np.int32) - 1)[cell]
    else:
        names, pair = np.unique(cell, return_inverse=True)
    return Decisions(row, label, score, pair, names // width, names % width - 1)


def _counts_of_sets(scored: Scored, score_threshold: ScoreThreshold) -> LabelCounts:
    row, label, right = answers(scored, score_threshold)
    width, name = len(scored.labels), hashable(score_threshold)
    positive = scored.counts(("positive", name), label, row, width)
    tp = scored.counts(("right", name), label[right], row[right], width)
    return _one_vs_rest(tp, positive, *_truth_counts(scored))


def _one_vs_rest(tp: Ints, positive: Ints, truths: Ints, total: Ints) -> LabelCounts:
    tn = total[:, None] - truths - positive + tp
    return LabelCounts(tp, positive - tp, truths - tp, tn)


def _counted(scored: Scored, score_threshold: ScoreThreshold, *, hardmax: bool) -> LabelCounts:
    if scored.truths is not None:
        return _counts_of_sets(scored, score_threshold)
    found = _pairs(scored, score_threshold, hardmax=hardmax)
    named = found.positive >= 0
    right = found.truth == found.positive
    tp, positive = (
        tallies(found.positive[kept], len(scored.labels), found.rows[:, kept])
        for kept in (right, named)
    )
    return _one_vs_rest(tp, positive, *_truth_counts(scored))


def _agreement(scored: Scored) -> Agreement:
    found = _pairs(scored, None, hardmax=True)
    width = len(scored.labels) + 1
    right = found.truth == found.positive
    predicted = np.where(found.positive >= 0, found.positive, width - 1)
    return Agreement(
        *(
            tallies(label, width, found.rows * kept)
            for label, kept in ((found.truth, 1), (predicted, 1), (found.truth, right))
        )
    )
