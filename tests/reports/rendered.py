"""A run or a comparison as each medium shows it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cached_property

from rich.console import Console

from valor_cli.reports.document import Document, Table
from valor_cli.reports.explorer.data import explorer_of
from valor_cli.reports.render.html import to_html
from valor_cli.reports.render.markdown import to_markdown
from valor_cli.reports.render.terminal import to_terminal
from valor_cli.reports.sections.compared import compared_report
from valor_cli.reports.sections.report import report
from valor_cli.results import ComparedRuns, EmbeddedImages, RunResult


def document(found: RunResult | ComparedRuns) -> Document:
    """Its report, whatever the medium."""
    return compared_report(found) if isinstance(found, ComparedRuns) else report(found)


def terminal(
    found: RunResult | ComparedRuns,
    files: Sequence[str] = (),
    width: int = 80,
    *,
    colour: bool = False,
) -> str:
    """What is printed on a screen of that width."""
    return _screen(document(found), files, width, colour)


def _screen(told: Document, files: Sequence[str], width: int, colour: bool) -> str:
    out = io.StringIO()
    system = "truecolor" if colour else None
    console = Console(file=out, width=width, force_terminal=colour, color_system=system)  # type: ignore[arg-type]
    console.print(to_terminal(told, files))
    return out.getvalue()


def markdown(found: RunResult | ComparedRuns) -> str:
    return to_markdown(document(found))


def page(found: RunResult | ComparedRuns, images: EmbeddedImages | None = None) -> str:
    """The page, of a run with all its samples."""
    return _whole_page(found, document(found), images or EmbeddedImages())


def _whole_page(found: RunResult | ComparedRuns, told: Document, images: EmbeddedImages) -> str:
    if isinstance(found, ComparedRuns):
        return to_html(told)
    return to_html(told, explorer_of(found, images), linked=bool(images.links))


class Rendered:
    """A run or a comparison in all media, each made once."""

    def __init__(self, found: RunResult | ComparedRuns) -> None:
        self.run = found
        self._screens: dict[tuple[object, ...], str] = {}

    @cached_property
    def document(self) -> Document:
        return document(self.run)

    @cached_property
    def markdown(self) -> str:
        return to_markdown(self.document)

    @cached_property
    def page(self) -> str:
        return _whole_page(self.run, self.document, EmbeddedImages())

    def terminal(self, files: Sequence[str] = (), width: int = 80, *, colour: bool = False) -> str:
        at = (*files, width, colour)
        if at not in self._screens:
            self._screens[at] = _screen(self.document, files, width, colour)
        return self._screens[at]


def texts(table: Table) -> list[list[str]]:
    """The words of a table's cells, row by row."""
    return [[cell.text for cell in row] for row in table.rows]
