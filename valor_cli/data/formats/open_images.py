"""Read boxes as Open Images CSV.

A row is an object: `ImageID`, `LabelName`, `XMin`, `XMax`, `YMin`, `YMax` as fractions of the image
and, in predictions, `Score`. Boxes marked `IsGroupOf` are crowd regions; other columns are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from io import StringIO
from typing import Final

from valor_cli.data.column_names import csv_reader, listed, not_csv
from valor_cli.data.formats.annotated_images import (
    SIZES_HINT,
    AnnotatedImages,
    not_fractions,
    read_annotations,
)
from valor_cli.data.shapes.objects.known_images import sizes_of
from valor_cli.data.shapes.objects.rows import Frame
from valor_cli.errors import DataError, Problem, printable

_SIDES: Final = ("XMin", "YMin", "XMax", "YMax")
_COLUMNS: Final = ("ImageID", "LabelName", *_SIDES)


def _parse(found: AnnotatedImages, text: str) -> None:
    columns = (*_COLUMNS, *(("Score",) if found.predicted else ()))
    folder = found.pictures
    by_image = _rows(text, found.path, columns)
    sizes = sizes_of(list(by_image), found.how.known)
    for (image, rows), size in zip(by_image.items(), sizes, strict=True):
        first, _ = rows[0]
        if not (size and size[0]):
            size = None if folder is None else folder.frame(image)
        if size is None:
            where = f": there is no such file in {folder.folder}" if folder else ""
            message = f"the size of image '{printable(image)}' is not known{where}"
            found.faults.add(first, "ImageID", message)
        height, width = size or (0, 0)
        found.add_image(image, width, height, line=first, key="ImageID")
        for line, row in rows:
            found.begin(line)
            _add_box(found, row, (height, width))


def _rows(
    text: str, path: str, columns: Sequence[str]
) -> dict[str, list[tuple[int, Mapping[str, str]]]]:
    """The lines and rows of each image."""
    lines = csv_reader(StringIO(text, newline=""), ",")
    found: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    first = 1
    try:
        header = [name.strip() for name in next(lines, [])]
        if missing := [name for name in columns if name not in header]:
            message = f"columns are missing: {', '.join(missing)}; there is: {listed(header)}"
            raise DataError(Problem(path, message))
        for fields in lines:
            line, first = first + 1, lines.line_num
            if len(fields) != len(header) and fields:
                message = f"expected {len(header)} fields as in the first line, found {len(fields)}"
                raise DataError(Problem(f"{path}:{line}", message))
            if fields:
                row = dict(zip(header, map(str.strip, fields), strict=True))
                found.setdefault(row["ImageID"], []).append((line, row))
    except csv.Error as error:
        raise not_csv(path, first, error) from None
    return found


def _add_box(found: AnnotatedImages, row: Mapping[str, str], frame: Frame) -> None:
    if not row["LabelName"]:
        found.fault("LabelName", "expected a name, found nothing")
    left, top, right, bottom = corners = [found.number(row[name], name) for name in _SIDES]
    score = found.number(row["Score"], "Score") if found.predicted else 0.0
    if wrong := not_fractions(corners):
        found.fault("", wrong)
    height, width = frame
    pixels = [left * width, top * height, right * width, bottom * height]
    crowd = row.get("IsGroupOf") == "1"
    found.add("box", row["LabelName"], pixels, score=score, crowd=crowd)


read_objects = partial(
    read_annotations, parse=_parse, ending=".csv", hint=SIZES_HINT.format("Open Images boxes")
)
