"""Counts of each label for own metrics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import label_counts, pairs
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.metric import EvidenceCounts


def counted(
    evidence: Evidence, *, score_threshold: ScoreThreshold = 0.0, hardmax: bool = True
) -> Iterator[EvidenceCounts]:
    """Counts of samples in each replica, as `counts` and `confusion_matrix` have them."""
    labels = tuple(evidence.labels)
    found = label_counts(evidence, score_threshold, hardmax=hardmax)
    cells = pairs(evidence, score_threshold, hardmax=True) if hardmax else None
    for at, (tp, fp, fn) in enumerate(zip(found.tp, found.fp, found.fn, strict=True)):
        matrix = None
        if cells is not None:
            # The last column is that of no label.
            matrix = np.zeros((len(labels), len(labels) + 1), np.int64)
            matrix[cells.truth, cells.positive] = cells.rows[at]
            matrix = matrix[:, :-1]
        yield EvidenceCounts(labels, tp, fp, fn, matrix)
