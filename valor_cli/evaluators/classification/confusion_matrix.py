"""Which labels are taken for which others."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import Decisions, Pairs, decide, pairs
from valor_cli.evaluators.classification.plan import MaxExamples, ScoreThreshold
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.kernels.best_of_each import best_of_each
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricExample, MetricTable, ObjectRef

Ints = NDArray[np.int64]

TRUE_POSITIVE: Final = "true_positive"
MISCLASSIFICATION: Final = "misclassification"
UNMATCHED_GROUND_TRUTH: Final = "unmatched_ground_truth"
KINDS: Final = (TRUE_POSITIVE, MISCLASSIFICATION, UNMATCHED_GROUND_TRUTH)

MOST_EXAMPLES: Final = 20_000
"""Examples of all cells together."""


def confusion_matrix(
    scored: Scored,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    max_examples: MaxExamples = 3,
) -> Findings:
    """Ground truths by the label that they were predicted as.

    With `hardmax` a row is in the cell of its top label, if its score is at least its threshold;
    else in that of every label whose score is. A ground truth without any is unmatched. The
    diagonal is the true positives of `counts`; under `hardmax` a label's cells and unmatched ground
    truths add up to its ground truths. Every cell has up to `max_examples` examples, by score, then
    by sample; where all cells would have more than 20,000, errors go before hits, and cells with
    many rows before those with few.
    """
    found = pairs(scored, score_threshold, hardmax=hardmax)
    if not len(scored.truth):
        return Findings()
    examples: list[MetricExample] = []
    if max_examples and scored.weights is None:
        decisions = decide(scored, score_threshold, hardmax=hardmax)
        examples = _examples(scored, decisions, found, max_examples)
    return Findings(tables=[_table(scored, found)], examples=examples)


def _table(scored: Scored, found: Pairs) -> MetricTable:
    count = len(scored.labels)
    # The last column is that of no label.
    matrix = np.zeros((count, count + 1), np.int64)
    matrix[found.truth, found.positive] = found.rows
    return MetricTable(scored.labels, matrix[:, :-1].tolist(), matrix[:, -1].tolist(), [0] * count)


def _examples(scored: Scored, decisions: Decisions, found: Pairs, most: int) -> list[MetricExample]:
    """The best-scored rows of each cell: hits, then errors, then the unmatched."""
    shown = best_of_each(decisions.pair, decisions.score, decisions.row, most)
    pair = decisions.pair[shown]
    kind = np.where(found.positive < 0, 2, (found.truth != found.positive).astype(np.int64))
    if len(shown) > MOST_EXAMPLES:
        order = np.lexsort((pair, -found.rows[pair], kind[pair] == 0))
        kept = np.sort(order[:MOST_EXAMPLES])
        shown, pair = shown[kept], pair[kept]
    order = np.argsort(kind[pair], kind="stable")
    return [
        _example(scored, KINDS[kind], row, label)
        for kind, row, label in zip(
            kind[pair[order]].tolist(),
            decisions.row[shown[order]].tolist(),
            decisions.label[shown[order]].tolist(),
            strict=True,
        )
    ]


def _example(scored: Scored, kind: str, row: int, label: int) -> MetricExample:
    number = int(scored.number[row])
    objects = [ObjectRef("ground_truth", number, kind)]
    if label >= 0:
        predicted = number * scored.label_count + int(scored.label_numbers[label])
        objects.append(ObjectRef("prediction", predicted, kind))
    truth = scored.labels[scored.truth[row]]
    return MetricExample(kind, scored.sample_id(row), truth, tuple(objects))


CONFUSION_MATRIX = Metric(
    name="confusion_matrix",
    compute=confusion_matrix,
    reference="sklearn.metrics.confusion_matrix",
    citation="Stehman, Selecting and interpreting measures of thematic classification accuracy, "
    "Remote Sensing of Environment, 1997",
    table=True,
    aliases=("ConfusionMatrix",),
)
