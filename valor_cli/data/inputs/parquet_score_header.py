"""Map the schema of a Parquet file of labels and scores to its meaning.

Names mean the same as in CSV. A column of lists, maps or structs that has a JSONL name for
predictions holds all predictions of a row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from valor_cli.data.column_names import missing_columns
from valor_cli.data.formats.parquet.columns import (
    IDS,
    NAMES,
    NUMBERS,
    SCALARS,
    Kind,
    fields,
    kind_of,
)
from valor_cli.data.json_records import first_of
from valor_cli.data.shapes.scores.header import Columns, ScoreHeader, header_of
from valor_cli.data.shapes.scores.score_file import (
    ITEM_LABELS,
    ITEM_SCORES,
    ScoreReading,
    Side,
    positions,
)
from valor_cli.errors import DataError, Problem

_LISTS: Final = frozenset({"list", "map", "struct"})
_INDEX: Final = re.compile(r"__index_level_[0-9]+__")
"""What pandas calls a column that holds the numbers of rows."""

_INNER: Final = "metadata"
_SHOWN: Final = 60
_CAST: Final = (
    "Cast the column where the file is written, or name another under `data: columns:`. Ids and "
    "labels are texts or whole numbers; what is a class can be said under `data: classes:`."
)
_FORMS: Final = (
    "a list of structs of a label and a score, a map or a struct of scores by label, or a list of "
    "scores beside `classes:`"
)
_NAMELESS: Final = (
    "a list of numbers needs the names of its classes, in their order: `classes:` under `data:`"
)


class ParquetHeader(Struct, frozen=True):
    """The meaning of a Parquet file's columns.

    Attributes:
        columns: As those of a CSV file; a name may be that of a field of the column `metadata`.
        listed: Position of the column that lists the labels of a row with their scores; -1: none.
        top: How many columns there are that are no such fields.
        kinds: What each holds.
        inside: For a list of structs, what its label and its score are called.
    """

    columns: ScoreHeader
    listed: int
    top: int
    kinds: Sequence[Kind]
    inside: tuple[str, str] = ("", "")

    @property
    def is_long(self) -> bool:
        """Whether a row is one label of a sample, so that a sample may have several."""
        return self.listed < 0 and self.columns.is_long

    @property
    def used(self) -> list[int]:
        """Positions of the columns to read."""
        return list(dict.fromkeys(_used(self)))

    @property
    def read(self) -> list[str]:
        """Column names in the file, struct fields with dots."""
        return [self._path(at) for at in self.used]

    @property
    def coded(self) -> list[str]:
        """The columns of repeated texts."""
        columns = self.columns
        labels = [columns.truth, columns.key, *(label for label, _ in columns.pairs)]
        return [columns.names[at] for at in labels if at is not None and self.kinds[at] == "text"]

    def column(self, rows: Any, position: int) -> Any:
        """A column of some rows."""
        name = self.columns.names[position]
        if position < self.top:
            return rows.column(name)
        return fields(rows.column(_INNER))[name]

    def _path(self, position: int) -> str:
        name = self.columns.names[position]
        return name if position < self.top else f"{_INNER}.{name}"


def parquet_header(schema: Any, path: str, side: Side, reading: ScoreReading) -> ParquetHeader:
    """Find the required and optional columns.

    Args:
        schema: The `pyarrow.Schema` of the file.
        path: The file, for messages.
        side: What the file holds; metadata is read of ground truth and of samples.
        reading: `columns` and `classes` of it say what columns are.

    Raises:
        DataError: As for the first line of a CSV file; or a column holds what it cannot.
    """
    inner = _inner_types(schema, side, reading)
    asked = {*reading.columns.values(), *reading.classes, *reading.metadata}
    names = ["" if _INDEX.fullmatch(one) and one not in asked else one for one in schema.names]
    kinds = [kind_of(kind) for kind in (*schema.types, *inner.values())]
    # A column of numbers is one whatever its first row holds.
    first = ["0" if kind in NUMBERS - {"none"} else "" for kind in kinds]
    names += inner
    found = positions(names, reading)
    listed = found.get("predictions", -1) if side != "ground_truth" else -1
    listed = listed if listed < 0 or kinds[listed] in _LISTS else -1
    mapped = reading.columns.get("predictions")
    wanted = {mapped: "for predictions"} if mapped and side != "ground_truth" else {}
    if problems := missing_columns(wanted, names, path):
        raise DataError(problems)
    meant = header_of(
        Columns(path, tuple(names), first, found, side, reading), listed_in=listed >= 0
    )
    header = ParquetHeader(meant, listed, len(schema.names), kinds)
    types = [*schema.types, *inner.values()]
    if problems := list(_misfits(header, types, path)):
        raise DataError(problems, hint=_CAST)
    if listed >= 0:
        return _with_lists(header, types[listed], path, named=bool(reading.classes))
    return header


def _inner_types(schema: Any, side: Side, reading: ScoreReading) -> dict[str, Any]:
    """The types of requested metadata in the column `metadata`, by name."""
    if side == "predictions" or schema.names.count(_INNER) != 1:
        return {}
    outer = schema.field(_INNER).type
    if kind_of(outer) != "struct":
        return {}
    there = {one.name: one.type for one in outer}
    wanted = [name for name in reading.metadata if name not in schema.names]
    return {name: there[name] for name in wanted if name in there}


def _used(header: ParquetHeader) -> Iterator[int]:
    """Positions of the columns that are read."""
    columns = header.columns
    yield columns.sample_id
    for at in (columns.truth, columns.key, header.listed):
        if at is not None and at >= 0:
            yield at
    yield from (at for pair in columns.pairs for at in pair if at >= 0)
    yield from (at for _, at in columns.classes)
    yield from columns.metadata.values()


def _misfits(header: ParquetHeader, types: Sequence[Any], path: str) -> Iterator[Problem]:
    """What is wrong with columns of another type than they need."""
    columns = header.columns
    wanted: dict[int, tuple[Collection[str], str]] = {}
    for at in columns.metadata.values():
        wanted[at] = SCALARS, "texts, numbers, true and false, or dates"
    names = (columns.truth, columns.key, *(label for label, _ in columns.pairs))
    for at in (one for one in names if one is not None):
        wanted[at] = NAMES, "texts or whole numbers"
    for at in (*(score for _, score in columns.pairs), *(at for _, at in columns.classes)):
        if at >= 0:
            wanted[at] = NUMBERS, "numbers"
    wanted[columns.sample_id] = IDS, "texts or whole numbers"
    for at, (kinds, words) in wanted.items():
        if header.kinds[at] not in kinds:
            message = f"expected a column of {words}, found one of {_shown(types[at])}"
            yield Problem(f"{path}: {columns.names[at]}", message)


def _with_lists(header: ParquetHeader, kind: Any, path: str, *, named: bool) -> ParquetHeader:
    """The header, with what the lists of predictions hold.

    Args:
        header: Without that.
        kind: The type of the lists.
        path: The file.
        named: Whether the config names the classes.

    Raises:
        DataError: They hold nothing that predictions can be.
    """
    found = header.kinds[header.listed]
    inside = ("key", "value")
    if found == "struct":
        fits = _distinct(kind) and all(kind_of(one.type) in NUMBERS for one in kind)
    elif found == "map":
        fits = kind_of(kind.key_type) in NAMES and kind_of(kind.item_type) in NUMBERS
    elif kind_of(kind.value_type) == "struct":
        held = {one.name: kind_of(one.type) for one in kind.value_type}
        label, score = (first_of(names, held) for names in (ITEM_LABELS, ITEM_SCORES))
        inside = (label or "", score or "")
        fits = held.get(inside[0]) in NAMES and held.get(inside[1]) in NUMBERS
        fits = fits and _distinct(kind.value_type)
    else:
        inside = ("", "")
        fits = kind_of(kind.value_type) in NUMBERS
    message = "" if fits else f"expected {_FORMS}; found {_shown(kind)}"
    if fits and not inside[0] and not named:
        message = _NAMELESS
    if message:
        place = f"{path}: {header.columns.names[header.listed]}"
        raise DataError(Problem(place, message), hint=_CAST if not fits else "")
    return ParquetHeader(header.columns, header.listed, header.top, header.kinds, inside)


def _distinct(kind: Any) -> bool:
    """Whether no two fields of a struct have one name."""
    return len({one.name for one in kind}) == int(kind.num_fields)


def _shown(kind: Any) -> str:
    text = str(kind).replace("\n", " ")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
