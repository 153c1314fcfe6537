"""Confusion matrices of a run, the most confused pairs, and the lists that cells count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from valor_cli.reports.digests.formatting import clean, parameter, plural, short
from valor_cli.reports.digests.naming import LABEL_KEY, Names
from valor_cli.results import (
    ExampleResult,
    ObjectsResult,
    Parameters,
    RunResult,
    Scalar,
    TableResult,
)
from valor_cli.results.identity import frozen
from valor_cli.results.objects import OUTCOMES

LABELS = 40
"""Rows and columns of labels shown at most."""

OTHERS = -1
"""The place of the labels that are summed up."""

Kind: TypeAlias = Literal["right", "wrong", "mixed"]

Place: TypeAlias = tuple[int | None, int | None]
"""Row and column by the label's position; None for nothing on that side."""


class Pair(Struct, frozen=True):
    """A confused pair of labels: its count, and its share of the ground truth."""

    ground_truth: str
    prediction: str
    count: int
    share: float
    sample_id: str | None
    pixels: bool = False

    @property
    def amount(self) -> str:
        """The count in short form, with its noun."""
        return f"{short(self.count)} px" if self.pixels else f"{self.count:,}×"


class Confusion(Struct, frozen=True):
    """A confusion matrix of a model with the examples of its cells.

    Attributes:
        model: The model's position in the run.
        detail: The parameters that tell it from the model's other tables.
        settings: All its parameters.
        total: Ground truths of each label.
        pixels: Whether it counts pixels.
    """

    table: TableResult
    model: int
    detail: str
    settings: str
    total: Sequence[int]
    examples: Mapping[Place, Sequence[ExampleResult]]

    @property
    def pixels(self) -> bool:
        return self.table.ious is not None


class Entry(Struct, frozen=True):
    """A cell: its count, and its share of the row.

    Several labels summed up hold right and wrong ones: their cell is mixed. Predictions without a
    ground truth may come with their part of the label's predictions as their share.
    """

    count: int
    share: float
    kind: Kind
    iou: float | None = None


class Matrix(Struct, frozen=True):
    """The shown part of a matrix; the last label may sum up the rest.

    The last row are the predictions without a ground truth, the last column the ground truths
    without a prediction.
    """

    labels: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]


def confusions(result: RunResult) -> tuple[Confusion, ...]:
    """The matrices of whole models, in run order."""
    tables = [row for row in result.tables if row.slice is None and row.model in result.models]
    names = Names((row.metric, row.parameters) for row in tables)
    return tuple(
        Confusion(
            table=table,
            model=list(result.models).index(table.model),
            detail=names.detail(table.metric, table.parameters),
            settings=_settings(table.parameters),
            total=[
                sum(row) + alone
                for row, alone in zip(table.matrix, table.unmatched_ground_truths, strict=True)
            ],
            examples=_placed(result.examples, table),
        )
        for table in tables
    )


def first_of_each_key(found: Iterable[Confusion]) -> tuple[Confusion, ...]:
    """One matrix for each model and label key."""
    kept: dict[tuple[int, object], Confusion] = {}
    for one in found:
        kept.setdefault((one.model, one.table.parameters.get(LABEL_KEY)), one)
    return tuple(kept.values())


def most_confused(found: Iterable[Confusion]) -> dict[int, Pair]:
    """By model, the largest off-diagonal count, over all label keys."""
    largest: dict[int, Pair] = {}
    for one in first_of_each_key(found):
        for pair in top_pairs(one, 1):
            if one.model not in largest or pair.count > largest[one.model].count:
                largest[one.model] = pair
    return largest


def lone_sides(found: Iterable[Confusion]) -> tuple[bool, bool]:
    """Whether any matrix has unmatched ground truth, or unmatched predictions."""
    tables = [one.table for one in found]
    return (
        any(any(table.unmatched_ground_truths) for table in tables),
        any(any(table.unmatched_predictions) for table in tables),
    )


def top_pairs(confusion: Confusion, most: int) -> tuple[Pair, ...]:
    """The largest off-diagonal counts, in descending order; for pixels, also unmatched ones."""
    table = confusion.table
    cells = [
        (count, -row, -column)
        for row, counts in enumerate(table.matrix)
        if any(counts)
        for column, count in enumerate(counts)
        if count and row != column
    ]
    if confusion.pixels:
        none = len(table.labels)
        cells += [(n, -row, -none) for row, n in enumerate(table.unmatched_ground_truths) if n]
        cells += [(n, -none, -column) for column, n in enumerate(table.unmatched_predictions) if n]
    return tuple(_pair(confusion, count, -r, -c) for count, r, c in nlargest(most, cells))


def matrix(confusion: Confusion) -> Matrix:
    """The most confused labels, then the most frequent, at most `LABELS`."""
    table = confusion.table
    shown = _shown(table, confusion.total)
    kept = set(shown)
    others = [label for label in range(len(table.labels)) if label not in kept]
    sides: list[int | None] = [*shown, *([OTHERS] if others else []), None]
    rows = []
    for row in sides:
        counts, alone = _line(table, row, others)
        rest = [sum(counts[label] for label in others)] if others else []
        folded = [*(counts[label] for label in shown), *rest, alone]
        rows.append(_entries(folded, row, sides, confusion))
    names = [clean(table.labels[label], 60) for label in shown]
    if others:
        names.append(plural(len(others), "other label"))
    return Matrix(tuple(names), tuple(rows))


