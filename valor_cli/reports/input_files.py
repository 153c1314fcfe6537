"""The record of an input file comes in; what reports show of it goes out."""

from __future__ import annotations

from typing import Final, NamedTuple

from valor_cli.reports.formatting import NO_VALUE, plain
from valor_cli.results import InputFile

_LONGEST: Final = 200


class ShownInput(NamedTuple):
    """A file, how many rows it has, how many of them were left out, and its sha256."""

    path: str
    rows: str
    skipped: str
    sha256: str


def shown_input(file: InputFile) -> ShownInput:
    """The file as reports show it; of one that was left out, that."""
    return ShownInput(
        plain(file.path, _LONGEST),
        NO_VALUE if file.rows is None else f"{file.rows:,}",
        f"{file.skipped:,}" if file.left_out is None else "left out",
        NO_VALUE if file.sha256 is None else plain(file.sha256),
    )
