"""Evidence of classification: what each sample is, and how a model scores the labels for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.classification import ClassificationDataset
from valor_cli.kernels.scores import Scores
from valor_cli.metric import Call
from valor_cli.results import Scalar

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows of a data set, read once.

    Metrics get the rows of one label key (`parts`); rows stand in the order of their samples.

    Attributes:
        sample_ids: (units,) as in `ClassificationDataset`.
        labels: Names; those of one key alone in a part of the evidence.
        keys: Names of the label keys; one in a part.
        labels_of: By key, the labels (numbers) of its rows.
        unit: (n,) the sample of each row, ascending.
        key: (n,) the key of each row.
        truth: (n,) its true label.
        number: (n,) its row in the whole dataset (with the labels there: see `label_numbers`).
        scores: (n,) rows of what the model says.
        top: (n,) the label with the highest score, of equal ones the first listed; -1 where the
            highest score is 0 or nothing is listed: no prediction.
        top_score: (n,) its score; 0 without a prediction.
        tied: (n,) whether another label has the same score.
        true_score: (n,) the score of the true label, 0 where it is not listed.
        place: (n,) how many labels stand before the true label by score, of equal ones in the
            order listed; `UNLISTED` where it is not listed.
        total: (n,) sum of the scores.
        squares: (n,) sum of their squares.
        label_numbers: (labels,) of each label, its number in the whole dataset.
        label_count: How many labels the whole dataset has: an `ObjectRef` to a prediction has the
            number `number[row] * label_count + label_numbers[label]`, to a ground truth
            `number[row]`.
        weights: (replicas, units) how often each sample counts; None for once each.
        replica: The row of `weights` that metrics read.
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
    tied: NDArray[np.bool_]
    true_score: Floats
    place: Ints
    total: Floats
    squares: Floats
    label_numbers: Ints
    label_count: int
    weights: Ints | None = None
    replica: int = 0
    # What was computed already: of the rows, and of the rows with these weights.
    _shared: dict[object, Any] = field(default_factory=dict, repr=False)
    _known: dict[object, Any] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Other processes get the evidence, not what was computed from it here."""
        names = [one.name for one in fields(self) if not one.name.startswith("_")]
        return Scored, tuple(getattr(self, name) for name in names)

    @property
    def unit_count(self) -> int:
        """How many samples there are."""
        return len(self.sample_ids)

    @property
    def row_weights(self) -> Ints | None:
        """(n,) how often each row counts in this replica; None for once each."""
        return None if self.weights is None else self.weights[self.replica][self.unit]

    def sample_id(self, row: int) -> str:
        """The id of a row's sample."""
        name: bytes = self.sample_ids[self.unit[row]]
        return name.decode()

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """What `compute` finds of the rows, whatever their weights; found once."""
        if key not in self._shared:
            self._shared[key] = compute()
        found: T = self._shared[key]
        return found

    def select(self, units: NDArray[np.bool_]) -> Scored:
        """The evidence of those samples alone."""
        raise NotImplementedError

    def resamples(self, weights: Ints) -> Iterator[Scored]:
        """The evidence in which sample i stands weights[b, i] times, for each b."""
        for replica in range(len(weights)):
            yield replace(self, weights=weights, replica=replica, _known={})


def score_samples(dataset: ClassificationDataset, plan: None) -> Scored:
    """Evidence of one shard of samples."""
    raise NotImplementedError


def merge_scored(parts: Sequence[Scored]) -> Scored:
    """The evidence of several shards of samples together, in any order."""
    raise NotImplementedError


def by_key(scored: Scored) -> Sequence[tuple[Mapping[str, Scalar], Scored]]:
    """The rows of each label key, which adds `label_key` to the parameters where there are keys."""
    raise NotImplementedError


def plan_scoring(calls: Sequence[Call], slices: Sequence[str]) -> None:
    """All metrics read the same of a data set."""
