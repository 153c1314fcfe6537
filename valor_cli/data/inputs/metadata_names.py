"""List the metadata names in the records of a file.

Only names whose values can tell groups of samples apart are listed. The file is read for this
before its content is read, and only if all of its metadata is wanted; errors are left for that
second reading to report.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import compress
from typing import Any, Final, NamedTuple

from valor_cli.data.batch import Batch, RowFile
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.tape import DUPLICATE, INVALID, LIST, OBJECT, Column
from valor_cli.errors import DataError
from valor_cli.paths import is_url

MOST_TEXTS: Final = 100
"""Distinct values of a column that is not all numbers; with more it tells single samples apart."""

LONGEST: Final = 200
"""Characters of a value; longer ones are texts, and no kinds."""

_INNER: Final = "metadata"


class MetadataRows(NamedTuple):
    """Rows, and where in them metadata may be.

    Attributes:
        batch: The rows.
        standard: Names that are no metadata.
        owners: (n,) the sample of each row, where it may have several.
        strict: Whether a row that says nothing differs from another of its sample that says
            something.
        inner: What objects of metadata are called, in the order of looking.
        inner_first: Whether what these say holds before what the row itself says.
    """

    batch: Batch
    standard: Collection[str]
    owners: Sequence[Hashable] | None = None
    strict: bool = False
    inner: Sequence[str] = (_INNER,)
    inner_first: bool = False

    def columns(self) -> Iterator[tuple[str, Column]]:
        """What rows say beyond their standard names, directly or in a metadata object."""
        batch, standard = self.batch, self.standard
        columns = {
            name: [batch.column(name)]
            for name in batch.names
            if name not in standard and name not in self.inner
        }
        for inner in self.inner:
            if inner not in batch.names:
                continue
            held = batch.column(inner)
            held = held.where(held.is_of(OBJECT))
            for key in held.first_keys():
                if key in standard and key in batch.names and not self.inner_first:
                    continue
                own = columns.setdefault(key, [])
                own.insert(0 if self.inner_first else len(own), held.field(key))
        return ((name, reduce(Column.or_else, ways)) for name, ways in columns.items())


class MetadataNames:
    """Names in rows whose values can be metadata.

    Left out are names of which a value is no single value, is a long text, or differs between the
    records of one sample; and those with very many texts.
    """

    __slots__ = ("_left_out", "_of_owner", "_others", "_values")

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self._values: dict[str, set[Any]] = {}
        self._others: set[str] = set()
        self._of_owner: dict[tuple[str, Hashable], Any] = {}

    def add(self, rows: MetadataRows) -> None:
        """Add the names of some rows."""
        for name, column in rows.columns():
            if name not in self._left_out and not self._fits(name, column, rows):
                self._left_out.add(name)
                self._values.pop(name, None)

    def found(self) -> frozenset[str]:
        """The names for which some record has a value."""
        return frozenset(name for name, values in self._values.items() if values)

    def _fits(self, name: str, column: Column, rows: MetadataRows) -> bool:
        if column.is_of(LIST, OBJECT, DUPLICATE, INVALID).any():
            return False
        said = column.node >= 0
        values = column.scalars()[said].tolist()
        if not all(self._is_kind(name, value) for value in dict.fromkeys(values)):
            return False
        if rows.owners is None:
            return True
        owners = compress(rows.owners, said.tolist())
        return all(
            self._of_owner.setdefault((name, owner), value) == value
            for owner, value in zip(owners, values, strict=True)
            if owner is not None and (value is not None or rows.strict)
        )

    def _is_kind(self, name: str, value: Any) -> bool:
        if value is None:
            return True
        if isinstance(value, str) and len(value) > LONGEST:
            return False
        values = self._values.setdefault(name, set())
        if len(values) <= MOST_TEXTS:
            values.add(value)
        if name not in self._others and not _is_number(value):
            self._others.add(name)
        return len(values) <= MOST_TEXTS or name not in self._others


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False


def names_in_all(
    path: str,
    rows_of: Callable[[str], Iterable[MetadataRows]],
    called: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """Sorted names that all files of an input have; unreadable files are skipped.

    None is looked for where an input can be read only once, a pipe.

    Args:
        path: A file, or a pattern.
        rows_of: The rows of one file.
        called: What metadata of a name is called.
    """
    try:
        files = expanded_tables(path)
    except DataError:
        return ()
    if any(
        os.path.exists(one) and not (os.path.isfile(one) or os.path.isdir(one)) for one in files
    ):
        return ()
    found = []
    for one in files:
        if not (is_url(one) or os.path.isfile(one)):
            continue
        names = MetadataNames()
        with suppress(DataError):
            for rows in rows_of(one):
                names.add(rows)
            found.append(set(map(called, names.found())))
    return tuple(sorted(set.intersection(*found))) if found else ()


def batches_of(file: RowFile) -> Iterator[Batch]:
    """All rows of a file."""
    for block in file.blocks():
        yield from block.batches
