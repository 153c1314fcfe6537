"""What every reader hands out: columns of equal length that know where each row stood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[Any]]
InvalidRows: TypeAlias = Literal["error", "skip"]
"""What to do with rows that cannot be used: stop with an error, or leave them out and count."""

SKIP_HINT = "Mend these rows, or set `on_invalid: skip` under `data:` to leave them out."


@dataclass(frozen=True, slots=True)
class Table:
    """Columns read from one file.

    Attributes:
        path: The file, as the user wrote it.
        columns: Arrays by name; the first dimension of each is the row.
        place: How a row is named in the file: "[{row}]", "annotations[{row}]".
        rows: Position in the file of each row, shape (n,); None when no row was skipped.
        skipped: How many rows were left out as invalid.

    Raises:
        ValueError: The columns differ in length.
    """

    path: str
    columns: Mapping[str, NDArray[Any]]
    place: str = "[{row}]"
    rows: NDArray[np.int64] | None = None
    skipped: int = 0

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns differ in length: {lengths}")

    def __len__(self) -> int:
        return next((len(column) for column in self.columns.values()), 0)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def place_of(self, row: int) -> str:
        """Where a row of this table stands in its file, as "gt.json: annotations[17]"."""
        position = row if self.rows is None else int(self.rows[row])
        return f"{self.path}: {self.place.format(row=position)}"
