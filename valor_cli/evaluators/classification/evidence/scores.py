"""Evidence of classification: true labels and scores of each sample."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar, overload

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.dataset import ClassificationDataset, choices_of
from valor_cli.evaluators.classification.evidence.tallies import (
    CondensedScores,
    Mergeable,
    merge_tallied,
)
from valor_cli.evaluators.memo import Memo
from valor_cli.kernels.columns.grouping import summed
from valor_cli.kernels.columns.texts import order_of
from valor_cli.kernels.ranking.resamples import LANES, Lanes, lanes_of, tally_lanes
from valor_cli.kernels.ranking.scores import Scores, joined_scores, sets_of_one
from valor_cli.kernels.ranking.sparse_scores import SparseScores, joined_sparse
from valor_cli.metric import Call
from valor_cli.results import Scalar

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

T = TypeVar("T")
S = TypeVar("S", bound=Mergeable)

_WEIGHTS_AT_ONCE: Final = 1 << 22
"""Weights of samples that are held at once as floats."""


class Scored(Struct, frozen=True):
    """The scored rows of a dataset.

    Metrics get the rows of one label key (`parts`); rows stand in the order of their samples.

    Attributes:
        sample_ids: (units,) as in `ClassificationDataset`.
        labels: Names; those of one key alone in a part of the evidence.
        keys: Names of the label keys; one in a part.
        labels_of: By key, the labels (numbers) of its rows.
        unit: (n,) the sample of each row, ascending.
        key: (n,) the key of each row.
        truth: (n,) its true label; -1 where `truths` lists them.
        number: (n,) its row in the whole dataset.
        scores: (n,) rows of what the model says.
        top: (n,) the label with the highest score, of equal ones the first listed; -1 where the
            highest score is 0, that of labels not listed included, or nothing is listed: no
            prediction.
        top_score: (n,) its score; 0 without a prediction.
        truths: (n,) rows of all true labels, where samples have sets of them.
        weights: (replicas, units) how often each sample counts; None for one replica, in which
            each counts once.
        noted: Where what metrics ask of the rows is kept, by its name, for whom condenses them.
    """

    sample_ids: NDArray[Any]
    labels: tuple[str, ...]
    keys: tuple[str | None, ...]
    labels_of: tuple[tuple[int, ...], ...]
    unit: Ints
    key: Ints
    truth: Ints
    number: Ints
    scores: Scores
    top: Ints
    top_score: Floats
    truths: SparseScores | None = None
    weights: Ints | None = None
    noted: dict[Hashable, Mergeable] | None = None
    # What was computed already: of the rows, and of the rows with these weights.
    _shared: Memo = field(default_factory=Memo)
    _known: Memo = field(default_factory=Memo)

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.sample_ids)

    @property
    def resampled(self) -> bool:
        """Whether samples are weighted."""
        return self.weights is not None

    @property
    def row_weights(self) -> Floats:
        """(replicas, n) weight of each row: whole numbers."""
        return self.known("row weights", self._row_weights)

    def _row_weights(self) -> Floats:
        if self.weights is None:
            return np.ones((1, len(self.unit)))
        weights = self.weights.astype(np.float64)
        return weights if self._has_row_each else weights[:, self.unit]

    @property
    def _has_row_each(self) -> bool:
        """Whether each sample has one row."""
        return self.once("row each", lambda: np.array_equal(self.unit, np.arange(self.unit_count)))

    def counts(
        self,
        name: Hashable,
        group: NDArray[np.integer[Any]],
        row: NDArray[np.integer[Any]] | None,
        length: int,
    ) -> Ints:
        """(replicas, length) how often each group occurs.

        Args:
            name: Of these groups.
            group: (d,) 0 … length - 1.
            row: (d,) the row that each is in; None for one in each.
            length: How many groups there are.
        """

        def found() -> Ints:
            if self.weights is None:
                return summed(group, None, length)[None]
            rows = np.arange(len(self.unit)) if row is None else row
            return tally_lanes(group, rows, self.lanes, length)[: len(self.weights)]

        return self.known(("counts", name), found)

    @property
    def lanes(self) -> Sequence[Lanes]:
        """Weights of each row, `LANES` replicas at a time."""
        return self.known("lanes", self._lanes)

    def _lanes(self) -> Sequence[Lanes]:
        weights = np.ones((1, self.unit_count), np.int64) if self.weights is None else self.weights
        lanes = lanes_of(weights)
        return lanes if self._has_row_each else [some[self.unit] for some in lanes]

    @property
    def has_sets(self) -> bool:
        """Whether samples have sets of labels."""
        return self.truths is not None

    @property
    def sets(self) -> SparseScores:
        """(n,) rows of all true labels, also where each has one."""
        if self.truths is not None:
            return self.truths
        return self.once("sets", lambda: sets_of_one(self.truth))

    @property
    def true_score(self) -> Floats:
        """(n,) score of the true label, 0 if not listed."""
        return self.once("true score", lambda: self.scores.of(self.truth))

    @property
    def choices(self) -> Ints:
        """(n,) number of labels of each row's key."""
        return choices_of(self.labels_of, self.key)

    @property
    def place(self) -> Ints:
        """(n,) rank of the true label by score, ties in listed order; `UNLISTED` if not listed."""
        return self.once("place", lambda: self.scores.place_of(self.truth, self.choices))

    @property
    def total(self) -> Floats:
        """(n,) sum of the scores."""
        return self.once("total", self.scores.total)

    @property
    def squares(self) -> Floats:
        """(n,) sum of the squares of the scores."""
        return self.once("squares", self.scores.squares)

    def sample_id(self, row: int) -> str:
        """The sample id of a row."""
        name: bytes = self.sample_ids[self.unit[row]]
        return name.decode()

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Compute a value that does not depend on weights, once."""
        return self._shared.once(key, compute)

    def known(self, key: object, compute: Callable[[], T]) -> T:
        """Compute a value that depends on weights, once."""
        return self._known.once(key, compute)

    def tally(self, name: Hashable, make: Callable[[Scored], S]) -> S:
        """Compute a mergeable sum of the rows; condensed evidence returns the stored one.

        It depends on the rows and on the name alone: whoever asks by a name makes the same.
        """
        found = self.known(name, lambda: make(self))
        if self.noted is not None:
            self.noted[name] = found
        return found

    def select(self, units: NDArray[np.bool_]) -> Scored:
        """Select samples."""
        rows = units[self.unit]
        return replace(
            self._rows(rows),
            sample_ids=self.sample_ids[units],
            unit=(np.cumsum(units) - 1)[self.unit[rows]],
            weights=None if self.weights is None else self.weights[:, units],
        )

    def resamples(self, weights: Ints) -> Iterator[Scored]:
        """The evidence whose replica b has sample i weights[b, i] times, some at a time."""
        at_once = max(_WEIGHTS_AT_ONCE // max(self.unit_count, 1) // LANES, 1) * LANES
        for first in range(0, len(weights), at_once):
            yield replace(self, weights=weights[first : first + at_once], _known=Memo())

    def parts(self) -> Sequence[tuple[Mapping[str, Scalar], Scored]]:
        """As `by_key`."""
        if self.keys == (None,) and self.labels_of == (tuple(range(len(self.labels))),):
            return [({}, self)]
        return self.known("parts", self._parts)

    def _parts(self) -> list[tuple[Mapping[str, Scalar], Scored]]:
        found: list[tuple[Mapping[str, Scalar], Scored]] = []
        for key, part in zip(self.keys, self.once("split", self._split), strict=True):
            again = replace(part, weights=self.weights, _known=Memo())
            found.append(({} if key is None else {"label_key": key}, again))
        return found

    def _split(self) -> list[Scored]:
        whole = replace(self, weights=None)
        return [whole.part(at) for at in range(len(self.keys))]

    def part(self, at: int) -> Scored:
        """The rows and labels of one label key, for all samples.

        Args:
            at: The position of the key in `keys`.
        """
        kept = np.array(self.labels_of[at], np.int64)
        codes = np.full(len(self.labels) + 1, -1)
        codes[kept] = np.arange(len(kept))
        rows = self if len(self.keys) == 1 else self._rows(self.key == at)
        return replace(
            rows,
            labels=tuple(self.labels[label] for label in self.labels_of[at]),
            keys=(self.keys[at],),
            labels_of=(tuple(range(len(kept))),),
            key=np.zeros(len(rows.key), np.int64),
            truth=codes[rows.truth],
            scores=rows.scores.relabelled(codes),
            truths=None if rows.truths is None else rows.truths.relabelled(codes),
            top=codes[rows.top],
            _shared=Memo(),
            _known=Memo(),
        )

    def _rows(self, rows: NDArray[np.bool_] | Ints) -> Scored:
        """Some rows, of the same samples."""
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(
            self,
            **columns,
            scores=self.scores.take(rows),
            truths=None if self.truths is None else self.truths.take(rows),
            _shared=Memo(),
            _known=Memo(),
        )


Evidence: TypeAlias = Scored | CondensedScores
"""What metrics read: rows, or what was kept of them. Only rows are sliced and drawn again."""

_COLUMNS = (
    "unit",
    "key",
    "truth",
    "number",
    "top",
    "top_score",
)
"""What `Scored` has of each row, beside the scores."""


def score_samples(dataset: ClassificationDataset, plan: None) -> Scored:
    """Score one shard of samples."""
    best = dataset.scores.best(dataset.choices)
    return Scored(
        sample_ids=dataset.sample_ids,
        labels=dataset.labels,
        keys=dataset.keys,
        labels_of=dataset.labels_of,
        unit=dataset.unit,
        key=dataset.key,
        truth=dataset.truth,
        number=dataset.number,
        scores=dataset.scores,
        truths=dataset.truths,
        top=best.label,
        top_score=best.score,
    )


def condense(evidence: Scored | CondensedScores, calls: Sequence[Call]) -> CondensedScores:
    """Condense a shard to what the calls need; not for resamples.

    Raises:
        ValueError: A call reads rows.
    """
    if isinstance(evidence, CondensedScores):
        return evidence
    if rows := [call.metric.name for call in calls if not call.metric.condensed]:
        raise ValueError(f"reads rows: {', '.join(rows)}")
    tallies: list[Mapping[Hashable, Mergeable]] = []
    for _, part in evidence.parts():
        noted: dict[Hashable, Mergeable] = {}
        noting = replace(part, noted=noted, _known=Memo())
        for call in calls:
            call.findings(noting)
        tallies.append(noted)
    return CondensedScores(
        evidence.labels,
        evidence.keys,
        evidence.labels_of,
        evidence.unit_count,
        tuple(tallies),
        evidence.has_sets,
    )


@overload
def merge_scored(parts: Sequence[Scored]) -> Scored: ...


@overload
def merge_scored(parts: Sequence[Evidence]) -> Evidence: ...


def merge_scored(parts: Sequence[Evidence]) -> Evidence:
    """Merge the evidence of several shards of samples, in any order.

    Raises:
        ValueError: The shards have different labels or keys, are resamples, are condensed for
            different calls, or some are condensed and others are not.
    """
    first = parts[0]
    for one in parts:
        if (one.labels, one.keys, one.labels_of) != (first.labels, first.keys, first.labels_of):
            raise ValueError("shards of one evidence share their labels and their keys")
        if one.resampled:
            raise ValueError("only whole evidence is merged, no resample of it")
    tallied = [one for one in parts if isinstance(one, CondensedScores)]
    if not tallied:
        return _merge_rows([one for one in parts if isinstance(one, Scored)])
    if len(tallied) < len(parts):
        raise ValueError("shards of one evidence are all condensed, or none is")
    return merge_tallied(tallied)


def _merge_rows(parts: Sequence[Scored]) -> Scored:
    first = parts[0]
    if len(parts) == 1:
        return first
    ids = np.concatenate([one.sample_ids for one in parts])
    order = order_of(ids)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    offsets = np.cumsum([0, *(one.unit_count for one in parts[:-1])])
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in parts]) for name in _COLUMNS
    }
    columns["unit"] = place[
        np.concatenate([one.unit + offset for one, offset in zip(parts, offsets, strict=True)])
    ]
    scores = joined_scores([one.scores for one in parts])
    truths = [one.truths for one in parts if one.truths is not None]
    merged = replace(
        first,
        sample_ids=ids[order],
        scores=scores,
        truths=joined_sparse(truths) if truths else None,
        **columns,
        _shared=Memo(),
        _known=Memo(),
    )
    # Numbers ascend with samples, and with the keys of a sample.
    if (np.diff(merged.number) > 0).all():
        return merged
    return merged._rows(np.argsort(merged.number))


def by_key(evidence: Evidence) -> Sequence[tuple[Mapping[str, Scalar], Evidence]]:
    """The rows of each label key; adds `label_key` to the parameters if there are keys."""
    return evidence.parts()


def plan_scoring(calls: Sequence[Call], slices: Sequence[str]) -> None:
    """The evidence plan, which is the same for all metrics."""
