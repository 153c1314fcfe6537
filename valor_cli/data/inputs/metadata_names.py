"""List the metadata names in the records of a file.

Only names whose values can tell groups of samples apart are listed. The file is read for this
before its content is read, and only if all of its metadata is wanted; errors are left for that
second reading to report.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from valor_cli.data.column_names import csv_reader
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.source.inputs import expanded_tables
from valor_cli.data.values import is_text
from valor_cli.errors import DataError
from valor_cli.paths import is_url

MOST_TEXTS: Final = 100
"""Distinct values of a column that is not all numbers; with more it tells single samples apart."""

LONGEST: Final = 200
"""Characters of a value; longer ones are texts, and no kinds."""


class MetadataNames:
    """Names in records whose values can be metadata.

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

    def note(self, record: Mapping[str, Any], owner: Hashable = None) -> None:
        """Add a record, without its standard values.

        Args:
            record: Values by name.
            owner: The sample, where it may have several records.
        """
        for name, value in record.items():
            if name in self._left_out:
                continue
            if not self._fits(name, value) or not self._agrees(name, value, owner):
                self._left_out.add(name)
                self._values.pop(name, None)
                self._of_owner.pop(name, None)

    def found(self) -> frozenset[str]:
        """The names for which some record has a value."""
        return frozenset(name for name, values in self._values.items() if values)

    def _fits(self, name: str, value: Any) -> bool:
        if value is None:
            return True
        if isinstance(value, list | dict) or not _is_value(value):
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


def _is_value(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and is_text(value)
    return not isinstance(value, float) or math.isfinite(value)


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
        with suppress(DataError, csv.Error):
            found.append(names_of(one))
    return tuple(sorted(found[0].intersection(*found))) if found else ()


def json_lines(path: str) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; invalid lines are skipped."""
    for block in blocks_of_lines(TextSource(path)):
        for line in block.split(b"\n"):
            try:
                found = msgspec.json.decode(line) if line.strip() else None
            except (msgspec.MsgspecError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def csv_rows(path: str, delimiter: str, *, spaced: bool) -> Iterator[dict[str, str | None]]:
    """The rows of a CSV file by header name; an empty field is None."""
    text = TextSource(path).whole().decode()
    rows = csv_reader(text.splitlines(True), delimiter, spaced=spaced, strict=False)
    names = [name.strip() for name in next(rows, [])]
    for row in rows:
        if len(row) == len(names):
            yield {name: value or None for name, value in zip(names, row, strict=True)}


def first_line(path: str) -> str:
    """The header line of a file."""
    text = TextSource(path).whole().decode().lstrip("\r\n")
    return text.split("\n", 1)[0].split("\r", 1)[0]


def metadata_of(
    record: Mapping[str, Any],
    standard: Collection[str],
    inner: Sequence[str] = ("metadata",),
    *,
    inner_first: bool = False,
) -> dict[str, Any]:
    """The values of a record beyond its standard names, direct or in a metadata object.

    Args:
        record: Values by name.
        standard: Names that are no metadata.
        inner: What objects of metadata are called, in the order of looking.
        inner_first: Whether what these say holds before what the record itself says.
    """
    within: dict[str, Any] = {}
    for name in inner:
        value = record.get(name)
        if isinstance(value, dict):
            within = {**value, **within}
    own = {name: value for name, value in record.items() if name not in standard}
    own = {name: value for name, value in own.items() if name not in inner}
    if inner_first:
        return {**own, **within}
    return {**{name: value for name, value in within.items() if name not in record}, **own}
