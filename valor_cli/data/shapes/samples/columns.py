"""Store rows of text samples as compact columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import eq
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.sample_file import SampleReading, SampleRow
from valor_cli.kernels.columns.text_columns import ListColumn, ListWriter, TextColumn, TextWriter
from valor_cli.results import Scalar

Ints = NDArray[np.int64]

TEXTS: Final = (
    "sample_id",
    "model",
    "user_input",
    "response",
    "condition",
    "group",
    "perturbed_from",
    "artifacts",
)
"""The fields of a row that are one text, or none."""

LISTS: Final = ("references", "retrieved_contexts", "categories")
"""Those that are tuples of texts."""

AMOUNTS: Final = ("duration_s", "cost_usd")
"""Those that are numbers, or none."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleColumns(Sequence[SampleRow]):
    """Rows as columns, without `token_logprobs`.

    Attributes:
        texts, lists, amounts: By name, the fields that some row has; NaN is no amount.
        metadata: The values of each row; None: no row has any.
        line, file: As in the rows.
    """

    texts: dict[str, TextColumn]
    lists: dict[str, ListColumn]
    amounts: dict[str, NDArray[np.float64]]
    metadata: Sequence[tuple[Scalar, ...]] | None
    line: Sequence[int]
    file: int = 0

    @staticmethod
    def joined(parts: Sequence[SampleColumns]) -> SampleColumns:
        """Concatenate columns; `file` is that of the first."""
        if len(parts) == 1:
            return parts[0]
        texts = dict.fromkeys(name for part in parts for name in part.texts)
        lists = dict.fromkeys(name for part in parts for name in part.lists)
        amounts = dict.fromkeys(name for part in parts for name in part.amounts)
        metadata: list[tuple[Scalar, ...]] = []
        for part in parts:
            metadata += part.metadata or ()
        return SampleColumns(
            {name: TextColumn.joined([part.text(name) for part in parts]) for name in texts},
            {name: ListColumn.joined([part.listed(name) for part in parts]) for name in lists},
            {name: np.concatenate([part.amount(name) for part in parts]) for name in amounts},
            metadata or None,
            array("q", [line for part in parts for line in part.line]),
            parts[0].file if parts else 0,
        )

    def text(self, name: str) -> TextColumn:
        """A text field."""
        found = self.texts.get(name)
        return TextColumn.nothing(len(self)) if found is None else found

    def listed(self, name: str) -> ListColumn:
        """A field of text tuples."""
        found = self.lists.get(name)
        none = name == "retrieved_contexts"
        return ListColumn.nothing(len(self), none=none) if found is None else found

    def amount(self, name: str) -> NDArray[np.float64]:
        """A numeric field."""
        found = self.amounts.get(name)
        return np.full(len(self), np.nan) if found is None else found

    def __len__(self) -> int:
        return len(self.line)

    @overload
    def __getitem__(self, at: int) -> SampleRow: ...
    @overload
    def __getitem__(self, at: slice) -> SampleColumns: ...
    def __getitem__(self, at: int | slice) -> SampleRow | SampleColumns:
        if isinstance(at, slice):
            low, high, _ = at.indices(len(self))
            return self.part(low, high)
        at = range(len(self))[at]
        return next(iter(self.part(at, at + 1)))

    def __iter__(self) -> Iterator[SampleRow]:
        names = (*self.texts, *self.lists, *self.amounts)
        columns: list[Iterable[Any]] = [*self.texts.values(), *self.lists.values()]
        columns += [_amounts(column) for column in self.amounts.values()]
        metadata = self.metadata or ((),) * len(self)
        for own, line, *values in zip(metadata, self.line, *columns, strict=True):
            row = dict(zip(names, values, strict=True))
            yield SampleRow(**row, metadata=own, line=line, file=self.file)

    def part(self, low: int, high: int) -> SampleColumns:
        """The rows from `low` to below `high`, without copying texts."""
        return SampleColumns(
            {name: column.part(low, high) for name, column in self.texts.items()},
            {name: column.part(low, high) for name, column in self.lists.items()},
            {name: column[low:high] for name, column in self.amounts.items()},
            None if self.metadata is None else self.metadata[low:high],
            self.line[low:high],
            self.file,
        )

    def take(self, at: Ints) -> SampleColumns:
        """Select rows, in any order."""
        metadata = self.metadata
        return SampleColumns(
            {name: column.take(at) for name, column in self.texts.items()},
            {name: column.take(at) for name, column in self.lists.items()},
            {name: column[at] for name, column in self.amounts.items()},
            None if metadata is None else [metadata[one] for one in at.tolist()],
            array("q", [self.line[one] for one in at.tolist()]),
            self.file,
        )

    def only(self, names: Iterable[str]) -> SampleColumns:
        """Select fields; metadata is one of them."""
        kept = frozenset(names)
        return replace(
            self,
            texts={name: one for name, one in self.texts.items() if name in kept},
            lists={name: one for name, one in self.lists.items() if name in kept},
            amounts={name: one for name, one in self.amounts.items() if name in kept},
            metadata=self.metadata if "metadata" in kept else None,
        )

    def names(self, rows: NDArray[np.bool_] | None = None) -> frozenset[str]:
        """The flagged fields that some row has."""
        flags: dict[str, Any] = {
            **{name: one.there() for name, one in self.texts.items()},
            **{name: one.filled() for name, one in self.lists.items()},
            **{name: ~np.isnan(one) for name, one in self.amounts.items()},
        }
        if (contexts := self.lists.get("retrieved_contexts")) is not None:
            # No context at all is something, too.
            flags["retrieved_contexts"] = contexts.there()
        return frozenset(
            name for name, one in flags.items() if (one if rows is None else one & rows).any()
        )

    @property
    def text_bytes(self) -> int:
        """Total size of all texts in bytes."""
        columns = [*self.texts.values(), *(one.texts for one in self.lists.values())]
        return sum(int(one.ends[-1] - one.ends[0]) for one in columns)


