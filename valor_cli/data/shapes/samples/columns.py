"""Store rows of text samples as compact columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import eq
from typing import Any, Final, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.schema import LOGPROBS, SCHEMA
from valor_cli.kernels.columns.text_columns import ListColumn, TextColumn
from valor_cli.results import Scalar

Ints = NDArray[np.int64]
Logprobs: TypeAlias = tuple[float | None, ...]

TEXTS: Final = SCHEMA.of("id", "name", "text", "any", "path")
"""The fields of a row that are one text, or none."""

LISTS: Final = SCHEMA.of("texts", "contexts")
"""Those that are tuples of texts."""

AMOUNTS: Final = SCHEMA.of("amount")
"""Those that are numbers, or none."""


EMPTY: Final[Mapping[str, Any]] = dict.fromkeys(SCHEMA.of("texts"), ())
"""What a row without a value has, where that is not None."""


class SampleRow(NamedTuple):
    """A sample with a model's response.

    Attributes:
        values: What the row says, by the name of the field: a text, a number, or a tuple.
        metadata: Values of the metadata that is read.
        line: The position of the row in its file.
        file: The position of this in the input.
    """

    values: Mapping[str, Any]
    metadata: tuple[Scalar, ...] = ()
    line: int = 0
    file: int = 0

    def of(self, name: str) -> Any:
        """What the row says under a standard name; None or an empty tuple for nothing."""
        return self.values.get(name, EMPTY.get(name))

    def has(self, name: str) -> bool:
        """Whether the row has a value under a standard name; an empty text is a value."""
        return bool(self.of(name) != EMPTY.get(name))

    def saying(self, **values: Any) -> SampleRow:
        """The row with other values of some fields."""
        return self._replace(values={**self.values, **values})


@dataclass(frozen=True, slots=True, eq=False)
class SampleColumns(Sequence[SampleRow]):
    """Rows as columns.

    Attributes:
        texts, lists, amounts: By name, the fields that some row has; NaN is no amount.
        logprobs: The log-probabilities of each row; None: no row has any.
        metadata: The values of each row; None: no row has any.
        line, file: (n,) as in the rows.
    """

    texts: dict[str, TextColumn]
    lists: dict[str, ListColumn]
    amounts: dict[str, NDArray[np.float64]]
    logprobs: Sequence[Logprobs | None] | None
    metadata: Sequence[tuple[Scalar, ...]] | None
    line: Sequence[int]
    file: NDArray[np.int32]

    @staticmethod
    def of(rows: Sequence[SampleRow]) -> SampleColumns:
        """The columns of rows."""

        def column(name: str) -> list[Any]:
            return [row.of(name) for row in rows]

        logprobs, metadata = column(LOGPROBS), [row.metadata for row in rows]
        return SampleColumns(
            {name: TextColumn.of(column(name)) for name in TEXTS},
            {name: ListColumn.of(column(name)) for name in LISTS},
            {name: np.array(column(name), np.float64) for name in AMOUNTS},
            logprobs if any(logprobs) else None,
            metadata if any(metadata) else None,
            numbered([row.line for row in rows]),
            np.array([row.file for row in rows], np.int32),
        ).filled()

    @staticmethod
    def joined(parts: Sequence[SampleColumns], *, emptied: bool = False) -> SampleColumns:
        """Concatenate columns.

        Args:
            parts: One after the other.
            emptied: Whether they lose each column once it is copied, to take less memory.
        """
        if len(parts) == 1:
            return parts[0]
        texts = _joined([one.texts for one in parts], SampleColumns.text, parts, emptied=emptied)
        lists = _joined([one.lists for one in parts], SampleColumns.listed, parts, emptied=emptied)
        amounts = {
            name: np.concatenate([part.amount(name) for part in parts])
            for name in dict.fromkeys(name for part in parts for name in part.amounts)
        }
        logprobs: list[Logprobs | None] = []
        metadata: list[tuple[Scalar, ...]] = []
        for part in parts:
            logprobs += part.logprobs or (None,) * len(part)
            metadata += part.metadata or ()
        return SampleColumns(
            texts,
            lists,
            amounts,
            logprobs if any(part.logprobs for part in parts) else None,
            metadata or None,
            numbered([line for part in parts for line in part.line]),
            np.concatenate([np.zeros(0, np.int32), *(part.file for part in parts)]),
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
        columns: dict[str, Iterable[Any]] = {
            **self.texts,
            **self.lists,
            **{name: _amounts(column) for name, column in self.amounts.items()},
        }
        if self.logprobs is not None:
            columns[LOGPROBS] = self.logprobs
        values = zip(*columns.values(), strict=True) if columns else repeat((), len(self))
        rows = (dict(zip(columns, own, strict=True)) for own in values)
        metadata = self.metadata or repeat(())
        return map(SampleRow, rows, metadata, self.line, self.file.tolist())

    def part(self, low: int, high: int) -> SampleColumns:
        """The rows from `low` to below `high`, without copying texts."""
        return self._of_each(lambda column: column[low:high], lambda rows: rows[low:high])

    def take(self, at: Ints) -> SampleColumns:
        """Select rows, in any order."""
        if np.array_equal(at, np.arange(len(self))):
            return self
        chosen = at.tolist()
        found = self._of_each(
            lambda column: column.take(at), lambda rows: [rows[one] for one in chosen]
        )
        return replace(found, line=numbered([*found.line]))

    def _of_each(
        self, column: Callable[[Any], Any], rows: Callable[[Sequence[Any]], Sequence[Any]]
    ) -> SampleColumns:
        return SampleColumns(
            {name: column(one) for name, one in self.texts.items()},
            {name: column(one) for name, one in self.lists.items()},
            {name: column(one) for name, one in self.amounts.items()},
            None if self.logprobs is None else rows(self.logprobs),
            None if self.metadata is None else rows(self.metadata),
            rows(self.line),
            column(self.file),
        )

    def only(self, names: Iterable[str]) -> SampleColumns:
        """Select fields; log-probabilities and metadata are some of them."""
        kept = frozenset(names)
        return replace(
            self,
            texts={name: one for name, one in self.texts.items() if name in kept},
            lists={name: one for name, one in self.lists.items() if name in kept},
            amounts={name: one for name, one in self.amounts.items() if name in kept},
            logprobs=self.logprobs if LOGPROBS in kept else None,
            metadata=self.metadata if "metadata" in kept else None,
        )

    def with_text(self, name: str, texts: Iterable[str | None]) -> SampleColumns:
        """Replace or add a text field."""
        return replace(self, texts={**self.texts, name: TextColumn.of(texts)})

    def filled(self) -> SampleColumns:
        """Drop fields that no row has."""
        return self.only({*self.names(), LOGPROBS, "metadata"})

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


def _joined(
    columns: Sequence[dict[str, Any]],
    column: Callable[[SampleColumns, str], Any],
    parts: Sequence[SampleColumns],
    *,
    emptied: bool,
) -> dict[str, Any]:
    """The columns of several parts, by name."""
    found = {}
    for name in dict.fromkeys(name for own in columns for name in own):
        own = [column(part, name) for part in parts]
        found[name] = type(own[0]).joined(own)
        del own
        for part in columns if emptied else ():
            part.pop(name, None)
    return found


def _amounts(column: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]


def numbered(numbers: list[int]) -> Sequence[int]:
    """The numbers, those that follow each other as a range; rows of several files need not."""
    found = range(numbers[0], numbers[0] + len(numbers)) if numbers else range(0)
    return found if all(map(eq, numbers, found)) else array("q", numbers)
