"""A run and its pictures in; what the HTML report shows of its errors out, drawings included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.breakdown import Breakdown, Kind, breakdowns
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
from valor_cli.reports.outcomes import OUTCOMES, outcome_of
from valor_cli.reports.worst import worst_images
from valor_cli.results import ExampleObject, ExampleResult, RunResult

IMAGES = 24
"""Worst images shown of each model."""

EXAMPLES = 3
"""Examples shown of each cell."""

CASES = 300
"""Examples shown of each model's confusions; of many models together twice as many."""

OBJECTS = 6
"""Objects listed under an example."""

ENTRIES = 12_000
"""Cells of confusion matrices at most; the page says how many matrices it left out."""


def illustrated(result: RunResult, pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """The parts of errors.html.j2: breakdowns, gallery, matrices, and the pictures they use."""
    drawings = Drawings(pictures, 2 * len(result.models))
    gallery = _gallery(result, drawings)
    found = confusions(result)
    matrices: list[dict[str, Any]] = []
    room = ENTRIES
    most = min(CASES, 2 * CASES // max(len(result.models), 1))
    cases = dict.fromkeys(range(len(result.models)), most)
    for confusion in found:
        shown = matrix(confusion)
        room -= len(shown.rows) ** 2
        if matrices and room < 0:
            break
        panel = _panel(confusion, shown, len(matrices), cases, drawings)
        matrices.append(panel | {"title": _title(confusion, result.models)})
    return {
        "breakdowns": [_breakdown(one) for one in breakdowns(result)],
        "gallery": gallery,
        "pictured": [(i, plain(m, 60)) for i, m in enumerate(result.models) if gallery[i]],
        "matrices": matrices,
        "all_matrices": len(found),
        "outcomes": list(OUTCOMES.values()),
        "definitions": drawings.definitions(),
    }


def _breakdown(found: Breakdown) -> dict[str, Any]:
    """Rows of bars that share one scale; the whole sides have their own rows below."""
    rows = (*found.kinds, *found.sides)
    costs = [share.cost or 0.0 for kind in rows for share in kind.shares]
    end = max([*costs, 0.0]) or 1.0
    return {
        "detail": found.detail,
        "kinds": [_bars(kind, end) for kind in found.kinds],
        "sides": [_bars(kind, end) for kind in found.sides],
    }


def _bars(kind: Kind, end: float) -> dict[str, Any]:
    cells = []
    for model, share in enumerate(kind.shares):
        cost = None if share.cost is None else -share.cost
        drawn = strip([Cell(share.cost, None)], (0.0, end), model)
        count = "" if share.count is None else number(share.count, "count")
        cells.append((signed(cost), count, share.undefined or "", drawn))
    return {"name": kind.name, "meaning": kind.meaning, "cells": cells}


def _gallery(result: RunResult, drawings: Drawings) -> list[list[dict[str, Any]]]:
    """Cards by model."""
    return [
        [
            {
                "name": image.name,
                "file": image.file,
                "f1": image.f1,
                "drawing": drawings.draw(image.example),
                "counts": [(OUTCOMES[name], count) for name, count in image.counts.items()],
            }
            for image in images
        ]
        for images in worst_images(result, IMAGES)
    ]


def _title(confusion: Confusion, models: Sequence[str]) -> str:
    model = plain(models[confusion.model], 60)
    if len(models) == 1:
        return confusion.detail or model
    return f"{model} ({confusion.detail})" if confusion.detail else model


def _panel(
    confusion: Confusion, shown: Matrix, index: int, cases: dict[int, int], drawings: Drawings
) -> dict[str, Any]:
    """A matrix with ready cells, and a dialog for each cell that has examples."""
    dialogs: list[dict[str, Any]] = []
    names: dict[Place, str] = {}
    for place, entry in _illustrated(shown):
        few = confusion.examples[place][: min(EXAMPLES, cases[confusion.model])]
        if few and place not in names:
            cases[confusion.model] -= len(few)
            names[place] = f"c{index}-{len(dialogs)}"
            dialogs.append(
                {
                    "id": names[place],
                    "title": _meaning(confusion, place),
                    "count": number(entry.count, "count"),
                    "cases": [_case(example, drawings) for example in few],
                }
            )
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
        return f"{row} not found"
    return f"{row} found" if row == column else f"{row} taken for {column}"


def _td(entry: Entry, names: Mapping[Place, str], confusion: Confusion) -> str:
    if not entry.count:
        return "<td></td>"
    text = number(entry.count, "count")
    if entry.place and entry.place in names:
        meaning = escape(f"{_meaning(confusion, entry.place)}, {text}: show examples")
        text = (
            f'<button type="button" popovertarget="{names[entry.place]}" '
            f'aria-label="{meaning}">{text}</button>'
        )
    # The root tells small parts of a row from none.
    shade = f"{entry.share**0.5:.2g}"
    return f'<td class="{entry.kind}" style="--v:{shade}" title="{entry.share:.1%}">{text}</td>'


def _case(example: ExampleResult, drawings: Drawings) -> dict[str, Any]:
    picture = example.picture
    return {
        "name": plain(str(example.sample_id), 60),
        "file": plain(picture.file, 120) if picture and picture.file else "",
        "drawing": drawings.draw(example),
        "objects": [_object(thing, example.kind) for thing in example.objects[:OBJECTS]],
    }


def _object(thing: ExampleObject, kind: str) -> tuple[str, str, str, str, str]:
    outcome = outcome_of(thing, kind)
    what = "ground truth" if thing.role == "ground_truth" else "prediction"
    score = "" if thing.score is None else number(thing.score)
    return outcome.name, what, plain(thing.label, 60), score, plain(str(thing.id), 60)
