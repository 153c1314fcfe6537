"""A run and its pictures in; the cards of each model's worst images for the HTML report out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.anchors import Anchors
from valor_cli.reports.drawings import Drawings, embedded
from valor_cli.reports.formatting import plain
from valor_cli.reports.outcomes import OUTCOMES, legend
from valor_cli.reports.worst import WorstImage, worst_images
from valor_cli.results import Pictures, RunResult

IMAGES = 24
"""Worst images shown of each model."""

OVERLAYS = 900_000
"""Bytes of overlays embedded at most, 1.2 MB of the page; it says how many it left out."""

SWATCHES = 40
"""Labels whose colours are explained at most."""


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
