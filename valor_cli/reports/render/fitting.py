"""Fit tables to the width of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from valor_cli.reports.digests.formatting import clean

NAME = 24
"""Characters of a name that a table keeps at least, or all of a shorter one."""

HEADING = 32
"""Characters of a heading at most; it stands on several lines where its column is narrower."""

GAP = 2
"""Characters between two columns."""

_PIECE: Final = re.compile(r"(?:\[[^\[\]]{,24}\]|[^\s_/=,:\-])*(?: [↑↓])?[_/=,:\-]*\s*")
"""What names are broken after: spaces, and signs between words; not in brackets or at arrows."""


def folded(text: str, width: int) -> list[str]:
    """A name in lines, broken between its words: "metadata.", "sensitive_data_", "leakage ↑"."""
    lines = [""]
    for word in _PIECE.findall(text):
        for piece in [word] if cell_len(word.rstrip()) <= width else chop_cells(word, width):
            if cell_len((lines[-1] + piece).rstrip()) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return lines


class Name:
    """A name that is folded between its words where its column is narrow."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text.plain

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        ends = accumulate(map(len, folded(self._text.plain, options.max_width)))
        for line in self._text.divide(list(ends)[:-1]):
            line.rstrip()
            yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self._text.plain)
        return Measurement(min(width, NAME), width).with_maximum(options.max_width)


def grid(*headings: str, width: int = HEADING) -> Table:
    """A borderless table: the first column left-aligned and wrapping, numbers right-aligned."""
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for index, heading in enumerate(headings):
        shown = clean(heading, HEADING) if heading else ""
        made.add_column(
            Text("\n".join(map(str.rstrip, folded(shown, width)))) if index else Name(Text(shown)),
            justify="right" if index else "left",
            overflow="fold",
            no_wrap=index > 0,
        )
    return made


class Fitting:
    """The first of several forms that fits; otherwise the last.

    Args:
        forms: The best form first. Of a table the columns that wrap may be folded, but not below
            `NAME` characters.
    """

    def __init__(self, forms: Iterable[Sequence[RenderableType]]) -> None:
        self._forms = tuple(map(tuple, forms))
        self._least = tuple(map(_least, self._forms))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        sized = zip(self._forms, self._least, strict=True)
        yield from next((form for form, least in sized if least <= width), self._forms[-1])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(self._least), max(self._least))


def _least(form: Sequence[RenderableType]) -> int:
    """The width below which a form would lose digits or names."""
    widths = [0]
    for part in form:
        if isinstance(part, Table):
            width = GAP * (len(part.columns) - 1)
            for column in part.columns:
                widest = _widest(column)
                if column.no_wrap:  # Rich would cut its digits off
                    column.min_width = widest
                width += widest if column.no_wrap else min(NAME, widest)
            widths.append(width)
        elif isinstance(part, Text) and part.no_wrap:
            widths.append(max(map(cell_len, part.plain.split("\n"))))
    return max(widths)


def _widest(column: Column) -> int:
    texts = (str(cell) for cell in (column.header, *column.cells))
    return max(cell_len(line) for text in texts for line in text.split("\n"))


class Page:
    """Stacked parts, as wide as the tables and, if not on a terminal, the lines.

    Args:
        parts: What it shows; `Fitting` ones ask for room.
        whole: Texts that a program may look for: only a terminal folds them.
    """

    def __init__(self, parts: Iterable[RenderableType], whole: Iterable[str]) -> None:
        self._parts = tuple(parts)
        self._whole = max(map(cell_len, whole), default=0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Group]:
        yield Group(*self._parts)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        fitting = [part for part in self._parts if isinstance(part, Fitting)]
        found = [part.__rich_measure__(console, options) for part in fitting]
        least = max((one.minimum for one in found), default=1)
        if not console.is_terminal:
            least = max(least, self._whole)
        return Measurement(least, max((one.maximum for one in found), default=least))
