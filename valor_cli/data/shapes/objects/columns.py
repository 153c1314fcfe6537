"""Find what the columns of a table of objects mean, where a row is one object."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.batch import RowFile
from valor_cli.data.column_names import (
    COLUMNS_HINT,
    duplicate_columns,
    missing_columns,
    missing_fields,
)
from valor_cli.data.schema import Field, Path, Schema, dotted, mapped_columns
from valor_cli.data.shapes.objects.names import IMAGE_NAMES, OBJECT_NAMES
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError, Problem

SCHEMA: Final = Schema(
    Field("image_id", "id", IMAGE_NAMES["image_id"], description="the key of an image"),
    Field("label", "label", OBJECT_NAMES["label"], description="the class of the object"),
    Field("score", "score", OBJECT_NAMES["score"], description="the confidence of a detection"),
    Field("x", "pixels", description="left edge of the box"),
    Field("y", "pixels", description="top edge of the box"),
    Field("width", "pixels", ("w",), description="width of the box"),
    Field("height", "pixels", ("h",), description="height of the box"),
    Field("xmin", "pixels", ("x1", "x_min", "left"), description="left edge of the box"),
    Field("ymin", "pixels", ("y1", "y_min", "top"), description="top edge of the box"),
    Field("xmax", "pixels", ("x2", "x_max", "right"), description="right edge of the box"),
    Field("ymax", "pixels", ("y2", "y_max", "bottom"), description="bottom edge of the box"),
    Field("cx", "pixels", ("center_x", "x_center"), description="centre of a rotated box"),
    Field("cy", "pixels", ("center_y", "y_center"), description="centre of a rotated box"),
    Field("angle", "degrees", ("rotation", "degrees"), description="angle of a rotated box"),
    Field("id", "id", description="the key of the object"),
    Field("crowd", "flag", OBJECT_NAMES["crowd"], description="whether it is a crowd region"),
    Field("area", "pixels²", description="the area that decides the size range"),
    Field("image_width", "pixels", description="width of the image"),
    Field("image_height", "pixels", description="height of the image"),
)
ALIASES: Final = SCHEMA.aliases
"""Standard name to the other names a column may have."""

Form: TypeAlias = Literal["box", "corners", "rotated_box"]

FORMS: Final[Mapping[Form, tuple[str, ...]]] = {
    "box": ("x", "y", "width", "height"),
    "corners": ("xmin", "ymin", "xmax", "ymax"),
    "rotated_box": ("cx", "cy", "width", "height", "angle"),
}
"""The columns of each way to write a box, in their order."""

_OF_TRUTH: Final = ("id", "crowd", "area", "image_width", "image_height")
"""Columns that are read of ground truth alone, where it has them."""

_TWO_FORMS: Final = "Leave out the columns of one of them."


class ObjectColumns(Struct, frozen=True):
    """The meaning of the columns of a file.

    Attributes:
        ways: Standard name to the way to it, for the columns that are read.
        metadata: Names of metadata to read.
        form: How boxes are written.
    """

    ways: Mapping[str, Path]
    metadata: Sequence[str]
    form: Form

    @property
    def sides(self) -> tuple[str, ...]:
        """Standard names of the columns of a box."""
        return FORMS[self.form]

    def name(self, field: str) -> str:
        """A column as the file calls it."""
        return dotted(self.ways[field])


def forms_in(names: Collection[str], columns: Mapping[str, str]) -> list[Form]:
    """The ways to write a box of which a table has all columns."""
    found = SCHEMA.layout(names, columns)
    return [form for form, sides in FORMS.items() if all(side in found for side in sides)]


def columns_of(file: RowFile, names: Sequence[str], role: Role, reading: Reading) -> ObjectColumns:
    """Find the required and optional columns.

    Args:
        file: The file, for messages.
        names: Its columns.
        role: Predictions need scores; ids, crowd, area, sizes of images and metadata are read of
            ground truth alone.
        reading: Which form to take of a file that has boxes and rotated boxes, and how its columns
            are called; metadata are columns to read for every image.

    Raises:
        DataError: A column is missing or duplicate; boxes are written in two ways.
    """
    place, columns = file.head, reading.columns
    needed = ["image_id", "label", *(["score"] if role == "predictions" else [])]
    of_truth = _OF_TRUTH if role == "ground_truth" else ()
    readable = [*needed, *of_truth, *chain(*FORMS.values())]
    mapped = {standard: name for standard, name in columns.items() if standard in readable}
    twice = duplicate_columns(names, place, ignore_case=True)
    if problems := [*twice, *missing_columns(mapped_columns(mapped, names), names, place)]:
        raise DataError(problems)
    found = SCHEMA.layout(names, columns)
    forms = forms_in(names, columns)
    missing = [name for name in needed if name not in found]
    if missing or not forms:
        raise DataError(
            Problem(place, _missing(missing, forms, file, names)), hint=COLUMNS_HINT % "label"
        )
    if forms[:2] == ["box", "corners"]:
        shown = " and ".join(
            ", ".join(dotted(found[side]) for side in FORMS[form]) for form in forms[:2]
        )
        raise DataError(Problem(place, f"boxes are written twice, as {shown}"), hint=_TWO_FORMS)
    form = "rotated_box" if reading.wanted == "shape" and "rotated_box" in forms else forms[0]
    asked = list(reading.metadata) if role == "ground_truth" else []
    if problems := missing_columns(dict.fromkeys(asked, "for this metadata"), names, place):
        raise DataError(problems)
    read = [*needed, *FORMS[form], *of_truth]
    return ObjectColumns({name: found[name] for name in read if name in found}, asked, form)


def _missing(
    missing: Sequence[str], forms: Sequence[Form], file: RowFile, names: Sequence[str]
) -> str:
    parts = []
    if missing:
        parts.append(missing_fields(missing, ALIASES))
    if not forms:
        shown = "; or ".join(", ".join(sides) for sides in FORMS.values())
        parts.append(f"the columns of a box are missing: {shown}")
    return f"{', and '.join(parts)} ({file.listing(names)})"
