"""Detect the role, labels, image sizes and metadata of an input to convert."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from valor_cli.data.formats.class_names import NAMES_FILES
from valor_cli.data.formats.dota import is_result
from valor_cli.data.formats.folders import files_under, text_of
from valor_cli.data.formats.images import ImageFolder, image_size
from valor_cli.data.formats.kitti import SCORED_FIELDS
from valor_cli.data.formats.yolo_dataset import dataset_file
from valor_cli.data.inputs.objects import ROWS, TRUTH_ALONE, format_of, open_object_rows
from valor_cli.data.shapes.objects.columns import SCHEMA
from valor_cli.data.shapes.objects.names import IMAGE, spellings
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.scene import Scene, image_table
from valor_cli.data.source.files import STDIN, TextSource
from valor_cli.data.tape import LIST, OBJECT, Column, tape_of
from valor_cli.errors import DataError, Problem

_SCORE_KEY: Final = re.compile(rb'"score"\s*:')
_SCORE_ELEMENT: Final = re.compile(rb"<(?:score|confidence)>")
_ANNOTATED: Final = re.compile(rb'"annotations"\s*:\s*\[\s*\{')
"""Tasks of Label Studio with annotations, which may have predictions beside."""

_OVERLAP: Final = 64
"""Bytes kept of a piece of text, in which a key that goes on in the next may begin."""


def role_of(path: str, source_format: str | None) -> Role:
    """The role of an input: predictions if any object has a score.

    Args:
        path: As for `read_objects`.
        source_format: Its format; None to find it out.

    Raises:
        DataError: The input cannot be looked at twice, or not at all.
    """
    found = [path] if os.path.lexists(path) or path == STDIN else glob.glob(path, recursive=True)
    for one in found or [path]:
        if one == STDIN or is_single_pass(one):
            problem = Problem(
                one,
                "cannot detect whether these are predictions, as the input can be read only once",
            )
            raise DataError(problem, hint="set --role ground_truth or --role predictions")
        if _has_scores(one, source_format or format_of(one)):
            return "predictions"
    return "ground_truth"


def is_single_pass(path: str) -> bool:
    """Whether the input is a pipe or a device."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _has_scores(path: str, source_format: str) -> bool:
    if source_format == "yolo":
        return dataset_file(path) is None and any(map(_scored_line, _lines_of_labels(path)))
    if source_format == "kitti":
        return any(len(line.split()) == SCORED_FIELDS for line in _lines_of_labels(path))
    if source_format == "open_images":
        header = next(TextSource(path).chunks()).split(b"\n", 1)[0]
        return b"Score" in map(bytes.strip, header.split(b","))
    if source_format == "dota":
        return any(is_result(os.path.basename(one)) for one in files_under(path, ".txt"))
    if source_format == "label_studio":
        return not _mentions(_ANNOTATED, b"", TextSource(path).chunks())
    if source_format in TRUTH_ALONE:
        return False
    if source_format == "voc":
        files = files_under(path, ".xml") if os.path.isdir(path) else [""]
        sources = (TextSource(os.path.join(path, file) if file else path) for file in files)
        return any(_SCORE_ELEMENT.search(source.whole()) for source in sources)
    if source_format in ROWS:
        return _has_scored_rows(path, source_format)
    chunks = TextSource(path).chunks()
    head = next(chunks)
    # A COCO results list is one even when it is empty.
    return head.lstrip().startswith(b"[") or _mentions(_SCORE_KEY, head, chunks)


def _has_scored_rows(path: str, source_format: str) -> bool:
    """Whether rows have a score, or the objects of their images."""
    file, names = open_object_rows(path, source_format, {})
    if names is not None:
        return bool(SCHEMA.candidates(names, {})["score"])
    for block in file.blocks():
        for batch in block.batches:
            objects = batch.at(IMAGE.candidates(batch.names, {})["objects"])
            if len(batch) and spellings(objects.tape.keys, "object")["score"]:
                return True
    return False


def _mentions(key: re.Pattern[bytes], head: bytes, chunks: Iterator[bytes]) -> bool:
    before = b""
    head = head or next(chunks, b"")
    while head:
        if key.search(before + head):
            return True
        before, head = head[-_OVERLAP:], next(chunks, b"")
    return False


def _lines_of_labels(folder: str) -> Iterator[str]:
    for file in files_under(folder, ".txt"):
        if os.path.basename(file) not in NAMES_FILES:
            yield from text_of(os.path.join(folder, file))[0].splitlines()


def _scored_line(line: str) -> bool:
    """Whether a score follows a class and pairs of numbers."""
    count = len(line.split())
    return count >= 6 and count % 2 == 0


