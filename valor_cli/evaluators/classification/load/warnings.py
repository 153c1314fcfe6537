"""Collect warnings about valid but suspicious rows.

The remarks of several sets of rows are joined to those of all, in the order of sample ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from valor_cli.errors import printable
from valor_cli.evaluators.classification.evidence.probabilities import sums_to_one
from valor_cli.evaluators.id_mismatch import SHOWN, few
from valor_cli.kernels.ranking.scores import DenseScores, Scores

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

LONGEST = 120
"""Characters of an id that a message shows."""


class Tally(Struct, frozen=True):
    """A few of many rows, with their count.

    Attributes:
        count: How many.
        whole: Of how many.
        first: Sample ids of the first ones, one more than messages show, as these show them.
    """

    count: int = 0
    whole: int = 0
    first: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Flags, ids: NDArray[Any]) -> Tally:
        """The flagged rows; `ids` are the sample ids of all rows, ascending."""
        first = np.flatnonzero(rows)[: SHOWN + 1]
        return cls(int(np.count_nonzero(rows)), len(rows), tuple(shown_ids(ids, first)))

    @classmethod
    def joined(cls, parts: Sequence[Tally]) -> Tally:
        """Join tallies whose ids ascend."""
        first = tuple(name for part in parts for name in part.first)
        return cls(
            sum(part.count for part in parts),
            sum(part.whole for part in parts),
            first[: SHOWN + 1],
        )

    def text(self, whole: str = "") -> str:
        """The count and the first ids: "4 of 9 rows ('a', 'b', 'c' …)".

        Args:
            whole: Of what they are a part: " of 9 rows".
        """
        return f"{self.count:,}{whole} ({few(self.first)})"


class OutOfRange(NamedTuple):
    """Scores outside 0..1.

    Attributes:
        low, high: The lowest and the highest score, and 0.
        below, above: How many are below 0, and above 1.
    """

    low: float = 0.0
    high: float = 0.0
    below: int = 0
    above: int = 0

    @classmethod
    def of(cls, score: NDArray[np.float64]) -> OutOfRange:
        """The scores outside 0..1."""
        low, high = float(score.min(initial=0.0)), float(score.max(initial=0.0))
        if low >= 0 and high <= 1:
            return cls(low, high)
        return cls(low, high, int((score < 0).sum()), int((score > 1).sum()))

    @classmethod
    def joined(cls, parts: Sequence[OutOfRange]) -> OutOfRange:
        """Join counts of several parts."""
        low, high, below, above = zip(*parts, strict=True)
        return cls(min(low), max(high), sum(below), sum(above))


NO_ROWS: Final = Tally()
NOTHING: Final[Mapping[str, int]] = {}
EVERY_INSIDE: Final = OutOfRange()


class ScoreRemarks(NamedTuple):
    """Remarks on the scores of a model.

    Attributes:
        missing: Rows that its file does not have.
        unknown: Rows of its file whose sample the ground truth does not have.
        unknown_of: How many of those each of its files has.
        tied: Rows whose highest score several labels share.
        empty: Rows of the file that predict nothing.
        out_of_range: Scores that are not from 0 to 1: of probabilities, before they were clipped.
        sums: Rows whose scores do not sum to 1 as probabilities do.
        first_sum: The sum of the first of these.
        several: Whether samples have sets of labels.
    """

    missing: Tally = NO_ROWS
    unknown: Tally = NO_ROWS
    unknown_of: Mapping[str, int] = NOTHING
    tied: int = 0
    empty: int = 0
    out_of_range: OutOfRange = EVERY_INSIDE
    sums: Tally = NO_ROWS
    first_sum: float = 0.0
    several: bool = False

    @classmethod
    def joined(cls, parts: Sequence[ScoreRemarks]) -> ScoreRemarks:
        """Join remarks whose ids ascend."""
        return cls(
            missing=Tally.joined([part.missing for part in parts]),
            unknown=Tally.joined([part.unknown for part in parts]),
            unknown_of=_added([part.unknown_of for part in parts]),
            tied=sum(part.tied for part in parts),
            empty=sum(part.empty for part in parts),
            out_of_range=OutOfRange.joined([part.out_of_range for part in parts]),
            sums=Tally.joined([part.sums for part in parts]),
            first_sum=next((part.first_sum for part in parts if part.sums.count), 0.0),
            several=parts[0].several,
        )

    def of_rows(self, model: str) -> list[str]:
        """Warnings about rows on one side only."""
        if not self.missing.count:
            return []
        count = self.missing.text()
        counted = "no label" if self.several else "wrong"
        return [f"samples without a prediction of {model}, counted as {counted}: {count}"]

    def of_scores(self, model: str, *, probabilities: bool) -> list[str]:
        """Warnings about ties, empty rows and scores that have no effect.

        Args:
            model: Its name.
            probabilities: Whether scores are held to be in 0..1; those just outside were clipped.
        """
        warnings = []
        if self.tied:
            warnings.append(
                f"rows of {model} with several labels at the highest score, of which the first "
                f"listed counts: {self.tied:,}"
            )
        if self.empty:
            warnings.append(
                f"rows of {model} that predict nothing (no label, or a highest score of 0, which "
                f"labels not listed have), counted as wrong: {self.empty:,}"
            )
        warnings += self._outside(model, clipped=probabilities)
        return warnings + self._sums(model)

    def _outside(self, model: str, *, clipped: bool) -> list[str]:
        low, high, below, above = self.out_of_range
        if not below + above:
            return []
        count = f"{below + above:,} (from {low:.7g} to {high:.7g})"
        if clipped:
            return [f"probabilities of {model} just outside 0..1, clipped to 0 and 1: {count}"]
        warning = f"scores of {model} outside 0..1: {count}"
        if below:
            warning += f"; those below 0, {below:,}, are never positive at score_threshold 0"
        return [warning]

    def _sums(self, model: str) -> list[str]:
        if not self.sums.count:
            return []
        warning = (
            f"rows of {model} whose scores do not sum to 1 as probabilities do: "
            f"{self.sums.count:,} (the first: {self.sums.first[0]}, which sums to "
            f"{self.first_sum:g}); log_loss, brier_score and expected_calibration_error take "
            "them as they are unless `normalize: true` divides each row by its sum"
        )
        return [warning]


class DataWarnings(Struct, frozen=True):
    """Remarks on some samples, and which labels their rows use.

    Attributes:
        keys: Names of the label keys.
        true: (keys, labels of the run) whether a row of that key has the label.
        listed, positive: By model, whether one lists it, and gives it a score above 0.
        absent: Samples that not every file has.
        differing: By metadata column, samples whose rows have several values.
        models: Of each model.
    """

    keys: tuple[str | None, ...]
    true: Flags
    listed: Mapping[str, Flags]
    positive: Mapping[str, Flags]
    absent: Tally = NO_ROWS
    differing: Mapping[str, Tally] = field(default_factory=dict)
    models: Mapping[str, ScoreRemarks] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[DataWarnings]) -> DataWarnings:
        """Join remarks whose ids ascend."""
        first = parts[0]
        return cls(
            keys=first.keys,
            true=np.logical_or.reduce([part.true for part in parts]),
            listed=_any_of([part.listed for part in parts]),
            positive=_any_of([part.positive for part in parts]),
            absent=Tally.joined([part.absent for part in parts]),
            differing={
                name: Tally.joined([part.differing[name] for part in parts])
                for name in first.differing
            },
            models={
                model: ScoreRemarks.joined([part.models[model] for part in parts])
                for model in first.models
            },
        )

    @property
    def used(self) -> Flags:
        """(keys, labels) whether any row uses the label, on either side."""
        return np.asarray(np.logical_or.reduce([self.true, *self.listed.values()]))

    def foreign(self, model: str, labels: Sequence[str]) -> list[str]:
        """A warning where a model lists no label of the ground truth.

        Args:
            model: Its name.
            labels: Those of the run.
        """
        true = np.asarray(self.true.any(0))
        listed = np.asarray(self.listed[model].any(0))
        # A few samples of one label may all be taken for another.
        if not listed.any() or true.sum() < 2 or (true & listed).any():
            return []
        warning = (
            f"no label that {model} predicts is in the ground truth: predicted "
            f"{_some_labels(labels, listed)}; in the ground truth {_some_labels(labels, true)}; "
            "`label_map` maps the labels of one file to those of the other"
        )
        return [warning]


def _added(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            sums[name] = sums.get(name, 0) + count
    return sums


def _some_labels(labels: Sequence[str], used: Flags) -> str:
    """The first labels that are used, for a message."""
    at = np.flatnonzero(used)[: SHOWN + 1].tolist()
    return few([printable(repr(labels[one][:LONGEST])) for one in at])


def _any_of(parts: Sequence[Mapping[str, Flags]]) -> dict[str, Flags]:
    return {name: np.logical_or.reduce([part[name] for part in parts]) for name in parts[0]}


def score_remarks(
    scores: Scores,
    choices: Ints,
    missing: Flags,
    ids: NDArray[Any],
    *,
    probabilities: bool,
    several: bool = False,
) -> ScoreRemarks:
    """Collect remarks on the scores of a model.

    A row that lists some labels alone may sum to less than 1: the rest lies on the others.

    Args:
        scores: (n,) rows.
        choices: (n,) how many labels there are for a row to list.
        missing: (n,) the rows that the file does not have.
        ids: (n,) sample ids, ascending.
        probabilities: Whether scores are held to be probabilities.
        several: Whether samples have sets of labels: equal scores, or none, say nothing then.
    """
    if several:
        found = ScoreRemarks(missing=Tally.of(missing, ids), several=True)
        return found._replace(out_of_range=OutOfRange.of(scores.score))
    best = scores.best(choices)
    remarks = ScoreRemarks(
        missing=Tally.of(missing, ids),
        tied=int(best.tied.sum()),
        empty=int(((best.label < 0) & ~missing).sum()),
    )
    if not probabilities:
        return remarks._replace(out_of_range=OutOfRange.of(scores.score))
    total = scores.total()
    length = len(scores.label) if isinstance(scores, DenseScores) else np.diff(scores.start)
    off = (total != 0) & ~sums_to_one(total) & ((total > 1) | (length >= choices))
    if not off.any():
        return remarks
    return remarks._replace(sums=Tally.of(off, ids), first_sum=float(total[np.argmax(off)]))


def shown_ids(ids: NDArray[Any], rows: Sequence[int] | Ints) -> list[str]:
    """A few sample ids, for a message; long ids are shortened."""
    texts = [one.decode() for one in ids[np.asarray(rows, np.int64)].tolist()]
    shown = [one if len(one) <= LONGEST else f"{one[: LONGEST - 1]}…" for one in texts]
    return [printable(repr(one)) for one in shown]
