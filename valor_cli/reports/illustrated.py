"""A run and its pictures in; what the HTML report shows of its errors out, drawings included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from valor_cli.reports.anchors import Anchors
from valor_cli.reports.breakdown import Breakdown, Kind, breakdowns
from valor_cli.reports.cases import CASES, MISTAKES, Dialogs, opener
from valor_cli.reports.confusion import confusions
from valor_cli.reports.drawings import Drawings
from valor_cli.reports.formatting import number, plain, signed
from valor_cli.reports.gallery import gallery
from valor_cli.reports.grids import Cell
from valor_cli.reports.leaderboard import strip
from valor_cli.reports.matrices import matrices
from valor_cli.results import Pictures, RunResult


def illustrated(result: RunResult, pictures: Pictures, anchors: Anchors) -> dict[str, Any]:
    """The parts of errors.html.j2: breakdowns, gallery, matrices, and the pictures they use."""
    models = [plain(model, 60) for model in result.models]
    drawings = Drawings(pictures.photos, 3 * len(models))
    worst = gallery(result, pictures, drawings, anchors)
    mistakes = Dialogs("e", len(models), MISTAKES, drawings, anchors)
    lost = [_breakdown(one, models, mistakes) for one in breakdowns(result)]
    found = confusions(result)
    cases = Dialogs("c", len(models), CASES, drawings, anchors)
    return {
        "breakdowns": lost,
        **worst,
        "pictured": [(i, model) for i, model in enumerate(models) if worst["gallery"][i]],
        "matrices": matrices(found, models, cases),
        "all_matrices": len(found),
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
