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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.batch import RowFile
from valor_cli.data.column_names import duplicate_columns, listed
from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.formats.folders import files_under, without_extension
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.formats.tables import EXTENSIONS, open_rows
from valor_cli.data.json_records import DuplicateKey, plain
from valor_cli.data.schema import Field, Schema
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps, Stored
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.table import RowProblems
from valor_cli.data.values import Problems, describe, is_text, stop_on
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean, printable
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
        from valor_cli.data.formats.panoptic_label_maps import read_panoptic_maps

        return read_panoptic_maps(path, role, names=names, metadata=metadata)
    if metadata:
        wanted = ", ".join(f"'{name}'" for name in metadata)
        raise DataError(
            Problem(path, f"a folder holds no metadata of its images, so no {wanted}"),
            hint="Metadata is read from the columns of a manifest (.jsonl or .csv), which lists "
            "the pairs in its columns ground_truth and prediction, or from COCO panoptic JSON.",
        )
    if format == "masks":
        return read_masks(path, names if role == "predictions" else None)
    return read_folder(path)


def read_folder(path: str) -> LabelMaps:
    """The PNGs in a folder and its subfolders, by relative path without extension.

    Raises:
        DataError: There is no such folder, no PNG in it, two of one name, or a name is no text.
    """
    names = files_under(path, "")
    pngs = [name for name in names if _ending(name) == ".png"]
    maps = {name: PngLabelMap(os.path.join(path, name)) for name in pngs}
    others = [name for name in names if _ending(name) in _OTHERS]
    if not maps:
        raise _no_maps(path, others)
    named: dict[str, PngLabelMap] = {}
    problems = [
        Problem(os.path.join(path, name), "the name is no UTF-8 text; rename the file")
        for name in pngs
        if not is_text(name)
    ]
    for name, found in maps.items():
        first = named.setdefault(without_extension(name), found)
        if first is not found:
            problems.append(Problem(found.path, f"there is {first.path} too; one name, one sample"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    return LabelMaps(path, path, named, others=others)


def _ending(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _no_maps(path: str, others: Collection[str]) -> DataError:
    found = sorted({_ending(name) for name in others})
    there = f"; there are files of {', '.join(found)}" if found else ""
    hint = "Label maps are PNGs of one channel, in the folder or in folders in it."
    if any(ending in _LOSSY for ending in found):
        hint += " JPEG and WebP change values of pixels; make PNGs from the original labels."
    return DataError(Problem(path, f"there is no .png file in this folder{there}"), hint=hint)


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
            self._check_size(value, one.size, size)
        digest = hashlib.sha256("".join(f"{at}{one.sha256}" for at, one in each.items()).encode())
        return Stored(size, digest.hexdigest())

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) values.

        Raises:
            DataError: As `look`; or a pixel is in two masks.
        """
        inside = {value: mask.values() != 0 for value, mask in self.masks.items()}
        size = next(iter(inside.values())).shape
        found = np.zeros(size, np.uint8 if max(inside) < 256 else np.uint16)
        for value, pixels in inside.items():
            self._check_size(value, pixels.shape, size)
            both = pixels & (found != NO_MASK)
            if both.any():
                other = self.masks[int(found[both][0])].path
                count = int(np.count_nonzero(both))
                message = f"{count:,} of its pixels are in {other} too; a pixel has one label"
                raise DataError(Problem(self.masks[value].path, message))
            found[pixels] = value
        return found

    def _check_size(self, value: int, size: tuple[int, ...], first: tuple[int, ...]) -> None:
        if size == first:
            return
        message = f"is {size[1]} wide and {size[0]} high"
        expected = f"{self.path} is {first[1]} wide and {first[0]} high"
        raise DataError(Problem(self.masks[value].path, f"{message}; {expected}"))


def read_masks(path: str, names: Mapping[int, str] | None) -> LabelMaps:
    """Masks in a folder, by path relative to the label's folder.

    Args:
        path: The folder.
        names: Labels by value, as the ground truth says them; None: this is the ground truth.

    Raises:
        DataError: There is no such folder; a mask is in no label's folder; a label is not known.
    """
    found = read_folder(path)
    parts = {name: name.partition("/") for name in found.maps}
    loose = [found.maps[name].path for name, (_, slash, _) in parts.items() if not slash]
    problems = [Problem(one, "not in the folder of a label") for one in loose]
    labels = sorted({label for label, slash, _ in parts.values() if slash})
    known = dict(enumerate(labels, 1)) if names is None else dict(names)
    for label in labels:
        if label not in known.values():
            near = did_you_mean(label, known.values())
            message = f"the ground truth has no label '{printable(label)}'{near}"
            problems.append(Problem(os.path.join(path, label), message))
    if problems:
        hint = "Masks are <label>/<name>.png; a label without a mask has an empty one."
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)
    value_of = {label: value for value, label in known.items()}
    masks: dict[str, dict[int, LabelMap]] = {}
    for name in sorted(found.maps):
        label, _, stem = parts[name]
        masks.setdefault(stem, {})[value_of[label]] = found.maps[name]
    maps = {stem: MaskedLabelMap(dict(sorted(one.items()))) for stem, one in masks.items()}
    categories = known if names is None else None
    return LabelMaps(path, path, maps, categories=categories, others=found.others)


class _Row(NamedTuple):
    """A row of a manifest: its line, and what it says by column."""

    line: int
    record: dict[str, Any]


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
    problems = RowProblems(path, file.place)
    rows = list(_rows(file, problems))
    stop_on([problems])
    wanted = names["ground_truth" if role == "ground_truth" else "prediction"]
    mapped = [names["sample_id"]] if "sample_id" in (columns or {}) else []
    _check_columns(rows, [wanted, *mapped], path)
    maps, samples = _maps(rows, names, role, problems)
    stop_on([problems])
    records, lines = [row.record for row in rows], [row.line for row in rows]
    found = metadata_of(records, metadata, path, lines) if role == "ground_truth" else {}
    return LabelMaps(
        path,
        _folder(path, maps.values()),
        maps,
        (InputFile(path, file.sha256, len(rows)),),
        {name: dict(zip(samples, values, strict=True)) for name, values in found.items()},
    )


def _folder(path: str, maps: Iterable[PngLabelMap]) -> str:
    """The folder of all label maps of a manifest."""
    paths = [one.path for one in maps]
    if is_url(path):
        scheme, rests = path.partition("://")[0], [one.partition("://")[2] for one in paths]
        return f"{scheme}://{posixpath.commonpath({os.path.dirname(one) for one in rests})}"
    try:
        whole = os.path.commonpath({os.path.dirname(os.path.abspath(one)) for one in paths})
        return whole if all(map(os.path.isabs, paths)) else os.path.relpath(whole)
    except ValueError:
        # Windows has several drives, and no path from one to another.
        return os.path.dirname(path) or "."


def _rows(file: RowFile, problems: RowProblems) -> Iterator[_Row]:
    """The rows of a manifest; what is wrong with others is noted."""
    for twice in duplicate_columns(file.names, file.head) if file.form == "cells" else ():
        problems.keep(twice.place, "", twice.message)
    for block in file.blocks():
        for line, value, wrong in block.records():
            for place, message in wrong:
                problems.add(line, place, message)
            if wrong:
                continue
            if file.form == "cells":
                value = {name: cell.strip() or None for name, cell in value.items()}
            if row := _row(value, line, problems):
                yield row


def _row(found: Any, line: int, problems: RowProblems) -> _Row | None:
    if not isinstance(found, dict):
        problems.add(line, "", f"expected an object, found {describe(plain(found))}")
        return None
    if twice := [one.key for one in (found, found.get("metadata")) if type(one) is DuplicateKey]:
        problems.add(line, printable(twice[0]), "duplicate key in this object")
        return None
    return _Row(line, plain(found))


def _check_columns(rows: Sequence[_Row], wanted: Sequence[str], path: str) -> None:
    there = list(dict.fromkeys(name for row in rows for name in row.record))
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


def _maps(
    rows: Sequence[_Row], names: Mapping[Column, str], role: Role, problems: Problems
) -> tuple[dict[str, PngLabelMap], list[str]]:
    """The maps by sample, and the sample of each row."""
    folder = own_folder(problems.path)
    wanted = names["ground_truth" if role == "ground_truth" else "prediction"]
    maps: dict[str, PngLabelMap] = {}
    lines: dict[str, int] = {}
    for line, record in rows:
        value = record.get(wanted)
        if value is not None or role == "ground_truth":
            fault = _path_fault(value, folder)
            if fault:
                problems.add(line, wanted, fault)
                continue
        sample, fault = _sample(record, names, folder)
        if not fault and sample in lines:
            fault = f"duplicate sample '{sample}', first on line {lines[sample]}"
        if fault:
            problems.add(line, names["sample_id"], fault)
            continue
        lines[sample] = line
        if value is not None:
            maps[sample] = PngLabelMap(_file(folder, value))
    if not maps and not problems.total:
        problems.add(0, wanted, "no row names a file in this column")
    return maps, list(lines)


def _path_fault(value: object, folder: str) -> str:
    """What is wrong with the path of a PNG; nothing for a sound one."""
    if not isinstance(value, str) or not value or not is_text(value) or "\0" in value:
        found = "nothing" if value is None else describe(value)
        return f"expected the path of a PNG, found {found}"
    if is_url(folder) or is_url(value):
        try:
            beside(folder, value)
        except ValueError as error:
            return str(error)
    return ""


def _sample(record: Mapping[str, Any], names: Mapping[Column, str], folder: str) -> tuple[str, str]:
    """The id that a row gives, else the name of its first file; or what is wrong with it."""
    given = record.get(names["sample_id"])
    if given is not None:
        if type(given) is int or (isinstance(given, str) and given and is_text(given)):
            return str(given), ""
        return "", f"expected text or a whole number, found {describe(given)}"
    for column in (names["ground_truth"], names["prediction"]):
        value = record.get(column)
        if isinstance(value, str) and value:
            return without_extension(_name(value, folder)), ""
    return "", "expected an id or the path of a ground truth, found neither"


def _file(folder: str, name: str) -> str:
    """The path of a file that a manifest names, from the current folder."""
    if is_url(folder):
        return beside(folder, name)
    joined = os.path.join(folder, name)
    if name.startswith("~") or os.path.normpath(joined) != joined:
        return from_folder(folder, name)
    # Most names are tidy; looking for links on their way would take ten times as long.
    return joined


def _name(value: str, folder: str) -> str:
    """The path of a file from the folder of its manifest."""
    if is_url(folder):
        try:
            return bare(beside(folder, value)).removeprefix(f"{bare(folder)}/")
        except ValueError:
            return value
    path = _file(folder, value)
    if path != os.path.normpath(path):
        # Without the link in it, the name would be that of another file.
        return value
    home = os.path.expanduser(value)
    return os.path.relpath(home, folder or ".") if os.path.isabs(home) else os.path.normpath(value)
