"""List the metadata names in the records of a file.

Only names whose values can tell groups of samples apart are listed. The file is read for this
before its content is read, and only if all of its metadata is wanted; errors are left for that
second reading to report.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, Final

from valor_cli.data.batch import Batch
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.tape import DUPLICATE, INVALID, LIST, OBJECT, Column
from valor_cli.errors import DataError
from valor_cli.paths import is_url

MOST_TEXTS: Final = 100
"""Distinct values of a column that is not all numbers; with more it tells single samples apart."""

LONGEST: Final = 200
"""Characters of a value; longer ones are texts, and no kinds."""

_INNER: Final = "metadata"


class MetadataNames:
    """Names in rows whose values can be metadata.

    Left out are names of which a value is no single value, is a long text, or differs between the
    records of one sample; and those with very many texts.
    """

    __slots__ = ("_left_out", "_of_owner", "_others", "_strict", "_values")

    def __init__(self, *, strict: bool = False) -> None:
        """Initialise with how records of one sample may differ.

        Args:
            strict: Whether one that says nothing differs from one that says something.
        """
        self._left_out: set[str] = set()
        self._values: dict[str, set[Any]] = {}
        self._others: set[str] = set()
        self._of_owner: dict[str, dict[Hashable, Any]] = {}
        self._strict = strict

    def note(self, name: str, column: Column, owners: Sequence[Hashable] | None = None) -> None:
        """Add the values of a name.

        Args:
            name: The name.
            column: (n,) what each row says.
            owners: (n,) the sample of each, where it may have several rows.
        """
        if name in self._left_out:
            return
        fits = not column.is_of(LIST, OBJECT, DUPLICATE, INVALID).any()
        values = column.scalars()[column.node >= 0].tolist() if fits else []
        fits = fits and all(self._fits(name, value) for value in dict.fromkeys(values))
        if fits and owners is not None:
            pairs = zip(owners, column.scalars().tolist(), (column.node >= 0).tolist(), strict=True)
            fits = all(self._agrees(name, value, owner) for owner, value, said in pairs if said)
        if not fits:
            self._left_out.add(name)
            self._values.pop(name, None)
            self._of_owner.pop(name, None)

    def found(self) -> frozenset[str]:
        """The names for which some record has a value."""
        return frozenset(name for name, values in self._values.items() if values)

    def _fits(self, name: str, value: Any) -> bool:
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

    def _agrees(self, name: str, value: Any, owner: Hashable) -> bool:
        if owner is None or (value is None and not self._strict):
            return True
        return bool(self._of_owner.setdefault(name, {}).setdefault(owner, value) == value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False


def names_in_all(path: str, names_of: Callable[[str], frozenset[str]]) -> tuple[str, ...]:
    """Sorted names that all files of an input have; unreadable files are skipped.

    None is looked for where an input can be read only once, a pipe.

    Args:
        path: A file, or a pattern.
        names_of: The names of one file.
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
        with suppress(DataError):
            found.append(names_of(one))
    return tuple(sorted(found[0].intersection(*found))) if found else ()


def note_rows(
    names: MetadataNames,
    batch: Batch,
    standard: Collection[str],
    *,
    owners: Sequence[Hashable] | None = None,
    inner: Sequence[str] = (_INNER,),
    inner_first: bool = False,
) -> None:
    """Add what rows say beyond their standard names, directly or in a metadata object.

    Args:
        names: Where they are added.
        batch: The rows.
        standard: Names that are no metadata.
        owners: (n,) the sample of each row, where it may have several.
        inner: What objects of metadata are called, in the order of looking.
        inner_first: Whether what these say holds before what the row itself says.
    """
    there = [name for name in inner if name in batch.names]
    objects = {name: batch.column(name) for name in there}
    objects = {name: one.where(one.is_of(OBJECT)) for name, one in objects.items()}
    columns = {
        name: [batch.column(name)]
        for name in batch.names
        if name not in standard and name not in inner
    }
    for held in objects.values():
        for key in held.first_keys():
            if key in standard and key in batch.names and not inner_first:
                continue
            own = columns.setdefault(key, [])
            own.insert(0 if inner_first else len(own), held.field(key))
    for name, ways in columns.items():
        names.note(name, reduce(Column.or_else, ways), owners)
