"""Detect which columns hold predictions: one per class, or label and score pairs.

Column names decide, in this order: `classes:` of the config; numbered pairs (pred0, score0, pred1,
…); a prediction column, optionally with a score; otherwise every other column is a class: all of
them in a file of predictions, the numeric ones in a file of samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from valor_cli.data.column_names import listed, missing_columns
from valor_cli.data.shapes.scores.rows import ScoreHeader
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreReading, Side
from valor_cli.errors import DataError, Problem

Classes: TypeAlias = tuple[tuple[str, int], ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]

_NUMBERED: Final = re.compile(r"(.*?)[ _.-]?([0-9]{1,9})")
_PREDICTIONS: Final = ("prediction", *ALIASES["prediction"], "label", "class", "top")
_SCORES: Final = ("score", *ALIASES["score"])
_NAMELESS: Final = re.compile(r"(Unnamed: [0-9]+)?")
"""A column without a name, and what pandas calls it: the numbers of the rows."""

NAME_CLASSES: Final = "; name the columns that are classes under `data: classes:`"
_HINT = "Name the columns that are classes under `data: classes:`."
_FORMS = (
    "a column 'prediction' (or {}), pairs of columns (prediction_1, score_1, …) or one column "
    "for each class"
).format(", ".join(ALIASES["prediction"]))


class Columns(NamedTuple):
    """The columns of a file.

    Attributes:
        place: The file, or its first line, for messages.
        names: As in the file, in order.
        first: The fields of the first row; empty without rows.
        found: Standard name to position, of all that have one.
        side: What the file holds.
        reading: What the config says of columns.
    """

    place: str
    names: Sequence[str]
    first: Sequence[str]
    found: Mapping[str, int]
    side: Side
    reading: ScoreReading

    def fault(self, message: str, hint: str = "") -> DataError:
        """An error about the columns."""
        return DataError(Problem(self.place, message), hint=hint)


def form_of(columns: Columns) -> tuple[Classes, Pairs]:
    """The class columns, or the label and score pairs; one of them is empty.

    Raises:
        DataError: There are neither; a named class, or one half of a pair, is missing; a column
            may be a class or the score of one.
    """
    names, named = columns.names, columns.reading.classes
    pairs = _numbered_pairs(columns)
    if not pairs and "prediction" in columns.found:
        pairs = ((columns.found["prediction"], columns.found.get("score", -1)),)
    if named and (not pairs or all(name in names for name in named)):
        wanted = dict.fromkeys(named, "for this class")
        if problems := missing_columns(wanted, names, columns.place):
            raise DataError(problems)
        return tuple((name, names.index(name)) for name in named), ()
    if pairs:
        return (), pairs
    classes = other_columns(columns)
    if not classes or "score" in columns.found:
        message = f"there are no predictions: expected {_FORMS}; there is: {listed(names)}"
        if not classes and columns.side == "predictions" and "label" in columns.found:
            label = names[columns.found["label"]]
            said = f"`columns: {{prediction: {label}}}`"
            message += f"; if {label} is what the model says, write {said} under `data:`"
        elif classes:
            score = names[columns.found["score"]]
            message += f"; {score} is a class, or the score of a label that no column names"
        raise columns.fault(message, _HINT)
    return classes, ()


def _numbered_pairs(columns: Columns) -> Pairs:
    """Positions of pred0 and score0, pred1 and score1 …, by number; none without a whole pair."""
    halves: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for position, name in enumerate(columns.names):
        found = _NUMBERED.fullmatch(name.casefold())
        for half, words in zip(halves, (_PREDICTIONS, _SCORES), strict=True):
            if found and found[1] in words and name not in columns.reading.metadata:
                half.setdefault(int(found[2]), position)
    labels, scores = halves
    if not labels.keys() & scores.keys():
        return ()
    for here, there, other in ((labels, scores, "score"), (scores, labels, "predicted label")):
        if alone := sorted(here.keys() - there.keys()):
            name = columns.names[here[alone[0]]]
            message = f"there is no {other} for {name}; there is: {listed(columns.names)}"
            raise columns.fault(message)
    return tuple((labels[number], scores[number]) for number in sorted(labels))


def other_columns(columns: Columns) -> Classes:
    """The columns with no other meaning, in order."""
    read = ["sample_id", "label", "label_key", "score"]
    taken = {columns.found[name] for name in read if name in columns.found}
    return tuple(
        (name, position)
        for position, name in enumerate(columns.names)
        if position not in taken
        and name not in columns.reading.metadata
        and not _NAMELESS.fullmatch(name)
        and (columns.side == "predictions" or _is_number(columns.first[position : position + 1]))
    )


def _is_number(cells: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(cell)) for cell in cells) and bool(cells)
    except ValueError:
        return False


def unread_columns(header: ScoreHeader, reading: ScoreReading) -> list[str]:
    """Columns that look like classes but are not listed in the config."""
    if not reading.classes or not header.classes:
        return []
    read = {header.sample_id, header.truth, header.key, *(at for _, at in header.classes)}
    others = {"", *ALIASES, *chain.from_iterable(ALIASES.values())}
    return [
        name
        for position, name in enumerate(header.names)
        if position not in read and name not in header.metadata and name.casefold() not in others
    ]


def unread_column_warnings(
    path: str, side: Side, columns: Sequence[str], labels: Collection[str]
) -> list[str]:
    """Warnings about columns that look like classes but are not read as such."""
    seen = set(labels)
    left = [name for name in columns if side == "predictions" or name in seen]
    message = f"{path}: columns that are not among `classes` are not read: {listed(left)}"
    return [message] * bool(left)
