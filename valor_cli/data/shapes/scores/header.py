"""Find what the columns, or the keys, of labels and scores mean.

The names come from the first line of a CSV file, the schema of a Parquet file or the first lines of
JSON. Column names decide what predictions are, in this order: `classes:` of the config; numbered
pairs (pred0, score0, pred1, …); a prediction column, optionally with a score; otherwise every other
column is a class: all of them in a file of predictions, the numeric ones in a file of samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.column_names import (
    DELIMITERS,
    check_mapped,
    duplicate_columns,
    fields_of,
    listed,
    missing_columns,
)
from valor_cli.data.shapes.scores.score_file import ALIASES, ScoreReading, Side, positions
from valor_cli.errors import DataError, Problem

PROBABLE: Final = (-1e-3, 1 + 1e-3)
"""Where the score of a label may lie as a probability: from 0 to 1, but for rounding."""


def probable(score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which scores are probabilities, up to rounding."""
    low, high = PROBABLE
    return np.asarray((score >= low) & (score <= high))


class ScoreHeader(Struct, frozen=True):
    """The meaning of a CSV file's columns.

    Of `classes` and `pairs` at most one is filled; neither for ground truth alone.

    Attributes:
        names: As in the file, in order.
        delimiter: The delimiter.
        spaced: Whether a space follows the delimiter, which then belongs to no field.
        sample_id: Position of the id.
        truth: Position of the true label, if there is one.
        key: Position of the label key, if there is one.
        classes: Wide: name and position of each class column.
        pairs: Long: position of a predicted label, and of its score (-1 for none, which means 1).
            One pair, or several (pred0, score0, pred1, …).
        metadata: Name of metadata to position.
    """

    names: tuple[str, ...]
    delimiter: str
    spaced: bool
    sample_id: int
    truth: int | None
    key: int | None
    classes: tuple[tuple[str, int], ...]
    pairs: tuple[tuple[int, int], ...]
    metadata: Mapping[str, int]

    @property
    def is_long(self) -> bool:
        """Whether a row is one label of a sample, so that samples may have several rows."""
        return len(self.pairs) == 1


class KeyNames(NamedTuple):
    """The accepted names of each standard key, in order of precedence."""

    sample_id: Sequence[str]
    label: Sequence[str]
    prediction: Sequence[str]
    predictions: Sequence[str]
    score: Sequence[str]
    label_key: Sequence[str]

    @classmethod
    def of(cls, reading: ScoreReading) -> KeyNames:
        """The mapped name, or the standard name and its aliases."""
        mapped = set(reading.columns.values())
        return cls(
            **{
                standard: (reading.columns[standard],)
                if standard in reading.columns
                else tuple(
                    name
                    for name in (standard, *aliases)
                    if name not in mapped and (name == standard or name not in reading.metadata)
                )
                for standard, aliases in ALIASES.items()
            }
        )


class WideKeys(NamedTuple):
    """The keys of lines that have one per class.

    Attributes:
        names: The classes.
        others: All keys that lines may have; None for any.
        named: Whether the config names the classes.
    """

    names: tuple[str, ...]
    others: frozenset[str] | None
    named: bool


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


_READ: Final[Mapping[Side, tuple[str, ...]]] = {
    "ground_truth": ("sample_id", "label", "label_key"),
    "predictions": ("sample_id", "prediction", "score", "label_key"),
    "samples": ("sample_id", "label", "prediction", "score", "label_key"),
}
"""The columns that are read of each side."""

_MAP_HINT = "Map other names under `data: columns:`, as {label: my_column}."
_NO_HEADER = "The first line must name the columns. " + _MAP_HINT


def read_header(
    line: str, first: Sequence[str], path: str, side: Side, reading: ScoreReading
) -> ScoreHeader:
    """Find the required and optional columns.

    Args:
        line: The first line of the file.
        first: The line of the first row, in a list; empty without rows.
        path: The file, for messages.
        side: What the file holds; metadata is read of ground truth and of samples.
        reading: `columns` and `classes` of it say what columns are.

    Raises:
        DataError: A column is missing or duplicate; there is a single column; the classes
            are not known; `columns` has an unknown name, or names a column that is not there.
    """
    check_mapped(reading.columns, ALIASES)
    place = f"{path}:1"
    delimiter = max(DELIMITERS, key=lambda one: _known_names(line, one, reading))
    raw = fields_of(line, delimiter)
    names = tuple(name.strip() for name in raw)
    if len(names) == 1:
        between = "commas, semicolons, tabs or bars (|)"
        message = f"expected fields between {between}, found one: {listed(names)}"
        raise DataError(Problem(place, message), hint=_NO_HEADER)
    rows = [cell.strip() for one in first for cell in fields_of(one, delimiter)]
    columns = Columns(place, names, rows, positions(names, reading), side, reading)
    header = header_of(columns, there="the first line names these", no_hint=_NO_HEADER)
    spaced = any(name.startswith(" ") for name in raw[1:])
    return replace(header, delimiter=delimiter, spaced=spaced)


