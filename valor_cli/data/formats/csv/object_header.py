"""Map the columns of an object CSV file to their meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.column_names import (
    DELIMITERS,
    check_mapped,
    duplicate_columns,
    fields_of,
    listed,
    missing_columns,
)
from valor_cli.data.shapes.objects.names import IMAGE_NAMES, OBJECT_NAMES
from valor_cli.data.shapes.objects.object_file import Role, Wanted
from valor_cli.errors import DataError, Problem

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "image_id": IMAGE_NAMES["image_id"],
    "label": OBJECT_NAMES["label"],
    "score": OBJECT_NAMES["score"],
    "x": (),
    "y": (),
    "width": ("w",),
    "height": ("h",),
    "xmin": ("x1", "x_min", "left"),
    "ymin": ("y1", "y_min", "top"),
    "xmax": ("x2", "x_max", "right"),
    "ymax": ("y2", "y_max", "bottom"),
    "cx": ("center_x", "x_center"),
    "cy": ("center_y", "y_center"),
    "angle": ("rotation", "degrees"),
    "id": (),
    "crowd": OBJECT_NAMES["crowd"],
    "area": (),
    "image_width": (),
    "image_height": (),
}
"""Standard name to the other names a column may have."""

Form: TypeAlias = Literal["box", "corners", "rotated_box"]

FORMS: Final[Mapping[Form, tuple[str, ...]]] = {
    "box": ("x", "y", "width", "height"),
    "corners": ("xmin", "ymin", "xmax", "ymax"),
    "rotated_box": ("cx", "cy", "width", "height", "angle"),
}
"""The columns of each way to write a box, in their order."""

_OF_TRUTH = ("id", "crowd", "area", "image_width", "image_height")
"""Columns that are read of ground truth alone, where it has them."""


class Header(Struct, frozen=True):
    """The meaning of the columns of a file.

    Attributes:
        names: As in the file, in order.
        at: Standard name to position, for the columns that are read.
        metadata: Name of metadata to position.
        form: How boxes are written.
        delimiter: The delimiter.
        spaced: Whether a space follows the delimiter, which then belongs to no field.
    """

    names: tuple[str, ...]
    at: Mapping[str, int]
    metadata: Mapping[str, int]
    form: Form
    delimiter: str
    spaced: bool

    @property
    def sides(self) -> tuple[str, ...]:
        """Standard names of the columns of a box."""
        return FORMS[self.form]


def read_header(
    line: str,
    path: str,
    role: Role,
    *,
    wanted: Wanted,
    columns: Mapping[str, str],
    metadata: Sequence[str],
) -> Header:
    """Find the required and optional columns.

    Args:
        line: The first line of the file.
        path: The file, for messages.
        role: Predictions need scores; ids, crowd, area, sizes of images and metadata are read of
            ground truth alone.
        wanted: Which form to take of a file that has boxes and rotated boxes.
        columns: Standard name to the file's name, where that is none of `ALIASES`.
        metadata: Names of columns to read for every image.

    Raises:
        DataError: A column is missing or duplicate; boxes are written in two ways; `columns`
            has an unknown name, or names a column that is not there.
    """
    check_mapped(columns, ALIASES)
    delimiter = max(DELIMITERS, key=lambda one: _known_names(line, one, columns))
    raw = fields_of(line, delimiter)
    names = tuple(name.strip() for name in raw)
    place = f"{path}:1"
    needed = ["image_id", "label", *(["score"] if role == "predictions" else [])]
    readable = [*needed, *(_OF_TRUTH if role == "ground_truth" else ()), *chain(*FORMS.values())]
    mapped = {file: f"for {name}" for name, file in columns.items() if name in readable}
    twice = duplicate_columns(names, place, ignore_case=True)
    if problems := [*twice, *missing_columns(mapped, names, place)]:
        raise DataError(problems)
    found = positions(names, columns)
    forms = [form for form, sides in FORMS.items() if all(side in found for side in sides)]
    missing = [name for name in needed if name not in found]
    if missing or not forms:
        raise DataError(Problem(place, _missing(missing, forms, names)), hint=_HINT)
    if forms[:2] == ["box", "corners"]:
        shown = " and ".join(
            ", ".join(names[found[side]] for side in FORMS[form]) for form in forms[:2]
        )
        raise DataError(Problem(place, f"boxes are written twice, as {shown}"), hint=_TWO_FORMS)
    form = "rotated_box" if wanted == "shape" and "rotated_box" in forms else forms[0]
    read = [*needed, *FORMS[form], *(_OF_TRUTH if role == "ground_truth" else ())]
    return Header(
        names=names,
        at={name: found[name] for name in read if name in found},
        metadata=_metadata(names, metadata, path) if role == "ground_truth" else {},
        form=form,
        delimiter=delimiter,
        spaced=any(name.startswith(" ") for name in raw[1:]),
    )


_TWO_FORMS = "Leave out the columns of one of them."
_HINT = "Map other names under `data: columns:`, as {label: my_column}."


def _known_names(line: str, delimiter: str, columns: Mapping[str, str]) -> tuple[int, int]:
    """How many names are known with a delimiter, then how many there are."""
    names = tuple(name.strip() for name in fields_of(line, delimiter))
    return len(positions(names, columns)), len(names)


def known_columns(names: Sequence[str], columns: Mapping[str, str]) -> int:
    """How many names are those of columns."""
    return len(positions(names, columns))


def positions(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Position of each standard name: of the mapped column, its own, or the first alias."""
    at: dict[str, int] = {}
    for position, name in enumerate(names):
        at.setdefault(name.casefold(), position)
    found: dict[str, int] = {}
    for standard, aliases in ALIASES.items():
        mapped = columns.get(standard)
        if mapped is not None:
            if mapped in names:
                found[standard] = names.index(mapped)
            continue
        for name in (standard, *aliases):
            if name in at:
                found[standard] = at[name]
                break
    return found


def _metadata(names: Sequence[str], wanted: Sequence[str], path: str) -> dict[str, int]:
    if problems := missing_columns(dict.fromkeys(wanted, "for this metadata"), names, f"{path}:1"):
        raise DataError(problems)
    return {name: names.index(name) for name in wanted}


def _missing(missing: Sequence[str], forms: Sequence[Form], names: Sequence[str]) -> str:
    parts = []
    if missing:
        shown = " and ".join(
            f"'{name}' (or {', '.join(ALIASES[name])})" if ALIASES[name] else f"'{name}'"
            for name in missing
        )
        verb = "columns {} are" if len(missing) > 1 else "column {} is"
        parts.append(f"the {verb.format(shown)} missing")
    if not forms:
        shown = "; or ".join(", ".join(sides) for sides in FORMS.values())
        parts.append(f"the columns of a box are missing: {shown}")
    there = f"the first line names these: {listed(names)}"
    return f"{', and '.join(parts)} ({there})"
