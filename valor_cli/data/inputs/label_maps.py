"""Read label maps from a folder of PNGs, folders of masks, a manifest, or COCO panoptic JSON.

- PNGs: a sample is named by the path of its file in the folder, without extension.
- Masks: `<label>/<name>.png`, whose nonzero pixels have the label. The masks of one name, in the
  folders of all labels, make one label map: labels are numbered by name from 1, and a pixel in no
  mask is 0. A pixel in two masks is an error.
- A manifest in JSONL or CSV: a row is a sample, with `ground_truth` and `prediction` (paths
  relative to the manifest's folder) and, optionally, `sample_id` and metadata. Without an id, a
  sample is named after its ground truth file.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.batch import Fault
from valor_cli.data.column_names import listed
from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.formats.folders import files_under, without_extension
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.formats.tables import EXTENSIONS, open_rows, read_records
from valor_cli.data.json_records import DuplicateKey, plain
from valor_cli.data.schema import Field, Schema
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps, Stored, check_size
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.table import RowProblems
from valor_cli.data.values import describe, is_text, stop_on
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.paths import bare, beside, from_folder, is_url, own_folder
from valor_cli.results import InputFile

Format: TypeAlias = Literal["png", "masks", "manifest", "coco_panoptic"]
Column: TypeAlias = Literal["ground_truth", "prediction", "sample_id"]

MANIFEST: Final = Schema(
    Field("ground_truth", "path", description="the path of the true label map"),
    Field("prediction", "path", description="the path of the predicted label map"),
    Field("sample_id", "id", description="the key of the pair; without one, the true map's name"),
)
"""The columns of a manifest."""

NO_MASK: Final = 0
"""The value of a pixel that is in no mask of a label."""

COLUMNS: Final[tuple[Column, ...]] = get_args(Column)
_FORMS: Final = {end: name for end, name in EXTENSIONS.items() if name != "json"}
"""Extension of a manifest to its format; others are CSV."""

_OTHERS: Final = (".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".npy", ".npz")
_LOSSY: Final = (".jpg", ".jpeg", ".webp")


def format_of(path: str) -> Format:
    """The format of an input's extension; without a known one, a folder of PNGs."""
    extension = extension_of(path)
    if extension in _FORMS:
        return "manifest"
    return "coco_panoptic" if extension == ".json" else "png"


def read_label_maps(
    path: str,
    role: Role,
    format: Format,  # noqa: A002 - as in YAML
    *,
    names: Mapping[int, str] | None = None,
    metadata: Sequence[str] = (),
    columns: Mapping[Column, str] | None = None,
) -> LabelMaps:
    """List the label maps of one side without opening them.

    Args:
        path: The folder, the manifest or the JSON file.
        role: Which side it is.
        format: What it is.
        names: Of the labels by value, as the ground truth says them; for predictions alone.
        metadata: Names to read for every sample, of ground truth alone.
        columns: Standard name of a column of a manifest to the file's own.

    Raises:
        DataError: The input cannot be used, or has no such metadata.
    """
    if format == "manifest":
        return read_manifest(path, role, metadata=metadata, columns=columns)
    if format == "coco_panoptic":
        from valor_cli.data.formats.panoptic.label_maps import read_panoptic_maps

        return read_panoptic_maps(path, role, names=names, metadata=metadata)
    if metadata:
        wanted = ", ".join(f"'{name}'" for name in metadata)
        raise DataError(
            Problem(path, f"a folder holds no metadata of its images, so no {wanted}"),
            hint="Metadata is read from the columns of a manifest (.jsonl or .csv), which lists "
            "the pairs in its columns ground_truth and prediction, or from COCO panoptic JSON.",
        )
    if format == "masks":
        return read_masks(path, names)
    return read_folder(path)


def read_folder(path: str) -> LabelMaps:
    """The PNGs in a folder and its subfolders, by relative path without extension.

    Raises:
        DataError: There is no such folder, no PNG in it, two of one name, or a name is no text.
    """
    maps: dict[str, PngLabelMap] = {}
    others: list[str] = []
    problems: list[Problem] = []
    for name in files_under(path, ""):
        ending, file = os.path.splitext(name)[1].lower(), os.path.join(path, name)
        if ending in _OTHERS:
            others.append(name)
        if ending != ".png":
            continue
        first = maps.setdefault(without_extension(name), PngLabelMap(file))
        if not is_text(name):
            problems.append(Problem(file, "the name is no UTF-8 text; rename the file"))
        if first.path != file:
            problems.append(Problem(file, f"there is {first.path} too; one name, one sample"))
    if problems:
        raise DataError(problems)
    if not maps:
        found = sorted({os.path.splitext(name)[1].lower() for name in others})
        there = f"; there are files of {', '.join(found)}" if found else ""
        hint = "Label maps are PNGs of one channel, in the folder or in folders in it."
        if any(ending in _LOSSY for ending in found):
            hint += " JPEG and WebP change values of pixels; make PNGs from the original labels."
        raise DataError(Problem(path, f"there is no .png file in this folder{there}"), hint=hint)
    return LabelMaps(path, path, maps, others=others)


