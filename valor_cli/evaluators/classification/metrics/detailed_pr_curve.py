"""Precision-recall curves with error counts by reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL
from valor_cli.evaluators.classification.evidence.example_objects import Prediction, objects_of
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.evidence.threshold_counts import (
    curves_of,
    highest_scores,
    threshold_counts,
    true_scores,
)
from valor_cli.evaluators.parameters import SCORES, MaxExamples, ScoreThresholds
from valor_cli.kernels.columns.grouping import places_in_runs, ranked, reaching
from valor_cli.kernels.ranking.first_per_group import first_per_group, highest
from valor_cli.kernels.ranking.sparse_scores import RowNumbers
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricExample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TRUE_POSITIVE = "true_positive"
MISCLASSIFICATION = "misclassification"
NO_PREDICTION = "no_prediction"
TRUE_NEGATIVE = "true_negative"

PREFIX: Final = 64
"""Samples among which examples of true negatives are sought first, beside two for each."""


class _Cases(NamedTuple):
    """Examples of one kind, as columns.

    Attributes:
        kind: What they are.
        row: (k,) the sample.
        label: (k,) the label under which it is counted.
        predicted: (k,) the label that is predicted; -1 for none.
        begin, end: (k,) it is one at the thresholds begin … end - 1.
    """

    kind: str
    row: Ints
    label: Ints
    predicted: Ints
    begin: Ints
    end: Ints


def detailed_pr_curve(
    scored: Scored,
    *,
    score_thresholds: ScoreThresholds = SCORES,
    max_examples: MaxExamples = 1,
) -> Findings:
    """True and false positives and negatives by score threshold and reason.

    Every label is a binary problem of its own, as in `pr_curve`. A false positive is a sample of
    another label: a misclassification. A false negative is a misclassification where another label
    passes the threshold, and has no prediction where none does. Each count has up to `max_examples`
    examples at every threshold: by the score of the prediction that passes, where none does by
    sample id. An example says at which `score_thresholds` it is one.

    Formula:
        TP, FN = rows of the label that reach the threshold, that do not
        FP, TN = rows of other labels that reach the threshold for it, that do not
        FN = misclassifications (another label reaches it) + no predictions (none does)

    Pitfalls:
        A rising threshold turns misclassifications into missing predictions by itself: compare
        models at the same one. One row may be a false negative of its label and a false positive of
        several others.

    Example:
        A cat scores cat 0.3, dog 0.6. At 0.2 it is a true positive of cat and a false positive of
        dog, at 0.5 a misclassification on both sides, at 0.7 a cat without prediction.
    """
    levels = np.array(score_thresholds, np.float64)
    counts = threshold_counts(scored, score_thresholds)
    own = true_scores(scored)
    _, best = highest_scores(scored)
    # Where the true label passes, so does the best; else the best is another label.
    answered = reaching(best, scored.truth, levels, len(scored.labels))
    columns = {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "tn": counts.tn,
        "fp_misclassifications": counts.fp,
        "fn_misclassifications": answered - counts.tp,
        "fn_no_predictions": counts.truths - answered,
    }
    cases = _cases(scored, levels, own, best, max_examples) if max_examples else ()
    return Findings(
        curves=curves_of(scored, counts, score_thresholds, columns),
        examples=[one for some in cases for one in _examples(scored, some, score_thresholds)],
    )


def _cases(
    scored: Scored, levels: Floats, own: Floats, best: Floats, most: int
) -> tuple[_Cases, ...]:
    """The examples of every kind."""
    passed, answered = (levels.searchsorted(score, side="right") for score in (own, best))
    wrong, quiet = _negatives(scored, levels, most)
    return (
        _found(scored, passed, most),
        wrong,
        _mistaken(scored, len(levels), passed, answered, most),
        _unanswered(scored, len(levels), answered, most),
        quiet,
    )


def _found(scored: Scored, passed: Ints, most: int) -> _Cases:
    """True positives: the best-scored ones of each label, at every threshold that they pass."""
    rows = np.flatnonzero(passed)
    rows = rows[ranked(scored.truth[rows], scored.true_score[rows], rows)]
    rows = rows[places_in_runs(scored.truth[rows]) < most]
    label = scored.truth[rows]
    return _Cases(TRUE_POSITIVE, rows, label, label, np.zeros_like(rows), passed[rows])


def _mistaken(scored: Scored, levels: int, passed: Ints, answered: Ints, most: int) -> _Cases:
    """False negatives that another label stands for, by its score, from where their own fails."""
    label, score = highest_scores(scored)
    rows = np.flatnonzero(answered > passed)
    rows = rows[ranked(scored.truth[rows], score[rows], rows)]
    # Best score first: where the best no longer pass, neither do those behind them.
    found = first_per_group(scored.truth[rows], passed[rows], levels, most)
    row = rows[found.row]
    end = np.minimum(found.end, answered[row])
    return _Cases(MISCLASSIFICATION, row, scored.truth[row], label[row], found.begin, end)


def _unanswered(scored: Scored, levels: int, answered: Ints, most: int) -> _Cases:
    """False negatives where no label passes, by sample."""
    found = first_per_group(scored.truth, answered, levels, most)
    label = scored.truth[found.row]
    return _Cases(NO_PREDICTION, found.row, label, np.full_like(label, -1), found.begin, found.end)


def _negatives(scored: Scored, levels: Floats, most: int) -> tuple[_Cases, _Cases]:
    """False positives by score, and true negatives by sample, of each label."""
    wrong: list[tuple[RowNumbers, Ints]] = []
    quiet: list[tuple[RowNumbers, Ints]] = []
    for label, (rows, score) in enumerate(scored.scores.by_label(len(scored.labels))):
        others = np.flatnonzero((scored.truth[rows] != label) & (score >= levels[0]))
        first = others[highest(score[others], most)]
        wrong.append((rows[first], levels.searchsorted(score[first], side="right")))
        quiet.append(_quiet(scored.truth, label, rows, score, levels, most))
    return _by_score(wrong), _by_sample(quiet, len(levels), most)


def _by_score(parts: Sequence[tuple[RowNumbers, Ints]]) -> _Cases:
    row, label, end = _columns(parts)
    return _Cases(MISCLASSIFICATION, row, label, label, np.zeros_like(row), end)


def _by_sample(parts: Sequence[tuple[RowNumbers, Ints]], levels: int, most: int) -> _Cases:
    row, label, joins = _columns(parts)
    found = first_per_group(label, joins, levels, most)
    row, label = row[found.row], label[found.row]
    none = np.full_like(row, -1)
    return _Cases(TRUE_NEGATIVE, row, label, none, found.begin, found.end)


def _quiet(
    truth: Ints, label: int, rows: RowNumbers, score: Floats, levels: Floats, most: int
) -> tuple[RowNumbers, Ints]:
    """The first samples of other labels, and how many thresholds each passes.

    They end with the one behind which no other is among the first `most` that stay below any
    threshold: so many stay below all.
    """
    size = PREFIX + 2 * most
    while True:
        size = min(size, len(truth))
        listed = int(rows.searchsorted(size))
        passed = np.zeros(size, np.int64)
        passed[rows[:listed]] = levels.searchsorted(score[:listed], side="right")
        negative = np.flatnonzero(truth[:size] != label)
        below_all = np.flatnonzero(passed[negative] == 0)
        if len(below_all) >= most:
            negative = negative[: below_all[most - 1] + 1]
            return negative, passed[negative]
        if size == len(truth):
            return negative, passed[negative]
        size *= 4


def _columns(parts: Sequence[tuple[RowNumbers, Ints]]) -> tuple[Ints, Ints, Ints]:
    """Rows and something of each, a part a label, as columns: row, label, something."""
    rows, others = zip((np.zeros(0, np.int64),) * 2, *parts, strict=True)
    label = np.repeat(np.arange(len(parts)), [len(row) for row, _ in parts])
    return np.concatenate(rows), label, np.concatenate(others)


def _examples(
    scored: Scored, cases: _Cases, score_thresholds: Sequence[float]
) -> Iterator[MetricExample]:
    score = scored.scores.take(cases.row).of(cases.predicted).tolist()
    columns = np.column_stack(cases[1:]).tolist()
    for (row, label, predicted, begin, end), own in zip(columns, score, strict=True):
        said = None if predicted < 0 else Prediction(scored.labels[predicted], own)
        truth = scored.labels[scored.truth[row]]
        yield MetricExample(
            cases.kind,
            scored.sample_id(row),
            scored.labels[label],
            objects_of(cases.kind, int(scored.number[row]), truth, said),
            at={"score_thresholds": tuple(score_thresholds[begin:end])},
        )


DETAILED_PR_CURVE: Final[Metric[Any]] = Metric(
    name="detailed_pr_curve",
    compute=detailed_pr_curve,
    needs=ONE_LABEL,
    reference="sklearn.metrics.multilabel_confusion_matrix, at each threshold",
    citation="Striveworks Valor, DetailedPrecisionRecallCurve",
    outputs=(),
    draws="curves",
    aliases=("DetailedPrecisionRecallCurve",),
)