def header_of(
    columns: Columns, *, listed_in: bool = False, there: str = "there is", no_hint: str = _MAP_HINT
) -> ScoreHeader:
    """The meaning of columns.

    Args:
        columns: Their names, and what is known of them.
        listed_in: Whether a column lists the labels of each row with their scores; then none is
            looked for that holds a score of its own.
        there: What names the columns that there are, in a message.
        no_hint: What to do where no column has a known name.

    Raises:
        DataError: As `read_header` does.
    """
    place, names, _, found, side, reading = columns
    read = {name: found[name] for name in _READ[side] if name in found}
    metadata = [] if side == "predictions" else list(reading.metadata)
    mapped = {file: f"for {name}" for name, file in reading.columns.items() if name in _READ[side]}
    wanted = mapped | dict.fromkeys(metadata, "for this metadata")
    if problems := [*duplicate_columns(names, place), *missing_columns(wanted, names, place)]:
        raise DataError(problems)
    needed = ["sample_id", *([] if side == "predictions" else ["label"])]
    if missing := [name for name in needed if name not in read]:
        message = f"{_missing(missing)} ({there}: {listed(names)})"
        raise DataError(Problem(place, message), hint=_MAP_HINT if read else no_hint)
    classes, pairs = ((), ()) if side == "ground_truth" or listed_in else form_of(columns)
    return ScoreHeader(
        names=tuple(names),
        delimiter="",
        spaced=False,
        sample_id=read["sample_id"],
        truth=read.get("label"),
        key=read.get("label_key"),
        classes=classes,
        pairs=pairs,
        metadata={name: names.index(name) for name in metadata},
    )


def _known_names(line: str, delimiter: str, reading: ScoreReading) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = tuple(name.strip() for name in fields_of(line, delimiter))
    return len(positions(names, reading)), len(names)


def _missing(missing: Sequence[str]) -> str:
    shown = " and ".join(f"'{name}' (or {', '.join(ALIASES[name])})" for name in missing)
    verb = "columns {} are" if len(missing) > 1 else "column {} is"
    return f"the {verb.format(shown)} missing"


_INNER = "metadata"


class JsonHead(NamedTuple):
    """Layout of a file, inferred from its first lines.

    Attributes:
        long: Whether a line is one label of a sample.
        names: Of what the first line has, for messages.
        wide: The keys that are classes, where lines have one for each.
        unread: The keys that may be classes, and are not among those of the config.
    """

    long: bool
    names: Sequence[str]
    wide: WideKeys | None = None
    unread: Sequence[str] = ()


def json_head(records: Iterable[Mapping[str, Any]], side: Side, reading: ScoreReading) -> JsonHead:
    """Infer the layout of a file from its first lines.

    Lines have a key for each class where none of them has predictions under a name of their own,
    and keys of the first line that are nothing else hold numbers: which keys, is found as for the
    columns of a CSV file.
    """
    records = iter(records)
    first = next(records, {})
    inner = first.get(_INNER)
    names = [*(name for name in first if name != _INNER), *(inner if type(inner) is dict else ())]
    if side == "ground_truth":
        return JsonHead(False, names)
    known = KeyNames.of(reading)
    for record in chain([first], records):
        if not record.keys().isdisjoint(known.predictions):
            return JsonHead(False, names)
        if not record.keys().isdisjoint(known.prediction):
            return JsonHead(True, names)
    return JsonHead(False, names, *_wide(first, side, reading))


def _wide(
    first: Mapping[str, Any], side: Side, reading: ScoreReading
) -> tuple[WideKeys | None, Sequence[str]]:
    """The keys that are classes, and those that may be and are not read; None for no such keys."""
    keys = [name for name in first if name != _INNER]
    cells = ["0" if type(first[name]) in (int, float) else "" for name in keys]
    found = positions(keys, reading)
    columns = Columns("", keys, cells, found, side, reading)
    classes = tuple(other_columns(columns))
    if reading.classes:
        named = set(keys) & set(reading.classes)
        classes = tuple((name, keys.index(name)) for name in reading.classes if name in named)
    numbers = any(cells[at] for _, at in classes)
    nested = any(type(first[name]) in (dict, list) for name, _ in classes)
    if not numbers or nested or "score" in found:
        return None, ()
    header = ScoreHeader(
        names=tuple(keys),
        delimiter="",
        spaced=False,
        sample_id=found.get("sample_id", -1),
        truth=found.get("label"),
        key=found.get("label_key"),
        classes=classes,
        pairs=(),
        metadata=dict.fromkeys(reading.metadata, -1),
    )
    unread = unread_columns(header, reading)
    names = tuple(reading.classes) or tuple(name for name, _ in classes)
    others = None
    if side == "predictions" and not reading.classes:
        standard = {one for name, aliases in ALIASES.items() for one in (name, *aliases)}
        others = frozenset({*keys, *standard, *reading.columns.values(), _INNER})
    return WideKeys(names, others, named=bool(reading.classes)), unread


def records_in(block: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a block that are objects."""
    for line in block.split(b"\n"):
        try:
            found = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
