"""`Table`: columns of equal length with the place of each row; problems of rows at their places."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import ALIKE, LISTED, DataError, Problem

Columns: TypeAlias = dict[str, NDArray[Any]]
InvalidRows: TypeAlias = Literal["error", "skip"]
"""What to do with rows that cannot be used: stop with an error, or leave them out and count."""

LINE: Final = ":{row}"
"""The place of a row that is a line, counted from 1: "gt.csv:17"."""

ROW: Final = "row {row}"
"""The place of a row of a table that has no lines, counted from 1: "gt.parquet: row 17"."""

SKIP_HINT = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."

_VARYING: Final = re.compile(r"""'[^']*'|"[^"]*"|\[\d+\]|[-+.\w]*\d[-+.\w]*|(?<=found ).*""")
"""What differs in places and messages of one cause: names, numbers and what was found."""


class Parts(NamedTuple):
    """The files of an input of several.

    Attributes:
        files: Path of each, and how its rows are named, as `Table.place`.
        of_row: (n,) which of them each row is in.
    """

    files: Sequence[tuple[str, str]]
    of_row: NDArray[np.int64]


class Table(Struct, frozen=True):
    """Columns read from one input.

    Attributes:
        path: The input, as the user wrote it.
        columns: Arrays by name; the first dimension of each is the row.
        place: How a row is named in the file: "[{row}]", "annotations[{row}]", `LINE`,
            `ROW`.
        rows: Position in the file of each row, shape (n,); None when no row was skipped.
        skipped: How many rows were left out as invalid.
        parts: The files of a folder or a glob; None for one file.

    Raises:
        ValueError: The columns differ in length.
    """

    path: str
    columns: Mapping[str, NDArray[Any]]
    place: str = "[{row}]"
    rows: NDArray[np.int64] | None = None
    skipped: int = 0
    parts: Parts | None = None

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns differ in length: {lengths}")

    def __len__(self) -> int:
        return next((len(column) for column in self.columns.values()), 0)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def place_of(self, row: int, key: str = "") -> str:
        """The place of a row or of a value in it: "gt.json: annotations[17].bbox", "a.csv:3: x"."""
        path, place = self.path, self.place
        if self.parts is not None:
            path, place = self.parts.files[int(self.parts.of_row[row])]
        return placed(path, place, row if self.rows is None else int(self.rows[row]), key)

    def take(self, kept: NDArray[np.bool_]) -> Table:
        """The rows that are kept; the others count as skipped."""
        found = self.pick(np.flatnonzero(kept))
        return replace(found, skipped=self.skipped + len(self) - len(found))

    def pick(self, at: NDArray[np.int64]) -> Table:
        """Rows by position, in that order."""
        return self._some(at, at)

    def between(self, low: int, high: int) -> Table:
        """The rows from one position to below another, as they lie in memory."""
        return self._some(slice(low, high), np.arange(low, high))

    def _some(self, part: slice | NDArray[np.int64], at: NDArray[np.int64]) -> Table:
        """Some rows, whose positions are `at`."""
        parts = self.parts
        return replace(
            self,
            columns={name: column[part] for name, column in self.columns.items()},
            rows=at if self.rows is None else self.rows[part],
            parts=None if parts is None else parts._replace(of_row=parts.of_row[part]),
        )


def placed(path: str, place: str, row: int, key: str = "") -> str:
    """The place of a row, or of a value in it, for messages; `place` is as in `Table`."""
    joint, dot = "" if place == LINE else ": ", ": " if place in (LINE, ROW) else "."
    where = f"{path}{joint}{place.format(row=row)}" if row or place != LINE else path
    return f"{where}{dot}{key}" if key else where


def named_row(place: str, row: int) -> str:
    """A row, for the message on another one of its file: "line 17", "row 17", "results[17]"."""
    return f"line {row}" if place == LINE else place.format(row=row)


class Problems:
    """Problems in the rows of a file: the first of each cause are kept, all counted.

    Attributes:
        path: The file. Readers of folders change it as they go from file to file.
        place: How a row is named, as in `Table`.
        total: How many problems there are.
    """

    __slots__ = ("_above", "_causes", "_count", "_kept", "path", "place", "total")

    def __init__(self, path: str, place: str, above: Callable[[], int] | None = None) -> None:
        """Initialise.

        Args:
            path: The file.
            place: How a row is named.
            above: How many rows stand above the first that is read; asked where something is wrong.
        """
        self.path = path
        self.place = place
        self.total = 0
        self._above = above
        self._count = 0
        self._kept: list[Problem] = []
        self._causes: dict[str, int] = {}

    @property
    def kept(self) -> list[Problem]:
        """The first problems of each cause, the last of them with the number of the others."""
        listed = Counter(problem.cause for problem in self._kept)
        last = {problem.cause: at for at, problem in enumerate(self._kept)}
        kept = list(self._kept)
        for cause, at in last.items():
            kept[at] = dataclasses.replace(kept[at], more=self._causes[cause] - listed[cause])
        return kept

    def row(self, row: int) -> str:
        """A row, for the message on another one."""
        return named_row(self.place, self._number(row))

    def add(self, row: int, key: str, message: str) -> None:
        """Record a problem of a row; `key` says where in it ("references[2]")."""
        self.keep(placed(self.path, self.place, self._number(row), key), key, message)

    def _number(self, row: int) -> int:
        """The number of a row in the file."""
        if self._above is not None:
            self._count, self._above = self._above(), None
        return self._count + row

    def add_rows(self, rows: Iterable[tuple[int, Sequence[tuple[str, str]]]]) -> None:
        """Record what is wrong with rows, each with its faults, in the order of their numbers."""
        for row, faults in sorted(rows, key=itemgetter(0)):
            for key, message in faults:
                self.add(row, key, message)

    def keep(self, place: str, key: str, message: str) -> None:
        """Record a problem at a place, of which `key` is the part within the row."""
        self.total += 1
        cause = self.path + _VARYING.sub("", f": {key}: {message}")
        before = self._causes.setdefault(cause, 0)
        if before <= ALIKE and len(self._kept) < LISTED:
            self._kept.append(Problem(place, message, cause))
        if before or len(self._causes) <= LISTED:
            self._causes[cause] += 1
        else:
            del self._causes[cause]


def stop_on(found: Sequence[Problems], hint: str = "") -> None:
    """Raise an error if problems were recorded.

    Raises:
        DataError: The problems of all lists, in order.
    """
    total = sum(problems.total for problems in found)
    if total:
        kept = [problem for problems in found for problem in problems.kept]
        raise DataError(kept[:LISTED], total=total, hint=hint)


def places_in(tables: Sequence[Table]) -> tuple[NDArray[np.int64], Parts]:
    """Places of the concatenated rows of several tables: `rows` and `parts`."""
    files: list[tuple[str, str]] = []
    rows, of_row = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for table in tables:
        count, before = len(table), len(files)
        rows.append(np.arange(count) if table.rows is None else table.rows)
        if table.parts is None:
            files.append((table.path, table.place))
            of_row.append(np.full(count, before))
        else:
            files += table.parts.files
            of_row.append(table.parts.of_row + before)
    return np.concatenate(rows), Parts(files, np.concatenate(of_row))
