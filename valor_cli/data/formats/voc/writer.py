"""Write objects as a folder of Pascal VOC XML, one file per image."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import (
    Images,
    WriteOptions,
    Written,
    check_kinds,
    image_numbers,
    images_of,
    labels_of,
    losses,
    rows_by_image,
    sizes_needed,
    stems_of,
)
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.shapes import Floats, Kind

KINDS: tuple[Kind, ...] = ("box",)
_HOLDS = frozenset({"size", "file_name", "empty_image"})
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, escaped or not."""

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)


def write_voc(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """One annotation per image, also without objects; coordinates are not rounded.

    Raises:
        DataError: Other shapes than boxes, an image without a size, no labels, or a name that no
            file or XML can have.
    """
    check_kinds(objects, KINDS, "VOC")
    images = images_of(objects)
    stems = stems_of(images, objects.path)
    number = image_numbers(objects, images)
    sizes_needed(objects, images, number)
    blocks = _objects(objects)
    order, starts = rows_by_image(number, len(images))
    names = _file_names(objects, images)
    files = {}
    for at, (stem, (start, end)) in enumerate(zip(stems, pairwise(starts), strict=True)):
        height, width = images.size[at].tolist()
        lines = ["<annotation>", *names[at]]
        if height:
            lines.append(f"  <size><width>{width}</width><height>{height}</height></size>")
        lines += [blocks[row] for row in order[start:end].tolist()]
        lines.append("</annotation>\n")
        files[f"{stem}.xml"] = "\n".join(lines).encode()
    return Written(files, [*losses(objects, "VOC", _HOLDS), *_rounded(objects.shapes.box)])


def _objects(objects: ObjectFile) -> list[str]:
    """The element of each object."""
    corners = objects.shapes.box.copy()
    corners[:, 2:] += corners[:, :2]
    table = objects.objects
    scores = [""] * len(table)
    if "score" in table.columns:
        scores = [f"<score>{score!r}</score>" for score in table["score"].tolist()]
    return [
        f"  <object><name>{name}</name>{score}<bndbox><xmin>{xmin!r}</xmin><ymin>{ymin!r}</ymin>"
        f"<xmax>{xmax!r}</xmax><ymax>{ymax!r}</ymax></bndbox></object>"
        for name, score, (xmin, ymin, xmax, ymax) in zip(
            _names(objects), scores, corners.tolist(), strict=True
        )
    ]


def _names(objects: ObjectFile) -> list[str]:
    """The label of each object, escaped."""
    labels = labels_of(objects)
    known = {label: _escaped(label) for label in dict.fromkeys(labels) if _holdable(label)}
    bad = [row for row, label in enumerate(labels) if label not in known]
    if bad:
        problems = [
            Problem(objects.objects.place_of(row), f"XML cannot hold the label {labels[row]!r}")
            for row in bad[:LISTED]
        ]
        raise DataError(problems, total=len(bad), hint="rename the category")
    return [known[label] for label in labels]


def _file_names(objects: ObjectFile, images: Images) -> list[list[str]]:
    """The line with the file name of each image; none where it has no name."""
    bad = [name for name in images.file_names if name is not None and _NO_XML.search(name)]
    if bad:
        problems = [
            Problem(objects.path, f"XML cannot hold the file name {name!r}")
            for name in bad[:LISTED]
        ]
        raise DataError(problems, total=len(bad), hint="rename the image")
    return [
        [] if name is None else [f"  <filename>{_escaped(name)}</filename>"]
        for name in images.file_names
    ]


def _holdable(label: str) -> bool:
    """Whether XML gives a label back: no control characters, no white space around it."""
    return bool(label) and label == label.strip() and not _NO_XML.search(label)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _rounded(box: Floats) -> list[str]:
    """A word on sides that the difference of corners does not give back."""
    lost = np.abs((box[:, :2] + box[:, 2:]) - box[:, :2] - box[:, 2:])
    if not lost.any():
        return []
    count = int(lost.any(axis=1).sum())
    return [
        f"VOC stores corners: the sides of {count:,} boxes are off by up to {lost.max():.1g} pixels"
    ]
