"""A run and its pictures in; what the HTML report shows of its errors out, drawings included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from valor_cli.reports.breakdown import Breakdown, Kind, breakdowns
from valor_cli.reports.cases import CASES, MISTAKES, Dialogs, opener
from valor_cli.reports.confusion import (
    Confusion,
    Entry,
    Matrix,
    Place,
    confusions,
    matrix,
)
from valor_cli.reports.digest import Cell
from valor_cli.reports.drawings import Drawings
from valor_cli.reports.formatting import number, plain, signed
from valor_cli.reports.leaderboard import strip
from valor_cli.reports.outcomes import OUTCOMES, legend
from valor_cli.reports.worst import WorstImage, worst_images
from valor_cli.results import RunResult

IMAGES = 24
"""Worst images shown of each model."""

ENTRIES = 12_000
"""Cells of confusion matrices at most; the page says how many matrices it left out."""


def illustrated(result: RunResult, pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """The parts of errors.html.j2: breakdowns, gallery, matrices, and the pictures they use."""
    models = [plain(model, 60) for model in result.models]
    drawings = Drawings(pictures, 3 * len(models))
    worst = worst_images(result, IMAGES)
    gallery = [[_card(image, drawings) for image in images] for images in worst]
    mistakes = Dialogs("e", len(models), MISTAKES, drawings)
    lost = [_breakdown(one, models, mistakes) for one in breakdowns(result)]
    found = confusions(result)
    matrices: list[dict[str, Any]] = []
    room = ENTRIES
    cases = Dialogs("c", len(models), CASES, drawings)
    for confusion in found:
        shown = matrix(confusion)
        room -= len(shown.rows) ** 2
        if matrices and room < 0:
            break
        matrices.append(_panel(confusion, shown, cases) | {"title": _title(confusion, models)})
    return {
        "breakdowns": lost,
        "gallery": gallery,
        "pictured": [(i, model) for i, model in enumerate(models) if gallery[i]],
        "matrices": matrices,
        "all_matrices": len(found),
        "legend": legend(name for images in worst for image in images for name in image.counts),
        "definitions": drawings.definitions(),
    }


def _breakdown(found: Breakdown, models: Sequence[str], dialogs: Dialogs) -> dict[str, Any]:
    """Rows of bars that share one scale; the whole sides have their own rows below."""
    rows = (*found.kinds, *found.sides)
    costs = [share.cost or 0.0 for kind in rows for share in kind.shares]
    end = max([*costs, 0.0]) or 1.0
    opened: list[dict[str, Any]] = []
    return {
        "detail": found.detail,
        "kinds": [_bars(kind, end, models, dialogs, opened) for kind in found.kinds],
        "sides": [_bars(kind, end, models, dialogs, opened) for kind in found.sides],
        "dialogs": opened,
    }


def _bars(
    kind: Kind, end: float, models: Sequence[str], dialogs: Dialogs, opened: list[dict[str, Any]]
) -> dict[str, Any]:
    """A row; the counts that have examples are buttons, whose dialogs join `opened`."""
    cells = []
    for model, share in enumerate(kind.shares):
        cost = None if share.cost is None else -share.cost
        drawn = strip([Cell(share.cost, None)], (0.0, end), model)
        count = "" if share.count is None else number(share.count, "count")
        meaning = f"{kind.name.capitalize()}, {models[model]}"
        dialog = dialogs.dialog(model, meaning, count, share.examples) if share.count else None
        if dialog:
            opened.append(dialog)
            ready = opener(dialog["id"], meaning, count)
            count = Markup(ready)  # noqa: S704 - opener escapes what comes from the data
        cells.append((signed(cost), count, share.undefined or "", drawn))
    return {"name": kind.name, "meaning": kind.meaning, "cells": cells}


def _card(image: WorstImage, drawings: Drawings) -> dict[str, Any]:
    return {
        "name": image.name,
        "file": image.file,
        "f1": image.f1,
        "drawing": drawings.draw(image.example),
        "counts": [(OUTCOMES[name], count) for name, count in image.counts.items()],
    }


def _title(confusion: Confusion, models: Sequence[str]) -> str:
    model = models[confusion.model]
    if len(models) == 1:
        return confusion.detail or model
    return f"{model} ({confusion.detail})" if confusion.detail else model


def _panel(confusion: Confusion, shown: Matrix, cases: Dialogs) -> dict[str, Any]:
    """A matrix with ready cells, and a dialog for each cell that has examples."""
    dialogs: list[dict[str, Any]] = []
    names: dict[Place, str] = {}
    for place, entry in _illustrated(shown):
        count = number(entry.count, "count")
        examples = confusion.examples[place]
        made = cases.dialog(confusion.model, _meaning(confusion, place), count, examples)
        if made:
            names[place] = made["id"]
            dialogs.append(made)
    rows = []
    heads = [*shown.labels, ""]
    for head, row in zip(heads, shown.rows, strict=True):
        cells = "".join(_td(entry, names, confusion) for entry in row)
        rows.append((head, Markup(cells)))  # noqa: S704 - _td escapes what comes from the data
    return {
        "labels": shown.labels,
        "rows": rows,
        "hidden": shown.hidden,
        "settings": confusion.settings,
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
    text = number(entry.count, "count")
    if entry.place and entry.place in names:
        text = opener(names[entry.place], _meaning(confusion, entry.place), text)
    # The root tells small parts of a row from none.
    shade = f"{entry.share**0.5:.2g}"
    return f'<td class="{entry.kind}" style="--v:{shade}" title="{entry.share:.1%}">{text}</td>'
