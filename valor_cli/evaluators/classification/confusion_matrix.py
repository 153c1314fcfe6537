"""Which labels are taken for which others."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import Decisions, Pairs, decide, pairs
from valor_cli.evaluators.classification.plan import ScoreThreshold
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.evaluators.parameters import MaxExamples
from valor_cli.kernels.best_of_each import best_of_each
from valor_cli.kernels.columns import places_in_runs
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricExample, MetricTable, ObjectRef

Ints = NDArray[np.int64]

TRUE_POSITIVE: Final = "true_positive"
MISCLASSIFICATION: Final = "misclassification"
UNMATCHED_GROUND_TRUTH: Final = "unmatched_ground_truth"
KINDS: Final = (TRUE_POSITIVE, MISCLASSIFICATION, UNMATCHED_GROUND_TRUTH)

MOST_EXAMPLES: Final = 20_000
"""Examples of all cells together."""


MOST_LABELS: Final = 2_000
"""Labels of a table: it has as many cells as their square, of which few could be looked at."""


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
    many rows before those with few. Of more than 2,000 labels there is no table, and no example.
    """
    if not len(scored.truth):
        return Findings()
    if len(scored.labels) > MOST_LABELS:
        return Findings(warnings=[_too_many(len(scored.labels))])
    found = pairs(scored, score_threshold, hardmax=hardmax)
    examples: list[MetricExample] = []
    if max_examples and scored.weights is None:
        decisions = decide(scored, score_threshold, hardmax=hardmax)
        examples = _examples(scored, decisions, found, max_examples)
    return Findings(tables=[_table(scored, found)], examples=examples)


def _too_many(labels: int) -> str:
    return (
        f"{labels:,} labels make a table of {labels**2 / 1e6:,.0f} million cells; left out (at "
        f"most {MOST_LABELS:,} labels: `filter` or merge them by `label_map`)"
    )


def _table(scored: Scored, found: Pairs) -> MetricTable:
    count = len(scored.labels)
    # The last column is that of no label.
    matrix = np.zeros((count, count + 1), np.int64)
    matrix[found.truth, found.positive] = found.rows
    return MetricTable(scored.labels, matrix[:, :-1].tolist(), matrix[:, -1].tolist(), [0] * count)


def _examples(scored: Scored, decisions: Decisions, found: Pairs, most: int) -> list[MetricExample]:
    """The best-scored rows of each cell: hits, then errors, then the unmatched."""
    kind = np.where(found.positive < 0, 2, (found.truth != found.positive).astype(np.int64))
    shown = _shown(decisions, _quotas(found.rows, kind == 0, most), most)
    order = shown[np.argsort(kind[decisions.pair[shown]], kind="stable")]
    return [
        _example(scored, KINDS[kind], row, label)
        for kind, row, label in zip(
            kind[decisions.pair[order]].tolist(),
            decisions.row[order].tolist(),
            decisions.label[order].tolist(),
            strict=True,
        )
    ]


def _quotas(rows: Ints, hit: NDArray[np.bool_], most: int) -> Ints:
    """(p,) how many examples each cell has: errors go before hits, and many rows before few."""
    quotas = np.minimum(rows, most)
    order = np.lexsort((-rows, hit))
    before = np.cumsum(quotas[order]) - quotas[order]
    quotas[order] = np.clip(MOST_EXAMPLES - before, 0, quotas[order])
    return quotas


def _shown(decisions: Decisions, quotas: Ints, most: int) -> Ints:
    """Positions of the best-scored decisions of each cell, cell after cell, as many as it may have.

    Args:
        decisions: All of them.
        quotas: (p,) how many each cell may have.
        most: The highest of those.
    """
    pair, score, row = decisions.pair, decisions.score, decisions.row
    if quotas.all():
        at = best_of_each(pair, score, row, most)
    else:
        # To sort the rows of cells that show none costs more than to leave them out.
        some = np.flatnonzero((quotas > 0)[pair])
        at = some[best_of_each(pair[some], score[some], row[some], most)]
    return at[places_in_runs(pair[at]) < quotas[pair[at]]]


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
