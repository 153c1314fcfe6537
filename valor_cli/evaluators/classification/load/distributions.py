"""Count the rows whose scores are a probability distribution over several labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.scores.layout import probable
from valor_cli.evaluators.classification.evidence.probabilities import PROBABILITIES, sums_to_one
from valor_cli.kernels.ranking.scores import DenseScores, Scores
from valor_cli.metric import Selection


class Distributions(NamedTuple):
    """How many rows of a model's file are probability distributions.

    Attributes:
        predicted: Rows that predict something: with a score other than 0.
        distributions: Of these, rows with scores of several labels, each 0 to 1, that sum to 1.
    """

    predicted: int = 0
    distributions: int = 0

    @classmethod
    def of(cls, scores: Scores | None) -> Distributions:
        """The rows of a file, or of a piece of one."""
        if scores is None:
            return cls()
        total = scores.total()
        predicted, fitting = total != 0, sums_to_one(total)
        fitting &= (
            len(scores.label) > 1 if isinstance(scores, DenseScores) else np.diff(scores.start) > 1
        )
        ends = np.array([scores.score.min(initial=0.0), scores.score.max(initial=0.0)])
        if not probable(ends).all():
            inside = probable(scores.score)
            if isinstance(scores, DenseScores):
                predicted |= scores.score.any(axis=1)
                fitting &= inside.all(axis=1)
            else:
                predicted[scores.row[scores.score != 0]] = True
                fitting[scores.row[~inside]] = False
        return cls(int(np.count_nonzero(predicted)), int(np.count_nonzero(fitting)))

    @classmethod
    def joined(cls, parts: Sequence[Distributions]) -> Distributions:
        """The rows of all parts."""
        predicted, fitting = zip(*parts, strict=True)
        return cls(sum(predicted), sum(fitting))


def checked_selection(
    selection: Selection, models: Mapping[str, Distributions]
) -> tuple[Selection, Mapping[str, str]]:
    """The selection without the need for probabilities that only defaults have and rows do not
    meet; and `Loaded.unfit`.

    Where no row of any model is a distribution, the scores are simply no probabilities, and there
    is nothing to report.

    Args:
        selection: What is wanted; `wants_distributions` of it holds.
        models: By model, the rows of its file.
    """
    others = [
        f"{one.predicted - one.distributions:,} of {one.predicted:,} rows of {model}"
        for model, one in models.items()
        if one.distributions < one.predicted
    ]
    some = any(one.distributions for one in models.values())
    if some and not others:
        return selection, {}
    reason = f"{' and '.join(others)} are not scores of several labels that sum to 1, each 0 to 1"
    lesser = replace(selection, needs=selection.needs - {PROBABILITIES})
    return lesser, {PROBABILITIES: reason if some else ""}


def wants_distributions(selection: Selection) -> bool:
    """Whether only default metrics need probabilities: for them rows must be distributions."""
    return PROBABILITIES in selection.wanted
