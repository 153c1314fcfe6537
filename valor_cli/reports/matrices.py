"""Tables of confusions in; the HTML report's matrices, with the dialogs of their cells, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.cases import Dialogs, opener
from valor_cli.reports.confusion import (
    Confusion,
    Entry,
    Matrix,
    Place,
    lone_sides,
    matrix,
)
from valor_cli.reports.formatting import number, percent, plain, short

FAINT = 0.001
"""Smaller parts of the pixels of a row are there to be found, not to be seen."""

BRIEF = 3
"""Characters of labels that need not be turned to stand above their columns."""

ENTRIES = 12_000
"""Cells of confusion matrices at most; the page says how many matrices it left out."""


def matrices(
    found: Sequence[Confusion], models: Sequence[str], cases: Dialogs
) -> list[dict[str, Any]]:
    """As many as there is room for, the first in any case."""
    panels: list[dict[str, Any]] = []
    sides = lone_sides(found)
    room = ENTRIES
    for confusion in found:
        shown = matrix(confusion)
        room -= len(shown.rows) ** 2
        if panels and room < 0:
            break
        title = _title(confusion, models)
        panels.append(_panel(confusion, shown, sides, cases) | {"title": title})
    return panels


def _title(confusion: Confusion, models: Sequence[str]) -> str:
    model = models[confusion.model]
    if len(models) == 1:
        return confusion.detail or model
    return f"{model} ({confusion.detail})" if confusion.detail else model


def _panel(
    confusion: Confusion, shown: Matrix, sides: tuple[bool, bool], cases: Dialogs
) -> dict[str, Any]:
    """A matrix with ready cells, and a dialog for each cell that has examples.

    `sides` says whether the last column and the last row have anything to show.
    """
    dialogs: list[dict[str, Any]] = []
    names: dict[Place, str] = {}
    for place, entry in _illustrated(shown):
        examples = confusion.examples[place]
        count = number(entry.count, "count")
        made = cases.dialog(confusion.model, _meaning(confusion, place), count, examples)
        if made:
            names[place] = made["id"]
            dialogs.append(made)
    missed, alone = sides
    heads = [*shown.labels, *(["no ground truth"] if alone else [])]
    rows = []
    for head, row in zip(heads, shown.rows, strict=False):
        entries = row if missed else row[:-1]
        cells = "".join(_td(entry, names, confusion) for entry in entries)
        rows.append((head, Markup(cells)))  # noqa: S704 - _td escapes what comes from the data
    return {
        "labels": shown.labels,
        "brief": all(len(label) <= BRIEF for label in shown.labels),
        "rows": rows,
        "missed": missed,
        "alone": alone,
        "hidden": shown.hidden,
        "settings": confusion.settings,
        "pixels": confusion.pixels,
        "dialogs": dialogs,
    }


def _illustrated(shown: Matrix) -> list[tuple[Place, Entry]]:
    """The cells with examples, errors first and the largest before the rest."""
    entries = [(one.place, one) for row in shown.rows for one in row if one.place and one.count]
    return sorted(entries, key=lambda pair: (pair[1].kind == "right", -pair[1].count))


def _meaning(confusion: Confusion, place: Place) -> str:
    labels = confusion.table.labels
    row, column = (None if side is None else plain(labels[side], 60) for side in place)
    if row is None:
        return f"{column} predicted where nothing is"
    if column is None:
        return f"{row} without a prediction"
    return f"{row} found" if row == column else f"{row} taken for {column}"


def _td(entry: Entry, names: Mapping[Place, str], confusion: Confusion) -> str:
    if not entry.count:
        return "<td></td>"
    share = escape(percent(entry.share))
    title = f"{entry.count:,} px, {share}" if confusion.pixels else share
    text = share.replace("%", "") if confusion.pixels else short(entry.count)
    if not confusion.pixels and text != f"{entry.count:,}":
        title = f"{entry.count:,}, {share}"
    if entry.iou is not None:
        title += f", IoU {number(entry.iou)}"
    if entry.place and entry.place in names:
        text = opener(names[entry.place], _meaning(confusion, entry.place), text)
    # The root tells small parts of a row from none.
    shade = f"{entry.share**0.5:.2g}"
    faint = " faint" if confusion.pixels and entry.share < FAINT else ""
    return f'<td class="{entry.kind}{faint}" style="--v:{shade}" title="{title}">{text}</td>'
