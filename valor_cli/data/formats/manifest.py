"""Read a manifest of label maps, in JSONL or CSV.

A row is a sample, with `ground_truth` and `prediction` (paths relative to the manifest's folder)
and, optionally, `sample_id` and metadata. Without an id, a sample is named after its ground truth
file.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from valor_cli.data.batch import Fault
from valor_cli.data.column_names import listed
from valor_cli.data.formats.coco.images import metadata_of
from valor_cli.data.formats.folders import without_extension
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.formats.tables import EXTENSIONS, open_rows, read_records
from valor_cli.data.json_records import DuplicateKey, plain
from valor_cli.data.schema import Field, Schema
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.table import Problems, stop_on
from valor_cli.data.values import describe, is_text
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.paths import bare, beside, from_folder, is_url, own_folder
from valor_cli.results import InputFile

Column: TypeAlias = Literal["ground_truth", "prediction", "sample_id"]

MANIFEST: Final = Schema(
    Field("ground_truth", "path", description="the path of the true label map"),
    Field("prediction", "path", description="the path of the predicted label map"),
    Field("sample_id", "id", description="the key of the pair; without one, the true map's name"),
)
"""The columns of a manifest."""

_COLUMN: Final[Mapping[Role, Column]] = {
    "ground_truth": "ground_truth",
    "predictions": "prediction",
}
"""Where the paths of each side are."""

COLUMNS: Final[tuple[Column, ...]] = get_args(Column)
FORMS: Final = {end: name for end, name in EXTENSIONS.items() if name != "json"}
"""Extension of a manifest to its format; others are CSV."""


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
    form = FORMS.get(extension_of(path), "csv")
    file = open_rows(path, form, lambda some: len(set(some) & set(names.values())))
    rows = read_records(file, _faults)
    if file.form == "cells":
        rows = [
            (line, {name: cell.strip() or None for name, cell in row.items()}) for line, row in rows
        ]
    wanted = names[_COLUMN[role]]
    mapped = [names["sample_id"]] if "sample_id" in (columns or {}) else []
    _check_columns([record for _, record in rows], [wanted, *mapped], path)
    problems = Problems(path, file.place)
    pngs, lines = _samples(rows, names, role, problems)
    maps = {sample: PngLabelMap(png) for sample, png in pngs.items() if png is not None}
    if not maps and not problems.total:
        problems.add(0, wanted, "no row names a file in this column")
    stop_on([problems])
    found: dict[str, list[Any]] = {}
    if role == "ground_truth":
        found = metadata_of([record for _, record in rows], metadata, path, lines, place=file.place)
    return LabelMaps(
        path,
        _folder(path, [one.path for one in maps.values()]),
        maps,
        (InputFile(path, file.sha256, len(rows)),),
        {name: dict(zip(pngs, values, strict=True)) for name, values in found.items()},
    )


def _samples(
    rows: Sequence[tuple[int, Mapping[str, Any]]],
    names: Mapping[Column, str],
    role: Role,
    problems: Problems,
) -> tuple[dict[str, str | None], list[int]]:
    """The PNG of each sample, None for one without a prediction; and its line."""
    path, wanted, lines = problems.path, names[_COLUMN[role]], dict[str, int]()
    pngs: dict[str, str | None] = {}
    for line, record in rows:
        value, column = record.get(wanted), wanted
        try:
            none = value is None and role == "predictions"
            png = None if none else _file(path, value)
            column = names["sample_id"]
            sample = _sample(record, names, path)
            if sample in lines:
                first = problems.row(lines[sample])
                raise ValueError(f"duplicate sample '{sample}', first on {first}")
        except ValueError as error:
            problems.add(line, column, str(error))
        else:
            lines[sample], pngs[sample] = line, png
    return pngs, [*lines.values()]


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
