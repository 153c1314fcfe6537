"""Fit tables to the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from valor_cli.reports.digests.formatting import clean

NAME = 24
"""Characters of a name that a table keeps at least, or all of a shorter one."""

HEADING = 32
"""Characters of a heading at most; it stands on several lines where its column is narrower."""


def grid(*headings: str, width: int = HEADING) -> Table:
    """A borderless table: the first column left-aligned and wrapping, numbers right-aligned."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, heading in enumerate(headings):
        shown = clean(heading, HEADING) if heading else ""
        made.add_column(
            Text("\n".join(wrap(shown, width)) if index else shown),
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

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        fits = (form for form in self._forms if _least(form, console, options) <= width)
        yield from next(fits, self._forms[-1])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        least = [_least(form, console, options) for form in self._forms]
        return Measurement(min(least), max(least))


def _least(form: Sequence[RenderableType], console: Console, options: ConsoleOptions) -> int:
    """The width below which a form would lose digits or names."""
    wide = options.update(width=10_000)
    widths = [0]
    for part in form:
        if isinstance(part, Table):
            names = [column for column in part.columns if not column.no_wrap]
            for column in part.columns:
                if column.no_wrap:  # Rich would cut its digits off
                    column.min_width = _widest(column)
            for column in names:
                column.max_width = column.min_width = min(NAME, _widest(column))
            widths.append(Measurement.get(console, wide, part).minimum)
            for column in names:
                column.max_width = column.min_width = None
        elif isinstance(part, Text) and part.no_wrap:
            widths.append(Measurement.get(console, wide, part).maximum)
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
