"""Find what the columns, or the keys, of labels and scores mean.

Column names decide what predictions are, in this order: `classes:` of the config; numbered pairs
(pred0, score0, pred1, …); a prediction column, optionally with a score; otherwise every other
column is a class: all of them in a file of predictions, the numeric ones in a file of samples.
JSON has them under keys of their own, or by these rules where no row of the first lines has any.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.batch import Kind, RowFile
from valor_cli.data.column_names import (
    COLUMNS_HINT,
    duplicate_columns,
    indicator_in,
    listed,
    missing_columns,
    missing_fields,
)
from valor_cli.data.json_records import json_cell
from valor_cli.data.schema import Path, cell_of, dotted, mapped_columns
from valor_cli.data.shapes.scores.schema import ALIASES, CLASSES_HINT, SCHEMA
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.shapes.scores.typed import check_types, lists_predictions
from valor_cli.errors import DataError, Problem

PROBABLE: Final = (-1e-3, 1 + 1e-3)
"""Where the score of a label may lie as a probability: from 0 to 1, but for rounding."""

INNER: Final = "metadata"
"""The key of an object of metadata."""

_NUMBERED: Final = re.compile(r"(.*?)[ _.-]?([0-9]{1,9})")
_PREDICTIONS: Final = ("prediction", *ALIASES["prediction"], "label", "class", "top")
_SCORES: Final = ("score", *ALIASES["score"])
_NAMELESS: Final = re.compile(r"(Unnamed: [0-9]+|__index_level_[0-9]+__)?")
"""A column without a name, and what pandas calls it: the numbers of the rows."""

_READ: Final[Mapping[Side, tuple[str, ...]]] = {
    "ground_truth": ("sample_id", "label", "label_key"),
    "predictions": ("sample_id", "prediction", "predictions", "score", "label_key"),
    "samples": ("sample_id", "label", "prediction", "predictions", "score", "label_key"),
}
"""The columns that are read of each side."""

NAME_CLASSES: Final = "; name the columns that are classes under `data: classes:`"
_FORMS: Final = (
    "a column 'prediction' (or {}), pairs of columns (prediction_1, score_1, …) or one column "
    "for each class"
).format(", ".join(ALIASES["prediction"]))
_MAP_HINT: Final = COLUMNS_HINT % "label"
_INDICATED_HINT: Final = (
    " If each label has a column of 0 and 1, write `multi_label: true` under `data:`."
)
_NUMBERS: Final[Sequence[Kind]] = ("whole", "decimal", "float")
_NO_HEADER: Final = "The first line must name the columns. " + _MAP_HINT


def probable(score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which scores are probabilities, up to rounding."""
    low, high = PROBABLE
    return np.asarray((score >= low) & (score <= high))


Pairs: TypeAlias = tuple[tuple[Path, Path], ...]


class ScoreLayout(Struct, frozen=True):
    """Where rows have what.

    Attributes:
        reading: How the file is read.
        fixed: The ways to each field in a table; None where rows have keys of their own.
        listed: Whether rows hold all predictions under a name, or may.
        classes: The classes in an order that means something.
        metadata: Names of metadata to read.
        wide: Whether a row has a score under the name of each class.
        indicated: Whether these are no scores: 1 or true where the sample has the label, else 0 or
            false.
        pairs: The ways to predicted labels and their scores (empty for none, which means 1).
        long: Whether a row is one label of a sample, so that a sample may have several rows.
        others: All keys that a row with a score for each class may have; None for any.
        unread: Names that may be classes, and are not among those of the config.
        there: Names that the first row has, where rows need not have all metadata.
    """

    reading: ScoreReading
    fixed: Mapping[str, Sequence[Path]] | None
    listed: bool
    classes: tuple[str, ...]
    metadata: Sequence[str]
    wide: bool = False
    indicated: bool = False
    pairs: Pairs = ()
    long: bool = False
    others: frozenset[str] | None = None
    unread: Sequence[str] = ()
    there: Sequence[str] | None = None

    def ways(self, names: Collection[str]) -> Mapping[str, Sequence[Path]]:
        """The ways to each field that rows with some keys have."""
        if self.fixed is not None:
            return self.fixed
        return _ways(names, self.reading, self.classes if self.wide else ())

    def name(self, field: str) -> str:
        """What a field is called in messages."""
        if self.fixed is None:
            return self.reading.columns.get(field, field)
        return dotted(self.fixed[field][0]) if self.fixed.get(field) else ""

    def columns(self, file: RowFile) -> dict[Path, str]:
        """The typed columns to read, and what each is: "id", "label", "score", "metadata", …"""
        ways = self.ways(file.names)
        found: dict[Path, str] = {
            (name,) if name in file.names else (INNER, name): "metadata" for name in self.metadata
        }
        labels = [*ways["label"], *ways["label_key"], *(label for label, _ in self.pairs)]
        scores = [score for _, score in self.pairs if score]
        classes = [(name,) for name in self.classes if self.wide]
        found |= dict.fromkeys(labels, "label") | dict.fromkeys(scores, "score")
        found |= dict.fromkeys(classes, "indicator" if self.indicated else "score")
        found |= dict.fromkeys(ways["sample_id"], "id")
        return found | (dict.fromkeys(ways["predictions"], "lists") if self.listed else {})