class _Carrier(msgspec.Struct, gc=False):
    metadata: dict[str, Any] | None = None


class _Carriers(msgspec.Struct, gc=False):
    images: list[_Carrier] = []


_IMAGES: Final = msgspec.json.Decoder(_Carriers)


def metadata_in(path: str, source_format: str | None) -> tuple[list[str], list[str]]:
    """Metadata names of images: those that can be read, and those that cannot.

    Lists and objects cannot. A text that is wrong, or can be read once only, has none: what is
    wrong with it is for its reader to say.
    """
    if not os.path.isfile(path):
        return [], []
    readable: dict[str, bool] = {}
    for column in _metadata_of(path, source_format or format_of(path)):
        for key in column.first_keys():
            single = not column.field(key).is_of(LIST, OBJECT).any()
            readable[key] = readable.get(key, True) and bool(single)
    return [key for key in readable if readable[key]], [
        key for key in readable if not readable[key]
    ]


def _metadata_of(path: str, source_format: str) -> Iterator[Column]:
    """What images say under "metadata"."""
    if source_format == "coco":
        text = TextSource(path).whole()
        if b'"metadata"' in text:
            with suppress(msgspec.MsgspecError, RecursionError):
                yield tape_of([one.metadata for one in _IMAGES.decode(text).images])
    elif source_format in ROWS:
        with suppress(DataError):
            file, names = open_object_rows(path, source_format, {})
            for block in file.blocks() if names is None else ():
                for batch in block.batches:
                    metadata = batch.at([("metadata",)])
                    yield metadata.where(metadata.is_of(OBJECT))


class _Keys(msgspec.Struct, gc=False):
    images: list[dict[str, msgspec.Raw]] = []
    annotations: list[dict[str, msgspec.Raw]] = []
    categories: list[dict[str, msgspec.Raw]] = []


_KEYS: Final = msgspec.json.Decoder(_Keys)
_READ: Final[Mapping[str, frozenset[str]]] = {
    "images": frozenset(
        ("id", "width", "height", "file_name", "metadata")
        + ("neg_category_ids", "not_exhaustive_category_ids")
    ),
    "annotations": frozenset(
        ("id", "image_id", "category_id", "bbox", "segmentation", "area", "iscrowd", "score")
        + ("keypoints", "num_keypoints", "segments_info", "file_name")
    ),
    "categories": frozenset(("id", "name", "frequency", "isthing")),
}
"""What readers take from the lists of a COCO dictionary."""


def unread_keys(path: str, source_format: str | None) -> list[str]:
    """Keys of a COCO dictionary that are not read, as "categories.supercategory"."""
    if not os.path.isfile(path) or not (source_format or format_of(path)).startswith("coco"):
        return []
    try:
        found = _KEYS.decode(TextSource(path).whole())
    except (msgspec.MsgspecError, RecursionError):
        # A list of results, or something wrong, which is for its reader to say.
        return []
    return [
        f"{name}.{key}"
        for name, known in _READ.items()
        for key in dict.fromkeys(key for row in getattr(found, name) for key in row)
        if key not in known
    ]


def names_in(text: str) -> tuple[str, ...]:
    """Labels in order, from a file with one per line or separated by commas.

    Raises:
        DataError: The text names a file that cannot be read, or no label.
    """
    if os.path.isfile(text) or text.endswith(".txt"):
        names = tuple(TextSource(text).whole().decode().rstrip().splitlines())
    else:
        names = tuple(text.split(","))
    names = tuple(name.strip() for name in names)
    if not all(names):
        raise DataError(Problem("--names", "expected labels, found an empty one"))
    return names


def with_sizes(objects: ObjectFile, folder: str) -> ObjectFile:
    """Fill in missing image sizes from the images in a folder.

    A picture is found by the file name of its image, else by its id, each without extension.

    Raises:
        DataError: There is no such folder, or a picture cannot be read.
    """
    table, images = image_table(objects), Scene(objects)
    pictures = ImageFolder(folder)
    size = images.size.copy()
    for at in np.flatnonzero((size == 0).any(axis=1)).tolist():
        name = images.file_names[at]
        for stem in _stems(str(images.ids[at]) if name is None else name):
            if (file := pictures.by_stem.get(stem)) is not None:
                size[at] = image_size(os.path.join(folder, file))
                break
    columns = {**table.columns, "height": size[:, 0], "width": size[:, 1]}
    return replace(objects, images=replace(table, columns=columns))


def _stems(name: str) -> tuple[str, ...]:
    """Possible names of an image: with or without its folder, and ids with dots."""
    path = name.replace("\\", "/")
    stem = os.path.splitext(path)[0]
    return stem, os.path.basename(stem), path
