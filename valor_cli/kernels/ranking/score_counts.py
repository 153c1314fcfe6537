"""Count rows by distinct score for each label; the counts determine rankings.

Counts of several parts are merged label by label without sorting again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import begins, blocks, offsets
from valor_cli.kernels.threads import at_once

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Whole numbers of the narrowest type that holds the highest of them."""

SCORES_TOGETHER: Final = 1 << 15
"""Scores that are merged at a time: of several labels that have no more, or some of one label's."""

_WORTH: Final = 1 << 18
"""More scores of a label than these are merged in several threads."""


class LabelScores(NamedTuple):
    """Score counts of one or several labels.

    Attributes:
        score: (d,) other than 0, distinct, ascending.
        every: (d,) how many rows have it.
        positive: (d,) how many of those have the label.
    """

    score: Floats
    every: Counts
    positive: Counts

    def between(self, begin: int, end: int) -> LabelScores:
        """The labels from `begin` to before `end`."""
        at = slice(begin, end)
        return LabelScores(self.score[at], self.every[at], self.positive[at])


def count_scores(positive: Floats, every: Floats) -> LabelScores:
    """The distinct scores of a label.

    Args:
        positive: (p,) of its positives: other than 0, ascending.
        every: (p + m,) likewise of positives and negatives together.
    """
    first = np.flatnonzero(begins(every))
    score = every[first]
    hits = np.bincount(score.searchsorted(positive), minlength=len(score))
    return LabelScores(score, _narrow(np.diff(first, append=len(every))), _narrow(hits))


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Score counts of all labels, concatenated.

    Attributes:
        start: (labels + 1,) label l has the scores start[l] … start[l + 1] - 1.
        scores: Of all labels.
    """

    start: Ints
    scores: LabelScores

    @classmethod
    def of(cls, labels: Iterable[tuple[Floats, Floats]]) -> ScoreCounts:
        """Score counts of each label.

        Args:
            labels: Of each label what `count_scores` takes.
        """
        counted = [count_scores(positive, every) for positive, every in labels]
        return cls(
            offsets(np.array([len(one.score) for one in counted], np.int64)), _joined(counted)
        )

    @staticmethod
    def merged(parts: Sequence[ScoreCounts]) -> ScoreCounts:
        """Merge the counts of parts with the same labels."""
        work = np.sum([part.lengths for part in parts], axis=0)
        lengths, merged = np.zeros(len(work), np.int64), []
        for labels in blocks(work, SCORES_TOGETHER):
            own = [part.block(labels) for part in parts]
            if labels.stop - labels.start == 1:
                many = sum(len(one.score) for one in own) > _WORTH
                found = at_once(_merged, list(_pieces(own)), worth=many)
                lengths[labels] = sum(len(one.score) for one in found)
                merged += found
            else:
                owner = np.concatenate([_owners(part, labels) for part in parts])
                owner, one = _merged_labels(own, owner)
                lengths[labels] = np.bincount(owner, minlength=labels.stop - labels.start)
                merged.append(one)
        return ScoreCounts(offsets(lengths), _joined(merged))

    @property
    def lengths(self) -> Ints:
        """(labels,) number of distinct scores."""
        return np.diff(self.start)

    def by_label(self) -> Iterator[LabelScores]:
        """The scores of each label."""
        for label in range(len(self.start) - 1):
            yield self.block(slice(label, label + 1))

    def block(self, labels: slice) -> LabelScores:
        """The scores of labels that follow one another."""
        return self.scores.between(int(self.start[labels.start]), int(self.start[labels.stop]))


def _joined(parts: Sequence[LabelScores]) -> LabelScores:
    """Scores of some labels, and then of others; counts get the widest type of all."""
    nothing = np.zeros(0, np.uint8)
    score, every, positive = zip(LabelScores(np.zeros(0), nothing, nothing), *parts, strict=True)
    return LabelScores(np.concatenate(score), np.concatenate(every), np.concatenate(positive))


def _narrow(counts: NDArray[Any]) -> Counts:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _pieces(parts: Sequence[LabelScores]) -> Iterator[Sequence[LabelScores]]:
    """Scores of one label, cut at the same scores in all parts: of so many that a cache holds."""
    longest = max((part.score for part in parts), key=len)
    step = max(SCORES_TOGETHER // len(parts), 1)
    edges = [
        [0, *part.score.searchsorted(longest[step::step]).tolist(), len(part.score)]
        for part in parts
    ]
    for piece in range(len(edges[0]) - 1):
        yield [
            part.between(at[piece], at[piece + 1]) for part, at in zip(parts, edges, strict=True)
        ]


def _merged(parts: Sequence[LabelScores]) -> LabelScores:
    """The scores of one label."""
    whole = _joined(parts)
    # Every part is ascending: this sort merges such runs, and takes little more than reading them.
    order = np.argsort(whole.score, kind="stable")
    score = whole.score[order]
    first = np.flatnonzero(begins(score))
    return LabelScores(score[first], *_summed(whole, order, first))


def _merged_labels(parts: Sequence[LabelScores], owner: Ints) -> tuple[Ints, LabelScores]:
    """The scores of several labels, and the label of each.

    Args:
        parts: Of each part the scores of these labels.
        owner: (all of them,) the label of each.
    """
    whole = _joined(parts)
    # Complex numbers are ordered by their real parts first: label by label.
    key = owner + 1j * whole.score
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(begins(key))
    key = key[first]
    return key.real.astype(np.int64), LabelScores(key.imag, *_summed(whole, order, first))


def _summed(scores: LabelScores, order: Ints, first: Ints) -> Iterator[Counts]:
    """The counts of scores that stand, in that order, from each of these places to the next."""
    for column in (scores.every, scores.positive):
        yield _narrow(_sums(column[order], first))


def _owners(counts: ScoreCounts, labels: slice) -> Ints:
    """The label of each score of some labels, counted from the first of these."""
    return np.repeat(np.arange(labels.stop - labels.start), counts.lengths[labels])


def _sums(counts: Counts, first: Ints) -> Ints:
    """The sums of counts that stand from each of these places to the next."""
    total = offsets(counts)
    return np.diff(total[first], append=total[-1])