def known_names(names: Sequence[str], reading: ScoreReading) -> int:
    """How many names are those of fields."""
    return sum(map(bool, _ways(names, reading, reading.classes).values()))


def _ways(
    names: Collection[str], reading: ScoreReading, classes: Collection[str]
) -> Mapping[str, Sequence[Path]]:
    """The ways to each field, where some names are classes."""
    mapped = set(reading.columns.values())
    taken = {*classes} - mapped
    # A classifier of true and false has a column for each.
    taken |= {"true", "True", "TRUE"} if "false" in map(str.casefold, names) else set()
    taken |= {name for name in reading.metadata if name.casefold() not in ALIASES} - mapped
    return SCHEMA.candidates([name for name in names if name not in taken], reading.columns)


def _first_ways(ways: Mapping[str, Sequence[Path]]) -> dict[str, Path]:
    """The first way to each field that is there."""
    return {name: own[0] for name, own in ways.items() if own}


class _Columns(NamedTuple):
    """The columns of a file, or the keys of its first row.

    Attributes:
        place: What names them, for messages.
        names: In order.
        numeric: Those that hold numbers in the first row.
        found: Standard name to the way to it, of all that are there.
        side: What the file holds.
        reading: What the config says of columns.
    """

    place: str
    names: Sequence[str]
    numeric: Collection[str]
    found: Mapping[str, Path]
    side: Side
    reading: ScoreReading

    @classmethod
    def of_row(
        cls, first: Mapping[str, Any], numeric: Collection[str], side: Side, reading: ScoreReading
    ) -> _Columns:
        """The keys of a row of JSON."""
        names = [name for name in first if name != INNER]
        ways = _ways(names, reading, reading.classes)
        return cls("", names, numeric, _first_ways(ways), side, reading)

    def fault(self, message: str, hint: str = "") -> DataError:
        return DataError(Problem(self.place, message), hint=hint)


def layout_of(file: RowFile, side: Side, reading: ScoreReading) -> ScoreLayout:
    """The layout of a file.

    Raises:
        DataError: A column is missing or duplicate, or of a type that it cannot have; there is a
            single column; the classes are not known.
    """
    own = {name: way for name, way in reading.columns.items() if name in _READ[side]}
    reading = replace(reading, columns=own)  # what is a prediction there may be the label here
    if file.form == "json":
        return _of_rows(file.first_rows(), side, reading)
    reading = _as_columns(file.names, side, reading)
    return _of_table(file, side, reading)


def _as_columns(names: Collection[str], side: Side, reading: ScoreReading) -> ScoreReading:
    """How to read a file with some names: in ground truth `classes` are columns, or its values."""
    if side != "ground_truth" or (reading.several and all(one in names for one in reading.classes)):
        return reading
    return replace(reading, classes=())


