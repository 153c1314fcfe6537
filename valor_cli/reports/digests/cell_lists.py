"""The lists of samples or objects that the cells of a confusion matrix count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from valor_cli.reports.digests.confusion import Confusion
from valor_cli.results import ObjectsResult, RunResult
from valor_cli.results.objects import OUTCOMES

Name = str | None
Filters = Mapping[str, Any]
Lists = Callable[[Name, Name], Iterable[tuple[Filters, int]]]
"""From the labels of a cell to lists that it may count, with the length of each."""

_LABELS: Final = (("ground_truth", "prediction"), ("expected", "predicted"))
"""What texts of classifications, and details of those by language models, call both labels."""

_WRONG: Final = OUTCOMES[1 : OUTCOMES.index("ignored")]


def cell_lists(confusion: Confusion, result: RunResult) -> Callable[[Name, Name], Filters | None]:
    """From the labels of a cell to the filters of a list that is as long as it counts.

    None where there is no such list: the matrix matches detections with ground truths of other
    labels one to one, the explorer says what each detection is nearest to.
    """
    table = confusion.table
    number = {label: at for at, label in enumerate(table.labels)}
    objects = next((one for one in result.objects if one.model == table.model), None)
    threshold = table.parameters.get("score_threshold")
    lists: Lists
    if objects is None:
        lists = _of_samples(result, table.model)
    elif isinstance(threshold, int | float):
        lists = _of_objects(objects, threshold)
    else:
        return lambda truth, predicted: None

    def found(truth: Name, predicted: Name) -> Filters | None:
        if truth is None:
            count = 0 if predicted is None else table.unmatched_predictions[number[predicted]]
        elif predicted is None:
            count = table.unmatched_ground_truths[number[truth]]
        else:
            count = table.matrix[number[truth]][number[predicted]]
        return next((what for what, size in lists(truth, predicted) if size == count), None)

    return found


def _of_samples(result: RunResult, model: str) -> Lists:
    pairs = Counter(_pairs(result, model))

    def lists(truth: Name, predicted: Name) -> Iterator[tuple[Filters, int]]:
        if truth is not None and predicted is not None:
            yield {"truth": truth, "predicted": predicted}, pairs[truth, predicted]

    return lists


def _pairs(result: RunResult, model: str) -> Iterator[tuple[Any, Any]]:
    """The right and the predicted label of each sample."""
    (truth, predicted), details = _LABELS
    for one in result.texts:
        if one.model == model and {truth, predicted} <= {*one.columns}:
            return zip(one.columns[truth], one.columns[predicted], strict=True)
    for each in result.samples:
        if each.model == model and each.details and {*details} <= {*(each.details[0] or ())}:
            return (tuple(map(own.get, details)) for own in each.details if own)  # type: ignore[misc]
    return iter(())


def _of_objects(one: ObjectsResult, threshold: float) -> Lists:
    """Lists of a detection run at a score threshold."""
    kept = np.asarray(one.scores) >= threshold
    labels, outcomes = np.asarray(one.detected), np.asarray(one.outcomes)
    kinds = {
        name: np.bincount(labels[kept & (outcomes == code)], minlength=len(one.labels))
        for code, name in enumerate(OUTCOMES)
    }
    missed = ~np.asarray(one.gt_ignored)
    missed[one.matched[kept & (outcomes == 0)]] = False
    missing = np.bincount(np.asarray(one.gt_labels)[missed], minlength=len(one.labels))
    confused = kept & (outcomes == 1) & (np.asarray(one.nearest) >= 0)
    truths = np.asarray(one.gt_labels)[np.asarray(one.nearest)[confused]]
    pairs = Counter(zip(truths.tolist(), labels[confused].tolist(), strict=True))
    number = {label: at for at, label in enumerate(one.labels)}

    def lists(truth: Name, predicted: Name) -> Iterator[tuple[Filters, int]]:
        if truth is None:
            at = number.get(predicted or "", -1)
            for names in (_WRONG, _WRONG[1:]):  # those of a wrong label may be in other cells
                size = sum(int(kinds[name][at]) for name in names)
                asked = "fp" if names == _WRONG else names
                yield {"label": predicted, "outcome": asked}, size
        elif predicted is None:
            yield {"label": truth, "outcome": "fn"}, int(missing[number.get(truth, -1)])
        elif truth == predicted:
            size = int(kinds[OUTCOMES[0]][number.get(truth, -1)])
            yield {"label": truth, "outcome": "tp"}, size
        else:
            size = pairs[number.get(truth, -1), number.get(predicted, -1)]
            yield {"truth": truth, "predicted": predicted}, size

    return lambda truth, predicted: (
        ({**what, "threshold": threshold}, size) for what, size in lists(truth, predicted)
    )
