"""Images of samples, and the outlines that examples show, for the explorer."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from valor_cli.reports.digests.mistakes import outcome_of
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import Samples, Side
from valor_cli.results import EmbeddedImages, ExampleObject, ExampleResult

PART: Final = 1_500_000
"""Characters of images in a file."""

WHOLE: Final = "worst_image"
"""The kind of example that shows all objects of an image."""

OUTLINES: Final = 400
"""Points of an outline at most; longer ones keep every n-th."""


def image_columns(
    files: Sequence[str | None], images: EmbeddedImages, sides: Sequence[Side], blobs: Blobs
) -> dict[str, Any]:
    """Where the image of each sample is, and of each model's overlay, if there is one."""
    parts: list[dict[str, str]] = [{}]
    overlays: list[dict[str, str]] = [{}]
    links: dict[str, str] = {}
    for at, file in enumerate(files):
        if file is None:
            continue
        if file in images.links:
            links[str(at)] = images.links[file]
        elif file in images.photos:
            _add(parts, str(at), embedded(images.photos[file]))
        for index, side in enumerate(sides):
            content = images.overlays.get((side.name, file))
            if content is not None:
                _add(overlays, f"{at} {index}", embedded(content))
            elif (side.name, file) in images.overlay_links:
                links[f"{at} {index}"] = images.overlay_links[side.name, file]
    return {
        "links": links,
        "photos": [_finished(part, blobs) for part in parts],
        "overlays": [_finished(part, blobs) for part in overlays],
        "colours": dict(images.colours),
        "left": {
            str(at): images.left_out[file]
            for at, file in enumerate(files)
            if file is not None and file in images.left_out
        },
        "notes": list(images.notes),
    }


def _add(parts: list[dict[str, str]], name: str, content: str) -> None:
    if parts[-1] and sum(map(len, parts[-1].values())) + len(content) > PART:
        parts.append({})
    parts[-1][name] = content


def _finished(part: Mapping[str, str], blobs: Blobs) -> dict[str, Any]:
    """The keys, and the blob that has their images."""
    number = blobs.plain(part)
    blobs.finish()
    return {"keys": list(part), "blob": number}


def embedded(content: bytes) -> str:
    """JPEG or PNG bytes as a data URL."""
    kind = "png" if content.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def outlines(sides: Sequence[Side], samples: Samples, blobs: Blobs) -> int | None:
    """By sample and model, the objects that examples show; None without any.

    An example of a whole image comes before others, whose objects are added to each other.
    """
    found: dict[str, dict[str, list[Any]]] = {}
    whole: set[tuple[str, str]] = set()
    seen: set[tuple[Any, ...]] = set()
    for index, side in enumerate(sides):
        cases = [one for one in side.own("examples") if one.objects]
        for example in sorted(cases, key=lambda one: one.kind != WHOLE):
            if not any(thing.geometry for thing in example.objects):
                continue
            place = str(samples.position(example.sample_id)), str(index)
            if place in whole:
                continue
            if example.kind == WHOLE:
                whole.add(place)
            own = found.setdefault(place[0], {}).setdefault(place[1], [])
            for thing in example.objects:
                key = (*place, thing.role, thing.id, thing.label)
                if key not in seen:
                    seen.add(key)
                    own.append(_outline(thing, example))
    return blobs.json(found) if found else None


def _outline(thing: ExampleObject, example: ExampleResult) -> list[Any]:
    rings = [
        [round(float(value), 1) for point in _thin(ring) for value in point[:2]]
        for ring in _rings(thing.geometry)
    ]
    outcome = outcome_of(thing, example.kind).name
    truth = thing.role == "ground_truth"
    return [int(truth), thing.id, thing.label, thing.score, outcome, rings]


def _thin(ring: Sequence[Any]) -> Sequence[Any]:
    return ring[:: max(1, len(ring) // OUTLINES)]


def _rings(geometry: Mapping[str, Any] | None) -> list[Sequence[Any]]:
    if geometry is None or geometry.get("type") not in ("Polygon", "MultiPolygon"):
        return []
    parts = geometry["coordinates"]
    if geometry["type"] == "Polygon":
        return list(parts)
    return [ring for part in parts for ring in part]