def _of_table(file: RowFile, side: Side, reading: ScoreReading) -> ScoreLayout:
    place, names = file.head, list(file.names)
    if file.form == "cells" and len(names) == 1:
        between = "commas, semicolons, tabs or bars (|)"
        message = f"expected fields between {between}, found one: {listed(names)}"
        raise DataError(Problem(place, message), hint=_NO_HEADER)
    inner = file.types.get(INNER)
    within = [name for name, _ in inner.fields] if inner and inner.kind == "struct" else []
    metadata = [] if side == "predictions" else list(reading.metadata)
    ways = _ways(names, reading, reading.classes)
    if reading.several and lists_predictions(file, ways["prediction"]):
        # Labels without scores: one of them, or a list.
        ways = {**ways, "predictions": ways["prediction"], "prediction": []}
    lists = side != "ground_truth" and (
        lists_predictions(file, ways["predictions"]) or _in_cells(file, ways["predictions"])
    )
    if lists and file.form == "cells" and reading.separator:
        message = "labels between separators are not read beside predictions that are JSON"
        raise DataError(Problem(place, message), hint="Write the labels as JSON lists, too.")
    mapped = {
        standard: name
        for standard, name in reading.columns.items()
        if standard != "predictions" or file.form == "typed"
    }
    wanted = mapped_columns(mapped, names) | dict.fromkeys(metadata, "for this metadata")
    there = [*names, *(name for name in within if name in metadata and name not in names)]
    if problems := [*duplicate_columns(names, place), *missing_columns(wanted, there, place)]:
        raise DataError(problems)
    found = _first_ways(ways)
    columns = _Columns(place, names, _numeric(file), found, side, reading)
    indicating = set() if side != "ground_truth" or "label" in found else _indicating(file)
    indicators = _indicators(columns, indicating)
    needed = ["sample_id", *([] if side == "predictions" or indicators else ["label"])]
    if missing := [name for name in needed if name not in found]:
        message = f"{missing_fields(missing, ALIASES)} ({file.listing(names)})"
        unnamed = file.form == "cells" and found.keys().isdisjoint(_READ[side])
        hint = _NO_HEADER if unnamed else _MAP_HINT
        if missing == ["label"] and len(indicating) > 1:
            hint += _INDICATED_HINT
        raise DataError(Problem(place, message), hint=hint)
    alone = side == "ground_truth" or lists
    classes, pairs = (indicators, ()) if alone else _form(columns)
    layout = ScoreLayout(
        reading=reading,
        fixed={name: own[:1] if name in _READ[side] else [] for name, own in ways.items()},
        listed=lists,
        classes=tuple(reading.classes) if lists else classes,
        metadata=metadata,
        wide=bool(classes),
        indicated=bool(indicators),
        pairs=pairs,
        long=len(pairs) == 1,
        unread=() if lists else _unread(columns, classes),
    )
    if file.form == "cells" and not any(True for _ in file.first_rows()):
        raise DataError(Problem(file.path, "there are no rows below the first line"))
    if file.form == "typed":
        check_types(
            file, layout.columns(file), named=bool(reading.classes), several=reading.several
        )
    return layout


def _in_cells(file: RowFile, ways: Sequence[Path]) -> bool:
    """Whether the cells of a column hold predictions as JSON has them, as the first does."""
    if file.form != "cells" or not ways:
        return False
    cell = cell_of(next(file.first_rows(), {}), ways[0])
    return isinstance(json_cell(cell), dict | list)


def _numeric(file: RowFile) -> set[str]:
    """The columns that hold numbers."""
    return _holding(file, _NUMBERS, _is_number)


def _indicating(file: RowFile) -> set[str]:
    """The columns that may say by 0 and 1 whether a sample has a label."""
    return _holding(file, (*_NUMBERS, "truth"), lambda cell: indicator_in(cell) is not None)


def _holding(file: RowFile, kinds: Collection[Kind], holds: Callable[[str], bool]) -> set[str]:
    """The columns of some types; of cells, those for whose first something holds."""
    if file.form == "typed":
        return {name for name, kind in file.types.items() if kind.kind in kinds}
    first = next(file.first_rows(), {})
    return {name for name, cell in first.items() if holds(cell)}


def _indicators(columns: _Columns, indicating: Collection[str]) -> tuple[str, ...]:
    """The labels that have a column each, in ground truth without a column of labels."""
    reading = columns.reading
    if columns.side != "ground_truth" or not reading.several or "label" in columns.found:
        return ()
    return tuple(reading.classes) or _other_columns(columns._replace(numeric=indicating))


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _form(columns: _Columns) -> tuple[tuple[str, ...], Pairs]:
    """The class columns, or the label and score pairs; one of them is empty.

    Raises:
        DataError: There are neither; a named class, or one half of a pair, is missing; a column
            may be a class or the score of one.
    """
    names, named = columns.names, columns.reading.classes
    pairs = _numbered_pairs(columns)
    if not pairs and "prediction" in columns.found:
        pairs = ((columns.found["prediction"], columns.found.get("score", ())),)
    if named and (not pairs or all(name in names for name in named)):
        wanted = dict.fromkeys(named, "for this class")
        if problems := missing_columns(wanted, names, columns.place):
            raise DataError(problems)
        return tuple(named), ()
    if pairs:
        return (), pairs
    classes = _other_columns(columns)
    if not classes or "score" in columns.found:
        message = f"there are no predictions: expected {_FORMS}; there is: {listed(names)}"
        if not classes and columns.side == "predictions" and "label" in columns.found:
            label = dotted(columns.found["label"])
            said = f"`columns: {{prediction: {label}}}`"
            message += f"; if {label} is what the model says, write {said} under `data:`"
        elif classes:
            score = dotted(columns.found["score"])
            message += f"; {score} is a class, or the score of a label that no column names"
        raise columns.fault(message, CLASSES_HINT)
    return classes, ()