class PackedRows:
    """Builds columns from rows."""

    __slots__ = ("_amounts", "_lines", "_lists", "_metadata", "_numbers", "_texts", "_words")

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._lines: list[int] = []
        self._texts = {name: TextWriter() for name in TEXTS}
        self._lists = {name: ListWriter() for name in LISTS}
        self._amounts: dict[str, list[float | None]] = {name: [] for name in AMOUNTS}
        self._metadata: list[tuple[Scalar, ...]] = []
        self._words: dict[Scalar, Scalar] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def append(self, one: tuple[int, SampleRow]) -> None:
        """Append a row with its number."""
        number, row = one
        self._numbers.append(number)
        self._lines.append(row.line)
        for name, texts in self._texts.items():
            texts.add(getattr(row, name))
        for name, lists in self._lists.items():
            lists.add(getattr(row, name))
        for name, amounts in self._amounts.items():
            amounts.append(getattr(row, name))
        if row.metadata:
            self._metadata.append(tuple(map(self._known, row.metadata)))

    def rows(self) -> SampleColumns:
        """All rows; no more can be added."""
        texts = {name: one.column() for name, one in self._texts.items()}
        lists = {name: one.column() for name, one in self._lists.items()}
        amounts = {name: np.array(one, np.float64) for name, one in self._amounts.items()}
        return SampleColumns(
            {name: one for name, one in texts.items() if one.there().any()},
            {name: one for name, one in lists.items() if _says(name, one)},
            {name: one for name, one in amounts.items() if not np.isnan(one).all()},
            self._metadata or None,
            _plain(self._lines),
        )

    def counted(self) -> Sequence[int]:
        """The row number of each in the file, from 1."""
        return _plain(self._numbers)

    def _known(self, value: Scalar) -> Scalar:
        # Most values of metadata are a few words, again and again.
        return self._words.setdefault(value, value) if isinstance(value, str) else value


def gathered(
    rows: Iterable[tuple[int, SampleRow]], reading: SampleReading
) -> list[tuple[int, SampleRow]] | PackedRows:
    """Rows with their numbers, stored as the reading asks."""
    return packed(rows) if reading.packed else list(rows)


def packed(rows: Iterable[tuple[int, SampleRow]]) -> PackedRows:
    """Pack rows with their numbers into columns."""
    found = PackedRows()
    for one in rows:
        found.append(one)
    return found


def unzipped(
    rows: Sequence[tuple[int, SampleRow]] | PackedRows,
) -> tuple[Sequence[SampleRow], Sequence[int]]:
    """Separate rows from their numbers."""
    if isinstance(rows, PackedRows):
        return rows.rows(), rows.counted()
    return [row for _, row in rows], [number for number, _ in rows]


def _says(name: str, column: ListColumn) -> bool:
    """Whether some row says something: no context at all is something, too."""
    contexts = name == "retrieved_contexts" and bool(column.there().any())
    return contexts or bool(column.filled().any())


def _amounts(column: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]


def _plain(numbers: list[int]) -> Sequence[int]:
    """The numbers, those that follow each other as a range; rows of several files need not."""
    found = range(numbers[0], numbers[0] + len(numbers)) if numbers else range(0)
    return found if all(map(eq, numbers, found)) else array("q", numbers)
