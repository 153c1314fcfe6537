"""What tests of metrics share: evidence of rows as written, also weighed, and values by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.oracles.classification import Row, dataset_of
from valor_cli.evaluators.classification.evidence.scores import Scored, score_samples
from valor_cli.results import Findings, MetricValue

LABELS = ("cat", "dog", "cow", "owl", "fox")


def scored(rows: Sequence[Row], labels: Sequence[str] = LABELS) -> Scored:
    """Evidence in which each row stands once, whatever its weight."""
    return score_samples(dataset_of(rows, labels), None)


def weighed(rows: Sequence[Row], labels: Sequence[str] = LABELS) -> Scored:
    """A resample in which each row stands as often as its weight says."""
    weights = np.array([row.weight for row in rows], np.int64)
    (again,) = scored(rows, labels).resamples(weights[None])
    return again


def repeated(rows: Sequence[Row]) -> list[Row]:
    """Each row as often as its weight says."""
    return [row._replace(weight=1) for row in rows for _ in range(row.weight)]


def plain(rows: Sequence[Row]) -> list[Row]:
    """Each row once."""
    return [row._replace(weight=1) for row in rows]


def by_label(findings: Findings, output: str = "value") -> dict[str | None, float | None]:
    """Values of one output by label; None is all labels together."""
    return {value.label: value.value for value in findings.values if value.output == output}


def reasons(findings: Findings) -> dict[str | None, str | None]:
    """Why values are undefined, or a stand-in, by label."""
    return {value.label: value.undefined for value in findings.values}


def row_of(findings: Findings, label: str | None, output: str = "value") -> MetricValue:
    """The one value of a label."""
    (found,) = [one for one in findings.values if (one.label, one.output) == (label, output)]
    return found


HALF_RIGHT = [
    Row(0, [(0, 0.9), (1, 0.1)]),
    Row(0, [(0, 0.5), (1, 0.5)]),
    Row(0, []),
    Row(1, [(2, 0.7), (1, 0.3)]),
]
"""Truth cat, cat, cat, dog; top label cat, cat, none, cow."""
