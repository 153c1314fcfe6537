"""A run and its pictures in; what the HTML report shows of its errors out, drawings included."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.anchors import Anchors
from valor_cli.reports.breakdown import Breakdown, Kind, breakdowns
from valor_cli.reports.cases import CASES, MISTAKES, Dialogs, opener
from valor_cli.reports.confusion import confusions
from valor_cli.reports.drawings import Drawings, embedded
from valor_cli.reports.formatting import number, plain, signed
from valor_cli.reports.grids import Cell
from valor_cli.reports.leaderboard import strip
from valor_cli.reports.matrices import matrices
from valor_cli.reports.outcomes import OUTCOMES, legend
from valor_cli.reports.worst import WorstImage, worst_images
from valor_cli.results import Pictures, RunResult

IMAGES = 24
"""Worst images shown of each model."""

OVERLAYS = 900_000
"""Bytes of overlays embedded at most, 1.2 MB of the page; it says how many it left out."""

SWATCHES = 40
"""Labels whose colours are explained at most."""


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


def gallery(
    result: RunResult, pictures: Pictures, drawings: Drawings, anchors: Anchors
) -> dict[str, Any]:
    """The cards by model, and what explains them."""
    worst = worst_images(result, IMAGES)
    overlays, left_out = _overlays(worst, pictures)
    swatches = list(pictures.colours.items()) if overlays else []
    return {
        "gallery": [
            [_card(image, drawings, overlays, anchors) for image in images] for images in worst
        ],
        "measure": next((image.measure for images in worst for image in images), ""),
        "overlaid": len(overlays),
        "left_out": left_out,
        "swatches": [(colour, plain(name, 40)) for name, colour in swatches[:SWATCHES]],
        "more_swatches": max(len(swatches) - SWATCHES, 0),
        "legend": legend(name for images in worst for image in images for name in image.counts),
    }


def _overlays(
    worst: Sequence[Sequence[WorstImage]], pictures: Pictures
) -> tuple[dict[int, bytes], int]:
    """Of each card, by its identity: the worst of every model before the second worst of any."""
    shown: dict[int, bytes] = {}
    left_out = 0
    room = OVERLAYS
    for rank in zip_longest(*worst):
        for image in filter(None, rank):
            picture = image.example.picture
            file = picture.file if picture else None
            content = pictures.overlays.get((image.example.model, file)) if file else None
            if content is None:
                continue
            room -= len(content)
            if room < 0:
                left_out += 1
            else:
                shown[id(image)] = content
    return shown, left_out


def _card(
    image: WorstImage, drawings: Drawings, overlays: dict[int, bytes], anchors: Anchors
) -> dict[str, Any]:
    drawing = None if id(image) in overlays else drawings.draw(image.example)
    return {
        "name": image.name,
        "anchor": anchors.name(image.example.sample_id, image.example.model),
        "file": image.file,
        "measure": image.measure,
        "value": image.value,
        "others": image.others,
        "drawing": drawing,
        "overlay": _picture(image, overlays[id(image)]) if id(image) in overlays else None,
        "undrawn": drawing is None and bool(image.example.objects),
        "counts": [(OUTCOMES[name], count) for name, count in image.counts.items()],
    }


def _picture(image: WorstImage, content: bytes) -> Markup:
    told = escape(f"Image {image.name}: ground truth, prediction and errors side by side")
    ready = f'<img alt="{told}" loading="lazy" decoding="async" src="{embedded(content)}">'
    return Markup(ready)  # noqa: S704 - escaped just before