class MaskedLabelMap(Struct, frozen=True):
    """The masks of one sample.

    Attributes:
        masks: By value, each mask.
    """

    masks: Mapping[int, LabelMap]

    @property
    def path(self) -> str:
        """The first of the files."""
        return next(iter(self.masks.values())).path

    def look(self, *, decode: bool = False) -> Stored:
        """The size of the masks, and one digest for all.

        Raises:
            DataError: One cannot be used, or has another size than the first.
        """
        if decode:
            self.values()
        each = {value: mask.look() for value, mask in self.masks.items()}
        size = next(iter(each.values())).size
        for value, one in each.items():
            check_size(self, size, self.masks[value], one.size, "")
        digest = hashlib.sha256("".join(f"{at}{one.sha256}" for at, one in each.items()).encode())
        return Stored(size, digest.hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) values.

        Raises:
            DataError: As `look`; or a pixel is in two masks.
        """
        inside = {value: mask.values() != NO_MASK for value, mask in self.masks.items()}
        size = next(iter(inside.values())).shape
        found = np.zeros(size, np.uint8 if max(inside) < 256 else np.uint16)
        for value, pixels in inside.items():
            check_size(self, size, self.masks[value], pixels.shape, "")
            both = found[pixels & (found != NO_MASK)]
            if both.size:
                other = self.masks[int(both[0])].path
                message = f"{both.size:,} of its pixels are in {other} too; a pixel has one label"
                raise DataError(Problem(self.masks[value].path, message))
            found[pixels] = value
        return found


def read_masks(path: str, names: Mapping[int, str] | None) -> LabelMaps:
    """Masks in a folder, by path relative to the label's folder.

    Args:
        path: The folder.
        names: Labels by value, as the ground truth says them; None: this is the ground truth.

    Raises:
        DataError: There is no such folder; a mask is in no label's folder; a label is not known.
    """
    found = read_folder(path)
    labels = sorted({name.partition("/")[0] for name in found.maps if "/" in name})
    known = dict(enumerate(labels, 1)) if names is None else names
    value_of = {label: value for value, label in known.items()}
    problems = [
        Problem(one.path, "not in the folder of a label")
        for name, one in found.maps.items()
        if "/" not in name
    ]
    for label in labels:
        if label not in value_of:
            near = did_you_mean(label, value_of)
            message = f"the ground truth has no label '{printable(label)}'{near}"
            problems.append(Problem(os.path.join(path, label), message))
    if problems:
        hint = "Masks are <label>/<name>.png; a label without a mask has an empty one."
        raise DataError(problems, hint=hint)
    masks: dict[str, dict[int, LabelMap]] = {}
    for name in sorted(found.maps):
        label, _, stem = name.partition("/")
        masks.setdefault(stem, {})[value_of[label]] = found.maps[name]
    maps = {stem: MaskedLabelMap(dict(sorted(one.items()))) for stem, one in masks.items()}
    categories = known if names is None else None
    return LabelMaps(path, path, maps, categories=categories, others=found.others)


def read_manifest(
    path: str,
    role: Role,
    *,
    metadata: Sequence[str] = (),
    columns: Mapping[Column, str] | None = None,
) -> LabelMaps:
    """Read the label maps of one side.

    Args:
        path: The manifest, plain, gzip or zstd.
        role: Which side; a row without a prediction is a sample without one.
        metadata: Names of columns to read for every sample, of ground truth alone.
        columns: Standard name ("ground_truth", "prediction", "sample_id") to the file's own.

    Raises:
        DataError: The file cannot be read, is not a manifest, has no such column, or a row names no
            file or a sample that an earlier row named.
    """
    names = {name: (columns or {}).get(name, name) for name in COLUMNS}
    form = _FORMS.get(extension_of(path), "csv")
    file = open_rows(path, form, lambda some: len(set(some) & set(names.values())))
    rows = read_records(file, _faults)
    if file.form == "cells":
        rows = [
            (line, {name: cell.strip() or None for name, cell in row.items()}) for line, row in rows
        ]
    wanted = names["ground_truth" if role == "ground_truth" else "prediction"]
    mapped = [names["sample_id"]] if "sample_id" in (columns or {}) else []
    _check_columns([record for _, record in rows], [wanted, *mapped], path)
    problems = RowProblems(path, file.place)
    maps: dict[str, PngLabelMap] = {}
    lines: dict[str, int] = {}
    for line, record in rows:
        column = wanted
        try:
            value = record.get(wanted)
            png = _file(path, value) if role == "ground_truth" or value is not None else None
            column = names["sample_id"]
            sample = _sample(record, names, path)
            if sample in lines:
                raise ValueError(f"duplicate sample '{sample}', first on line {lines[sample]}")
        except ValueError as error:
            problems.add(line, column, str(error))
            continue
        lines[sample] = line
        if png is not None:
            maps[sample] = PngLabelMap(png)
    if not maps and not problems.total:
        problems.add(0, wanted, "no row names a file in this column")
    stop_on([problems])
    found: dict[str, list[Any]] = {}
    if role == "ground_truth":
        records = [record for _, record in rows]
        found = metadata_of(records, metadata, path, [*lines.values()])
    return LabelMaps(
        path,
        _folder(path, [one.path for one in maps.values()]),
        maps,
        (InputFile(path, file.sha256, len(rows)),),
        {name: dict(zip(lines, values, strict=True)) for name, values in found.items()},
    )


def _faults(row: Any) -> list[Fault]:
    """Why a row of a manifest is none."""
    if not isinstance(row, dict):
        return [("", f"expected an object, found {describe(plain(row))}")]
    twice = [one.key for one in (row, row.get("metadata")) if type(one) is DuplicateKey]
    return [(printable(key), "duplicate key in this object") for key in twice[:1]]


def _check_columns(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], path: str) -> None:
    there = list(dict.fromkeys(name for row in rows for name in row))
    if not rows:
        raise DataError(Problem(path, "there is no row in this manifest"))
    problems = [
        Problem(
            path,
            f"the column '{one}' is missing{did_you_mean(one, there)}; there is: {listed(there)}",
        )
        for one in wanted
        if one not in there
    ]
    if problems:
        hint = "Map other names under `data: columns:`, as {ground_truth: mask}."
        raise DataError(problems, hint=hint)


def _folder(path: str, pngs: Sequence[str]) -> str:
    """The folder of all label maps of a manifest."""
    if is_url(path):
        scheme, rests = path.partition("://")[0], [one.partition("://")[2] for one in pngs]
        return f"{scheme}://{posixpath.commonpath({os.path.dirname(one) for one in rests})}"
    try:
        whole = os.path.commonpath({os.path.dirname(os.path.abspath(one)) for one in pngs})
        return whole if all(map(os.path.isabs, pngs)) else os.path.relpath(whole)
    except ValueError:
        # Windows has several drives, and no path from one to another.
        return os.path.dirname(path) or "."


def _file(manifest: str, value: object) -> str:
    """The path of a PNG that a manifest names, from the current folder.

    Raises:
        ValueError: It is no path, or one that the manifest may not name; the message says why.
    """
    if not isinstance(value, str) or not value or not is_text(value) or "\0" in value:
        found = "nothing" if value is None else describe(value)
        raise ValueError(f"expected the path of a PNG, found {found}")
    folder = own_folder(manifest)
    if is_url(folder) or is_url(value):
        return beside(folder, value)
    joined = os.path.join(folder, value)
    if value.startswith("~") or os.path.normpath(joined) != joined:
        return from_folder(folder, value)
    # Most names are tidy; looking for links on their way would take ten times as long.
    return joined


def _sample(record: Mapping[str, Any], names: Mapping[Column, str], manifest: str) -> str:
    """The id that a row gives, else the name of its first file.

    Raises:
        ValueError: There is neither, or the id is none; the message says why.
    """
    given = record.get(names["sample_id"])
    if given is not None:
        if type(given) is int or (isinstance(given, str) and given and is_text(given)):
            return str(given)
        raise ValueError(f"expected text or a whole number, found {describe(given)}")
    for column in (names["ground_truth"], names["prediction"]):
        value = record.get(column)
        if isinstance(value, str) and value:
            return without_extension(_name(manifest, value))
    raise ValueError("expected an id or the path of a ground truth, found neither")


def _name(manifest: str, value: str) -> str:
    """The path of a file from the folder of its manifest."""
    try:
        path = _file(manifest, value)
    except ValueError:
        return value
    folder = own_folder(manifest)
    if is_url(folder):
        return bare(path).removeprefix(f"{bare(folder)}/")
    if path != os.path.normpath(path):
        # Without the link in it, the name would be that of another file.
        return value
    home = os.path.expanduser(value)
    return os.path.relpath(home, folder or ".") if os.path.isabs(home) else os.path.normpath(value)
