"""Read objects from an input of any format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from valor_cli.data.batch import RowFile
from valor_cli.data.column_names import check_mapped, number_in
from valor_cli.data.formats.folders import ending_in, files_under, is_folder, text_of
from valor_cli.data.formats.label_studio import MARKS
from valor_cli.data.formats.tables import EXTENSIONS as TABLE_EXTENSIONS
from valor_cli.data.formats.tables import FORMATS as TABLES
from valor_cli.data.formats.tables import is_offered, names_of, open_rows
from valor_cli.data.partition.shards import read_joined
from valor_cli.data.shapes.objects.columns import ALIASES, SCHEMA, forms_in
from valor_cli.data.shapes.objects.names import IMAGE, spelled
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import (
    PARQUET,
    expanded,
    expanded_tables,
    extension_of,
    head_of,
    is_table_folder,
)
from valor_cli.errors import DataError, Problem, did_you_mean
from valor_cli.paths import is_url

ROWS: Final = tuple(TABLES)
"""Formats of rows, each an image or an object."""

FORMATS: Final = (
    *("coco", "coco_panoptic", "yolo", "voc", "cvat", "dota", "kitti", "labelme", "open_images"),
    *("label_studio", *ROWS),
)
"""Those that are no rows are modules of `data.formats`, each with a function `read_objects`."""

_MODULES: Final = {"coco": "coco.reader", "coco_panoptic": "panoptic.reader"}
"""Modules that are not called like their format."""

if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:
    FormatName = names_of(FORMATS)

TRUTH_ALONE: Final = ("cvat", "labelme")
"""Formats without scores."""

_EXTENSIONS: Final = {
    **TABLE_EXTENSIONS,
    ".json": "coco",
    ".xml": "voc",
    ".yaml": "yolo",
    ".yml": "yolo",
}
_HINT = (
    "Formats: coco (JSON), coco_panoptic (JSON beside a folder of PNGs), jsonl (one image a line, "
    "or one box), csv (one box a line), parquet (or Arrow, with the columns of csv or the keys of "
    "jsonl), json (a list of what lines of jsonl are, by name only), yolo (a folder of .txt files, "
    "or a data.yaml), voc (a folder of .xml files), cvat (.xml), dota and kitti (folders of .txt "
    "files), labelme (a folder of .json files), open_images (.csv), label_studio (.json). Name "
    "one as `format:` under `data:`."
)


_FILES_LOOKED_AT: Final = 100
"""Label files of a folder: many may be empty."""


def read_objects(
    path: str,
    role: Role,
    reading: Reading,
    format: str | None = None,  # noqa: A002 - as in YAML
) -> ObjectFile:
    """Read the objects of one side.

    Args:
        path: A file, plain or compressed; a folder; "-" for standard input; or a glob
            ("shards/*.jsonl"), whose files are read in sorted order and joined.
        role: Which side it is.
        reading: How to read it.
        format: One of `FORMATS`; None to tell it by the extension, then by the content.

    Raises:
        DataError: There is no such input, its format is not known, or what it holds is wrong.
        MissingExtraError: An optional package is needed and not installed.
    """
    if format is not None and format not in FORMATS and not is_offered(format):
        message = f"there is no format '{format}'{did_you_mean(format, FORMATS)}"
        raise DataError(Problem(path, message), hint=_HINT)
    files = _files(path, format)
    if len(files) == 1:
        return _read(files[0], role, reading, format)
    from valor_cli.data.inputs.joined_objects import incompatible_objects, joined_objects

    return read_joined(
        path,
        files,
        lambda one: _read(one, role, reading, format),
        reading.invalid,
        joined_objects,
        incompatible_objects,
    )


def _files(path: str, format: str | None) -> list[str]:  # noqa: A002
    """The inputs that a path or pattern means; a folder of tables is all of these."""
    if format is None and is_table_folder(path):
        format = format_of(path)  # noqa: A001
    return expanded_tables(path) if format == "parquet" else expanded(path)


def _read(path: str, role: Role, how: Reading, format: str | None) -> ObjectFile:  # noqa: A002
    """The objects of one input. Readers are imported on use: all of them take as long as one file
    of 20,000 objects.
    """
    format = format or format_of(path)  # noqa: A001
    if format in ROWS or is_offered(format):
        return _read_rows(path, role, how, format)
    module = import_module(f"valor_cli.data.formats.{_MODULES.get(format, format)}")
    file: ObjectFile = module.read_objects(path, role, how)
    return file


def _read_rows(path: str, role: Role, how: Reading, format: str) -> ObjectFile:  # noqa: A002
    check_mapped(how.columns, ALIASES)
    file, names = open_object_rows(path, format, how.columns)
    if names is None:
        from valor_cli.data.inputs.image_rows import read_image_rows

        return read_image_rows(file, role, how)
    from valor_cli.data.inputs.object_rows import read_object_rows

    return read_object_rows(file, names, role, how)


def open_object_rows(
    path: str,
    format: str,  # noqa: A002
    columns: Mapping[str, str],
) -> tuple[RowFile, Sequence[str] | None]:
    """A file of rows, and the names of its columns if each is an object; None if it is an image.

    Args:
        path: The file.
        format: How it is written.
        columns: Standard name to the file's own.

    Raises:
        DataError: It cannot be read.
    """
    file = open_rows(path, format, lambda names: len(SCHEMA.layout(names, columns)))
    if file.form == "cells":
        return file, file.names
    if file.form == "typed":
        kinds = [
            file.types[str(way[0])].kind for way in IMAGE.candidates(file.names, {})["objects"]
        ]
        listed = any(kind in ("list", "struct") for kind in kinds)
        return file, None if listed else file.names
    names = dict[str, None]()
    for row in file.first_rows():
        if "objects" in spelled(tuple(row), "image"):
            return file, None
        names |= dict.fromkeys(row)
    flat = forms_in(names, columns) and "label" in SCHEMA.layout(names, columns)
    return file, list(names) if flat else None


def format_of(path: str, files: Sequence[str] | None = None) -> str:
    """Detect the format of an input by its extension, then by its content.

    Args:
        path: The input.
        files: All files under it, if it is a folder and they are known (`files_under`).

    Raises:
        DataError: It cannot be detected, or the input cannot be read.
    """
    if path != STDIN and is_folder(path):
        return _folder_format(path, files_under(path, "") if files is None else files)
    found = _EXTENSIONS.get(extension_of(path)) or _content_format(path)
    head = b""
    if found in ("csv", "coco"):
        # What is wrong with a file is for its reader to say.
        with suppress(DataError):
            head = head_of(path).lstrip()
    if found == "csv":
        names = head.split(b"\n", 1)[0].replace(b'"', b"").split(b",")
        return "open_images" if {b"ImageID", b"LabelName", b"XMin"} <= set(names) else found
    if found == "coco":
        if head[:1] == b"[" and any(mark in head for mark in MARKS):
            return "label_studio"
        from valor_cli.data.formats.panoptic.listing import is_panoptic

        return "coco_panoptic" if is_panoptic(path) else found
    return _xml_format(path) if found == "voc" else found


def _folder_format(path: str, files: Sequence[str]) -> str:
    from valor_cli.data.formats.class_names import NAMES_FILES
    from valor_cli.data.formats.dota import is_result
    from valor_cli.data.formats.yolo_dataset import dataset_file

    if dataset_file(path) is not None:
        return "yolo"
    texts, annotations, documents = (ending_in(files, one) for one in (".txt", ".xml", ".json"))
    labels = [one for one in texts if os.path.basename(one) not in NAMES_FILES]
    if labels and annotations:
        message = "this folder holds both .txt and .xml files: are they yolo or voc?"
    elif labels:
        if all(is_result(os.path.basename(one)) for one in labels):
            return "dota"
        return _text_format(os.path.join(path, one) for one in labels[:_FILES_LOOKED_AT])
    elif annotations:
        return _xml_format(os.path.join(path, annotations[0]))
    elif documents and b'"shapes"' in head_of(os.path.join(path, documents[0])):
        return "labelme"
    elif is_table_folder(path):
        return "parquet"
    elif not is_url(path) and not os.listdir(path):
        raise DataError(Problem(path, "this folder is empty"))
    else:
        message = "this folder holds no .txt (yolo), .xml (voc) or .json files (labelme)"
    raise DataError(Problem(path, message), hint=_HINT)


def _text_format(files: Iterable[str]) -> str:
    """The format of label files by the first line that there is."""
    for file in files:
        fields = text_of(file)[0].partition("\n")[0].split()
        if not fields:
            continue
        if fields[0].lower().startswith(("imagesource:", "gsd:")):
            return "dota"
        words = [at for at, field in enumerate(fields) if number_in(field)[1]]
        if words == [8] and len(fields) in (9, 10):
            return "dota"
        return "kitti" if words == [0] and len(fields) in (15, 16) else "yolo"
    return "yolo"


def _xml_format(path: str) -> str:
    return "cvat" if b"<annotations" in head_of(path) else "voc"


def _content_format(path: str) -> str:
    head = head_of(path).lstrip()
    if head in PARQUET:
        return "parquet"
    if not head:
        # A named pipe cannot be looked into, and COCO JSON is what most tools write.
        return "coco"
    if head[:1] == b"{":
        return "jsonl" if _is_line(head) else "coco"
    if head[:1] == b"[":
        return "coco"
    if head[:1] == b"<":
        return _xml_format(path)
    line = head.split(b"\n", 1)[0]
    if any(mark in line for mark in b",;\t"):
        return "csv"
    raise DataError(Problem(path, "the format cannot be detected from the content"), hint=_HINT)


def _is_line(head: bytes) -> bool:
    """Whether an object is one line of many, rather than a file."""
    line, end, _ = head.partition(b"\n")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        # Cut off in the middle, or an object over several lines.
        # COCO's own dictionary has annotations with an "image_id", too.
        lists = (b'"objects"', b'"detections"', b'"predictions"')
        return not end and b'"image_id"' in line and any(key in line for key in lists)
    return isinstance(record, dict) and "image_id" in spelled(tuple(record), "image")