def _shown(table: TableResult, total: Sequence[int]) -> list[int]:
    labels = range(len(table.labels))
    if len(labels) <= LABELS:
        return list(labels)
    columns = [sum(column) for column in zip(*table.matrix, strict=True)]
    both = [total[i] - table.unmatched_ground_truths[i] + columns[i] for i in labels]
    off = [both[i] - 2 * table.matrix[i][i] for i in labels]
    busy = [total[i] + columns[i] + table.unmatched_predictions[i] for i in labels]
    return sorted(nlargest(LABELS, labels, key=lambda i: (off[i], busy[i], -i)))


def _line(table: TableResult, row: int | None, others: Sequence[int]) -> tuple[Sequence[int], int]:
    """Counts of a row by label, and its ground truths that nothing met."""
    if row is None:
        return table.unmatched_predictions, 0
    if row != OTHERS:
        return table.matrix[row], table.unmatched_ground_truths[row]
    columns = zip(*(table.matrix[label] for label in others), strict=True)
    return [sum(column) for column in columns], sum(
        table.unmatched_ground_truths[label] for label in others
    )


def _entries(
    counts: Sequence[int],
    row: int | None,
    columns: Sequence[int | None],
    confusion: Confusion,
) -> tuple[Entry, ...]:
    total = sum(counts)
    table = confusion.table
    entries = []
    for count, column in zip(counts, columns, strict=True):
        kind: Kind = "right" if row == column else "wrong"
        if row is None or row == OTHERS or column == OTHERS:
            kind = "wrong" if row != column else "mixed"
        share = _ratio(table, row, column)
        if share is None:
            share = count / total if total else 0.0
        entries.append(Entry(count, share, kind, _iou(table, row, column)))
    return tuple(entries)


def _ratio(table: TableResult, row: int | None, column: int | None) -> float | None:
    """The table's own share of unmatched objects."""
    ratios, label = table.unmatched_ground_truth_ratios, row
    if row is None:
        ratios, label = table.unmatched_prediction_ratios, column
    elif column is not None:
        return None
    return None if ratios is None or label is None or label == OTHERS else ratios[label]


def _iou(table: TableResult, row: int | None, column: int | None) -> float | None:
    if table.ious is None or row is None or column is None or OTHERS in (row, column):
        return None
    return table.ious[row][column]


def _pair(confusion: Confusion, count: int, row: int, column: int) -> Pair:
    labels = [*confusion.table.labels, "no label"]
    total = [*confusion.total, sum(confusion.table.unmatched_predictions)]
    found = confusion.examples.get((row, column), ())
    return Pair(
        clean(labels[row], 60),
        clean(labels[column], 60),
        count,
        count / total[row],
        clean(str(found[0].sample_id), 60) if found else None,
        confusion.pixels,
    )


def _placed(
    examples: Iterable[ExampleResult], table: TableResult
) -> dict[Place, list[ExampleResult]]:
    """The table's examples by the cell that counts them."""
    position = {label: index for index, label in enumerate(table.labels)}
    places: dict[Place, list[ExampleResult]] = {}
    for example in examples:
        if (example.metric, example.model, example.slice) != (table.metric, table.model, None):
            continue
        if not _fits(example.parameters, table.parameters):
            continue
        labels = {thing.role: position.get(thing.label) for thing in example.objects}
        place = labels.get("ground_truth"), labels.get("prediction")
        if place != (None, None):
            places.setdefault(place, []).append(example)
    return places


def _fits(example: Parameters, table: Parameters) -> bool:
    """Whether an example belongs to the table; one that lists several settings to each of them."""
    for name, value in table.items():
        several = example.get(f"{name}s")
        if name in example:
            if frozen({name: example[name]}) != frozen({name: value}):
                return False
        elif isinstance(several, Sequence) and value not in several:
            return False
    return True


def _settings(parameters: Parameters) -> str:
    shown = {name: value for name, value in parameters.items() if not isinstance(value, list)}
    shown.pop("max_examples", None)  # changes no count
    return ", ".join(f"{clean(name, 40)}={parameter(value)}" for name, value in shown.items())


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
    pairs = Counter(labels_of_samples(result, model)[1])

    def lists(truth: Name, predicted: Name) -> Iterator[tuple[Filters, int]]:
        if truth is not None and predicted is not None:
            yield {"truth": truth, "predicted": predicted}, pairs[truth, predicted]

    return lists


def labels_of_samples(
    result: RunResult, model: str
) -> tuple[Sequence[Scalar], Iterable[tuple[str | None, str | None]]]:
    """Ids of the samples of a model, and the right and the predicted label of each.

    There are none where neither texts say so, nor details of a classification by a language model.
    """
    (truth, predicted), details = _LABELS
    for one in result.texts:
        if one.model == model and {truth, predicted} <= {*one.columns}:
            return one.sample_ids, zip(one.columns[truth], one.columns[predicted], strict=True)
    for each in result.samples:
        if each.model == model and each.details and {*details} <= {*(each.details[0] or ())}:
            return each.sample_ids, (_in_details(own or {}, *details) for own in each.details)
    return (), ()


def _in_details(
    own: Mapping[str, Any], truth: str, predicted: str
) -> tuple[str | None, str | None]:
    right, said = own.get(truth), own.get(predicted)
    texts = isinstance(right, str | None) and isinstance(said, str | None)
    return (right, said) if texts else (None, None)


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
