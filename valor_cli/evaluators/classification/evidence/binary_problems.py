"""ROC AUC and average precision of each label's binary problem.

In a label's problem its samples are the positives and all others the negatives; a sample that does
not list the label scores 0 there and is tied with all others of that score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import (
    count_of_rows,
    members,
    truth_counts,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH, values_of_labels
from valor_cli.kernels.columns.grouping import order_of_codes
from valor_cli.kernels.ranking.binary_ranking import (
    Corners,
    RankedRows,
    Ranking,
    area_under_roc,
    average_precision,
    rank,
    rank_counted,
    roc_corners,
)
from valor_cli.kernels.ranking.resamples import LANES
from valor_cli.kernels.ranking.score_counts import LabelScores, ScoreCounts, count_scores
from valor_cli.kernels.ranking.sparse_scores import without_zeros
from valor_cli.results import MetricValue

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DRAWN_LABELS: Final = 100
"""With more labels than these no curve is drawn."""

DRAWN_POINTS: Final = 101
"""Points of a curve at most."""


Area = Callable[[Ranking, Ints, Ints], Floats]
"""`area_under_roc` or `average_precision`."""


class LabelAreas(NamedTuple):
    """The area of each label's problem.

    Attributes:
        samples: (replicas,) how many samples there are.
        positives: (replicas, labels) samples of each.
        values: (replicas, labels) the area; NaN where it has none.
    """

    samples: Ints
    positives: Ints
    values: Floats


class _Problem(NamedTuple):
    """A label where rows count once each: each area, and the curve."""

    areas: Mapping[Area, float]
    curve: Corners | None


def label_areas(evidence: Evidence, area: Area) -> LabelAreas:
    """One area of each label."""
    return evidence.known(("label areas", area), lambda: _areas(evidence, area))


def areas_of_labels(evidence: Evidence, area: Area, none: str = "") -> list[MetricValue]:
    """A value for each label; `none` says why one with ground truth has none."""
    areas = label_areas(evidence, area)
    truths = areas.positives[0]
    why = [
        (none if n else NO_GROUND_TRUTH) if lacks else None
        for n, lacks in zip(truths.tolist(), np.isnan(areas.values[0]).tolist(), strict=True)
    ]
    return values_of_labels(evidence.labels, areas.values, truths, why)


def roc_curves(evidence: Evidence) -> Sequence[Corners | None]:
    """The ROC curve of each label; None without positives or without negatives.

    Of no resample. With more than `DRAWN_LABELS` labels there are none.
    """
    if len(evidence.labels) > DRAWN_LABELS:
        return [None] * len(evidence.labels)
    return [one.curve for one in _problems(evidence)]


def _areas(evidence: Evidence, area: Area) -> LabelAreas:
    if isinstance(evidence, Scored) and evidence.resampled:
        values = _weighed(evidence, area)
    else:
        values = np.array([[one.areas[area] for one in _problems(evidence)]], np.float64)
    return LabelAreas(count_of_rows(evidence), truth_counts(evidence), values)


def _problems(evidence: Evidence) -> list[_Problem]:
    return evidence.known("label problems", lambda: list(_solved(evidence)))


def _solved(evidence: Evidence) -> Iterator[_Problem]:
    (samples,), (total,) = truth_counts(evidence), count_of_rows(evidence).tolist()
    drawn = len(samples) <= DRAWN_LABELS
    for scores, positives in zip(_label_scores(evidence), samples.tolist(), strict=True):
        negatives = total - positives
        ranking, right, every = rank_counted(*scores)
        counts = np.array([positives], np.int64), np.array([negatives], np.int64)
        both: tuple[Area, ...] = (area_under_roc, average_precision)
        areas = {area: float(area(ranking, *counts)[0]) for area in both}
        curve = None
        if drawn and positives and negatives:
            curve = roc_corners(right, every, positives, negatives, DRAWN_POINTS)
        yield _Problem(areas, curve)


def _label_scores(evidence: Evidence) -> Iterator[LabelScores]:
    """The distinct scores of each label."""
    if isinstance(evidence, Scored) and evidence.noted is None:
        # Of one label after the other: those of all may take more memory than the rows.
        return (count_scores(*scores) for scores in sorted_scores(evidence))
    return evidence.tally(
        "label scores", lambda rows: ScoreCounts.of(sorted_scores(rows))
    ).by_label()


def sorted_scores(scored: Scored) -> Iterator[tuple[Floats, Floats]]:
    """Of each label the scores other than 0 of its samples, and of all, ascending."""
    count = len(scored.labels)
    if scored.truths is not None:
        return ((np.sort(score[right]), np.sort(score)) for _, score, right in members(scored))
    samples = np.bincount(scored.truth, minlength=count)
    return zip(_true_scores(scored, samples), scored.scores.ascending(count), strict=True)


def _true_scores(scored: Scored, samples: Ints) -> Iterator[Floats]:
    """Of each label the scores other than 0 that its samples, so many, give it, ascending."""
    score = scored.true_score[order_of_codes(scored.truth, len(samples))]
    for own in np.split(score, np.cumsum(samples[:-1])):
        own.sort()
        yield without_zeros(own)


def _weighed(scored: Scored, area: Area) -> Floats:
    """(replicas, labels) the area where samples count as often as they weigh."""
    truths = truth_counts(scored)
    replicas, labels = truths.shape
    # The last replicas may be fewer than are added up at once.
    positives, negatives = np.zeros((2, len(scored.lanes) * LANES, labels), np.int64)
    positives[:replicas] = truths
    negatives[:replicas] = count_of_rows(scored)[:, None] - truths
    found = np.empty(positives.shape)
    problems = scored.once("ranked labels", lambda: list(_ranked(scored)))
    for block, weights in enumerate(scored.lanes):
        some = slice(block * LANES, (block + 1) * LANES)
        for label, one in enumerate(problems):
            counts = positives[some, label], negatives[some, label]
            found[some, label] = area(one.weighed(weights), *counts)
    return found[:replicas]


def _ranked(scored: Scored) -> Iterator[RankedRows]:
    """The rows of each label's problem."""
    for rows, score, own in members(scored):
        order = np.argsort(score)
        ordered, every, right = rows[order].astype(np.int32), score[order], own[order]
        yield RankedRows.of(rank(every[right], every), ordered[right], ordered[~right])
