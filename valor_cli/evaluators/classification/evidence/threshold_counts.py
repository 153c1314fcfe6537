"""Counts of each label's binary problem along score thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.binary_problems import sorted_scores
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.classification.evidence.tallies import added
from valor_cli.kernels.columns.grouping import nulls, reaching
from valor_cli.results import MetricCurve

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns: TypeAlias = Mapping[str, NDArray[Any]]


class ThresholdCounts(NamedTuple):
    """Counts of positives at each threshold: scores at or above it, and not 0.

    Attributes:
        tp, fp, fn, tn: (levels, labels).
        truths: (labels,) samples of each label.
    """

    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints
    truths: Ints

    @staticmethod
    def merged(parts: Sequence[ThresholdCounts]) -> ThresholdCounts:
        """Sum over parts."""
        return ThresholdCounts(*added(parts))

    @property
    def seen(self) -> Ints:
        """Labels with ground truth or with predictions at the lowest threshold."""
        return np.flatnonzero((self.truths > 0) | (self.fp[0] > 0))


def threshold_counts(evidence: Evidence, levels: Sequence[float]) -> ThresholdCounts:
    """Counts at ascending thresholds; a resample's rows count once each."""
    name = ("threshold counts", *levels)
    return evidence.tally(
        name,
        lambda scored: scored.once(name, lambda: _counted(scored, np.array(levels, np.float64))),
    )


def true_scores(scored: Scored) -> Floats:
    """(n,) score of the true label; -inf if 0, which is never positive."""
    return np.where(scored.true_score == 0, -np.inf, scored.true_score)


def highest_scores(scored: Scored) -> tuple[Ints, Floats]:
    """(n,) the label with the highest nonzero score, and that score.

    It is the top label; where there is none, a label with a score below 0 may pass a threshold that
    is below 0 too. Without any it is -1, with minus infinity.
    """
    return scored.once("highest scores", lambda: _highest(scored))


def _highest(scored: Scored) -> tuple[Ints, Floats]:
    label, score = scored.top.copy(), scored.top_score.copy()
    rows = np.flatnonzero(label < 0)
    best = scored.scores.take(rows).sparse().without_zeros().best()
    label[rows] = best.label
    score[rows] = np.where(best.label < 0, -np.inf, best.score)
    return label, score


def _counted(scored: Scored, levels: Floats) -> ThresholdCounts:
    count = len(scored.labels)
    positive = np.zeros((len(levels), count), np.int64)
    for label, score in enumerate(scored.scores.ascending(count)):
        positive[:, label] = len(score) - score.searchsorted(levels)
    if scored.truths is None:
        tp = reaching(true_scores(scored), scored.truth, levels, count)
        truths = np.bincount(scored.truth, minlength=count)
    else:
        tp = np.zeros_like(positive)
        for label, (score, _) in enumerate(sorted_scores(scored)):
            tp[:, label] = len(score) - score.searchsorted(levels)
        truths = np.bincount(scored.truths.label, minlength=count)
    fp, fn = positive - tp, truths - tp
    return ThresholdCounts(tp, fp, fn, len(scored.truth) - tp - fp - fn, truths)


def curves_of(
    evidence: Evidence, counts: ThresholdCounts, levels: Sequence[float], columns: Columns
) -> list[MetricCurve]:
    """The curve of each label that occurs.

    Args:
        evidence: Whose labels they are.
        counts: Of it.
        levels: The score thresholds.
        columns: (levels, labels) by name; NaN where a point has no value.
    """
    return [
        MetricCurve(
            {
                "score_threshold": levels,
                **{name: nulls(column[:, at]) for name, column in columns.items()},
            },
            label=evidence.labels[at],
        )
        for at in counts.seen.tolist()
    ]
