"""A file of baselines as bert-score publishes them in; what is subtracted of a layer out."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from valor_cli.errors import DataError, Problem
from valor_cli.readers.csv_columns import csv_reader

_HEADER = ["LAYER", "P", "R", "F"]


@dataclass(frozen=True, slots=True)
class Baselines:
    """Precision, recall and F1 of texts that have nothing to do with each other, by layer."""

    path: str
    layers: Mapping[int, tuple[float, float, float]]

    def of_layer(self, layer: int) -> tuple[float, float, float]:
        """Precision, recall and F1 of a layer.

        Raises:
            DataError: The file has no such layer.
        """
        if layer not in self.layers:
            message = f"has no layer {layer}: it has {min(self.layers)} to {max(self.layers)}"
            raise DataError(Problem(self.path, message), hint="is it of another model?")
        return self.layers[layer]


def baselines_in(path: str) -> Baselines:
    """The baselines in a file with the columns LAYER, P, R and F.

    Raises:
        DataError: The file cannot be used.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv_reader(file, ",", strict=False))
    except OSError as error:
        raise DataError(Problem(path, f"cannot be read: {error.strerror or error}")) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(Problem(path, f"is no CSV: {error}")) from None
    if not rows or rows[0] != _HEADER:
        shown = ",".join(rows[0])[:100] if rows else "nothing"
        raise DataError(Problem(f"{path}:1", f"expected LAYER,P,R,F, found {shown}"))
    layers = dict(_row(path, at, row) for at, row in enumerate(rows[1:], 2) if row)
    if not layers:
        raise DataError(Problem(path, "has no layers"))
    return Baselines(path, layers)


def _row(path: str, line: int, row: list[str]) -> tuple[int, tuple[float, float, float]]:
    try:
        layer, precision, recall, f1 = int(row[0]), *map(float, row[1:])
        if not all(-1 <= one < 1 for one in (precision, recall, f1)):
            raise ValueError
    except ValueError:
        found = ",".join(row)[:100]
        message = f"expected a layer and three numbers from -1 to below 1, found {found}"
        raise DataError(Problem(f"{path}:{line}", message)) from None
    return layer, (precision, recall, f1)
