"""Error sections of the HTML report, with drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.render.html.drawings import Drawings, embedded
from valor_cli.reports.render.html.example_dialogs import CASES, MISTAKES, Dialogs, opener
from valor_cli.reports.render.html.leaderboard import strip
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.errors.breakdown import Breakdown, Kind, breakdowns
from valor_cli.reports.sections.errors.confusion import (
    Confusion,
    Entry,
    Matrix,
    Place,
    confusions,
    lone_sides,
    matrix,
)
from valor_cli.reports.sections.errors.outcomes import OUTCOMES, legend
from valor_cli.reports.sections.errors.worst_images import WorstImage, worst_images
from valor_cli.reports.sections.formatting import clean, number, percent, short, signed
from valor_cli.reports.sections.grids import Cell
from valor_cli.results import EmbeddedImages, RunResult

IMAGES = 24
"""Worst images shown of each model."""

SWATCHES = 40
"""Labels whose colours are explained at most."""

FAINT = 0.001
"""Smaller parts of the pixels of a row are there to be found, not to be seen."""

BRIEF = 3
"""Maximum length of column labels that are not rotated."""

ENTRIES = 12_000
"""Cells of confusion matrices at most; the page says how many matrices it left out."""


def illustrated(result: RunResult, pictures: EmbeddedImages, anchors: Anchors) -> dict[str, Any]:
    """Context of errors.html.j2: breakdowns, gallery, matrices, and their images."""
    models = [clean(model, 60) for model in result.models]
    drawings = Drawings(pictures, 3 * len(models))
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
    result: RunResult, pictures: EmbeddedImages, drawings: Drawings, anchors: Anchors
) -> dict[str, Any]:
    """Cards by model, with their legend."""
    worst = worst_images(result, IMAGES)
    overlays = _overlays(worst, pictures)
    swatches = list(pictures.colours.items()) if overlays else []
    return {
        "gallery": [
            [_card(image, drawings, overlays, anchors) for image in images] for images in worst
        ],
        "measure": next((image.measure for images in worst for image in images), ""),
        "overlaid": len(overlays),
        "image_notes": [clean(note, 600) for note in pictures.notes],
        "swatches": [(colour, clean(name, 40)) for name, colour in swatches[:SWATCHES]],
        "more_swatches": max(len(swatches) - SWATCHES, 0),
        "legend": legend(name for images in worst for image in images for name in image.counts),
    }


def _overlays(worst: Sequence[Sequence[WorstImage]], pictures: EmbeddedImages) -> dict[int, str]:
    """The URL of each card's overlay, by the card's identity."""
    shown: dict[int, str] = {}
    for image in chain.from_iterable(worst):
        picture = image.example.picture
        key = image.example.model, (picture.file if picture else None) or ""
        if key in pictures.overlays:
            shown[id(image)] = embedded(pictures.overlays[key])
        elif key in pictures.overlay_links:
            shown[id(image)] = pictures.overlay_links[key]
    return shown


def _card(
    image: WorstImage, drawings: Drawings, overlays: dict[int, str], anchors: Anchors
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


def _picture(image: WorstImage, source: str) -> Markup:
    told = escape(f"Image {image.name}: ground truth, prediction and errors side by side")
    ready = f'<img alt="{told}" loading="lazy" decoding="async" src="{escape(source)}">'
    return Markup(ready)  # noqa: S704 - escaped just before


def matrices(
    found: Sequence[Confusion], models: Sequence[str], cases: Dialogs
) -> list[dict[str, Any]]:
    """As many matrices as fit, at least one."""
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
    row, column = (None if side is None else clean(labels[side], 60) for side in place)
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
