"""Read boxes as Open Images CSV.

A row is an object: `ImageID`, `LabelName`, `XMin`, `XMax`, `YMin`, `YMax` as fractions of the image
and, in predictions, `Score`. Boxes marked `IsGroupOf` are crowd regions; other columns are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Final

from valor_cli.data.column_names import csv_reader, listed, not_csv
from valor_cli.data.formats.annotated_images import AnnotatedImages
from valor_cli.data.formats.images import ImageFolder, image_size
from valor_cli.data.shapes.objects.known_images import sizes_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import Frame
from valor_cli.errors import DataError, Problem, printable

_SIDES: Final = ("XMin", "YMin", "XMax", "YMax")
_COLUMNS: Final = ("ImageID", "LabelName", *_SIDES)
_NEAR: Final = (-1, 2)
_HINT: Final = (
    "Open Images boxes are in units of the image: name the folder of the image files as `images:` "
    "under `data:`."
)


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Boxes of a CSV file, or of a folder of them.

    Args:
        path: The file or the folder.
        role: Which side it is.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read or has not these columns; the size of an image is not
            known; a row is wrong.
    """
    found = AnnotatedImages(path, role, how.metadata)
    folder = None if how.images is None else ImageFolder(how.images)
    columns = (*_COLUMNS, *(("Score",) if found.predicted else ()))
    for file, text in found.files(".csv"):
        by_image = _rows(text, file, columns)
        sizes = sizes_of(list(by_image), how.known)
        for (image, rows), size in zip(by_image.items(), sizes, strict=True):
            if not (size and size[0]):
                size = _size_of_file(image, folder)
            if size is None:
                where = "" if folder is None else f": there is no such file in {folder.folder}"
                message = f"the size of image '{printable(image)}' is not known{where}"
                found.faults.add(rows[0][0], "ImageID", message)
            height, width = size or (0, 0)
            found.add_image(image, width, height, line=rows[0][0], key="ImageID")
            for line, row in rows:
                found.found += 1
                _add_box(row, line, (height, width), found)
    return found.object_file(how.invalid, hint=_HINT)


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


def _size_of_file(image: str, folder: ImageFolder | None) -> Frame | None:
    name = None if folder is None else folder.find(image)
    return None if folder is None or name is None else image_size(f"{folder.folder}/{name}")


def _add_box(row: Mapping[str, str], line: int, frame: Frame, found: AnnotatedImages) -> None:
    before = found.problems.total
    if not row["LabelName"]:
        found.problems.add(line, "LabelName", "expected a name, found nothing")
    corners = [found.number(row[name], line, name) for name in _SIDES]
    score = found.number(row["Score"], line, "Score") if found.predicted else 0.0
    low, high = _NEAR
    if far := [one for one in corners if not low <= one <= high]:
        message = f"expected fractions of the image, found {far[0]:g} (pixels?)"
        found.problems.add(line, "", message)
    if found.problems.total == before:
        height, width = frame
        left, top, right, bottom = corners
        pixels = [left * width, top * height, right * width, bottom * height]
        found.add_box(
            row["LabelName"], pixels, line, score=score, crowd=row.get("IsGroupOf") == "1"
        )