def _numbered_pairs(columns: _Columns) -> Pairs:
    """pred0 and score0, pred1 and score1 …, by number; none without a whole pair."""
    halves: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for name in columns.names:
        found = _NUMBERED.fullmatch(name.casefold())
        for half, words in zip(halves, (_PREDICTIONS, _SCORES), strict=True):
            if found and found[1] in words and name not in columns.reading.metadata:
                half.setdefault(int(found[2]), name)
    labels, scores = halves
    if not labels.keys() & scores.keys():
        return ()
    for here, there, other in ((labels, scores, "score"), (scores, labels, "predicted label")):
        if alone := sorted(here.keys() - there.keys()):
            name = here[alone[0]]
            message = f"there is no {other} for {name}; there is: {listed(columns.names)}"
            raise columns.fault(message)
    return tuple(((labels[number],), (scores[number],)) for number in sorted(labels))


def _other_columns(columns: _Columns) -> tuple[str, ...]:
    """The columns with no other meaning, in order."""
    read = ("sample_id", "label", "label_key", "score")
    taken = {columns.found[name][0] for name in read if name in columns.found}
    return tuple(
        name
        for name in columns.names
        if name not in taken
        and name not in columns.reading.metadata
        and not _NAMELESS.fullmatch(name)
        and (columns.side == "predictions" or name in columns.numeric)
    )


def _unread(columns: _Columns, classes: Sequence[str]) -> list[str]:
    """Columns that look like classes but are not listed in the config."""
    if not columns.reading.classes or not classes:
        return []
    found = [columns.found.get(name, ("",)) for name in ("sample_id", "label", "label_key")]
    read = {*(way[0] for way in found), *classes, *columns.reading.metadata}
    read |= {"", *SCHEMA.known(columns.names)}
    return [name for name in columns.names if name not in read]


def unread_column_warnings(
    path: str, side: Side, columns: Sequence[str], labels: Collection[str]
) -> list[str]:
    """Warnings about columns that look like classes but are not read as such."""
    seen = set(labels)
    left = [name for name in columns if side == "predictions" or name in seen]
    message = f"{path}: columns that are not among `classes` are not read: {listed(left)}"
    return [message] * bool(left)


def _of_rows(rows: Iterator[Mapping[str, Any]], side: Side, reading: ScoreReading) -> ScoreLayout:
    """The layout of JSON, inferred from the first rows."""
    first = next(rows, {})
    reading = _as_columns(first, side, reading)
    inner = first.get(INNER)
    layout = ScoreLayout(
        reading=reading,
        fixed=None,
        listed=side != "ground_truth",
        classes=tuple(reading.classes) if side != "ground_truth" else (),
        metadata=() if side == "predictions" else tuple(reading.metadata),
        there=[
            *(name for name in first if name != INNER),
            *(inner if isinstance(inner, dict) else ()),
        ],
    )
    if side == "ground_truth":
        return _of_truths(first, layout)
    for row in chain([first], rows):
        ways = layout.ways(row)
        if ways["predictions"] or ways["prediction"]:
            return replace(layout, long=not ways["predictions"])
    return _by_column(first, side, layout)


def _of_truths(first: Mapping[str, Any], layout: ScoreLayout) -> ScoreLayout:
    """The layout of ground truth, which may have a key for each label."""
    reading = layout.reading
    columns = _Columns.of_row(first, (), "ground_truth", reading)
    indicating = {name for name in columns.names if first[name] in (0, 1)}
    if "label" in reading.columns or not (classes := _indicators(columns, indicating)):
        return layout
    return replace(layout, wide=True, indicated=True, classes=classes)


def _by_column(first: Mapping[str, Any], side: Side, layout: ScoreLayout) -> ScoreLayout:
    """The layout of rows that have predictions as the columns of a table have."""
    reading = layout.reading
    numeric = {
        name
        for name, value in first.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    columns = _Columns.of_row(first, numeric, side, reading)
    names = columns.names
    if not reading.classes and (pairs := _numbered_pairs(columns)):
        return replace(layout, pairs=pairs, listed=False)
    classes = _other_columns(columns)
    if reading.classes:
        classes = tuple(name for name in reading.classes if name in names)
    nested = any(isinstance(first[name], dict | list) for name in classes)
    if "score" in columns.found or nested or numeric.isdisjoint(classes):
        return layout
    others = None
    if side == "predictions" and not reading.classes:
        standard = {one for name, aliases in ALIASES.items() for one in (name, *aliases)}
        others = frozenset({*names, *standard, *reading.columns.values(), INNER})
    return replace(
        layout,
        wide=True,
        classes=tuple(reading.classes) or classes,
        others=others,
        unread=_unread(columns, classes),
    )
