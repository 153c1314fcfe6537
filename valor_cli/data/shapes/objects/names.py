"""The fields of images and of their objects, and what else these may be called."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from valor_cli.data.schema import Field, Schema

IMAGE: Final = Schema(
    Field(
        "image_id",
        "id",
        ("image", "filename", "file_name", "image_name", "image_path"),
        description="the key of an image",
    ),
    Field("width", "pixels", ("image_width",), description="width of the image"),
    Field("height", "pixels", ("image_height",), description="height of the image"),
    Field("file_name", "text", description="the file of the image"),
    Field("metadata", "object", description="what slices and filters may ask of the image"),
    Field(
        "objects",
        "list",
        ("detections", "predictions", "annotations"),
        description="the objects of the image",
    ),
)
"""The fields of a row that is an image."""

OBJECT: Final = Schema(
    Field(
        "label",
        "label",
        ("class", "category", "name", "class_name", "category_name", "label_name"),
        description="the class of the object",
    ),
    Field("score", "score", ("confidence", "conf"), description="the confidence of a detection"),
    Field("id", "id", description="the key of the object"),
    Field("crowd", "flag", ("iscrowd", "is_crowd"), description="whether it is a crowd region"),
    Field("area", "pixels²", description="the area that decides the size range"),
    Field("box", "box", ("bbox",), description="x, y, width and height"),
    Field("rotated_box", "box", description="cx, cy, width, height and degrees"),
    Field("polygon", "polygon", description="rings [[x, y, …], …], or GeoJSON"),
    Field("mask", "mask", description="COCO run lengths, or the path of a PNG"),
    Field("segmentation", "shape", description="COCO's: a polygon, or a mask"),
)
"""The fields of an object in the list of its image."""

IMAGE_NAMES: Final = IMAGE.aliases
OBJECT_NAMES: Final = OBJECT.aliases
_SCHEMAS: Final = {"image": IMAGE, "object": OBJECT}


@lru_cache(maxsize=1024)
def spelled(keys: tuple[str, ...], kind: str) -> Mapping[str, str]:
    """Standard keys mapped to the ones present: the own name or the first alias.

    Args:
        keys: Those of a record.
        kind: "image" or "object".
    """
    layout = _SCHEMAS[kind].layout(keys, {})
    return MappingProxyType({name: str(way[0]) for name, way in layout.items()})


def spellings(keys: Collection[str], kind: str) -> Mapping[str, tuple[str, ...]]:
    """Standard keys mapped to those of many records; the first one that a record has holds.

    Args:
        keys: Those of all records.
        kind: "image" or "object".
    """
    found = _SCHEMAS[kind].candidates(keys, {})
    return {name: tuple(str(way[0]) for way in ways) for name, ways in found.items()}


def standard_object(record: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its standard keys first, then unknown ones."""
    names = spelled(tuple(record), "object")
    read = set(names.values())
    found = {standard: record[key] for standard, key in names.items()}
    shape = found.pop("segmentation", None)
    if shape is not None:
        kind = "polygon" if _is_polygon(shape) else "mask"
        if found.get(kind) is None:
            found[kind] = shape
    return {**found, **{key: value for key, value in record.items() if key not in read}}


def _is_polygon(shape: object) -> bool:
    """Whether a segmentation is rings or GeoJSON, rather than run lengths or the path of a PNG."""
    return isinstance(shape, list) or (isinstance(shape, Mapping) and "type" in shape)


def unread_lists(record: Mapping[str, object], read: Sequence[str], *, alone: bool) -> list[str]:
    """Keys of an image whose list of objects would not be read.

    Args:
        record: The image.
        read: Its keys that are read.
        alone: Whether there is no list of its objects: then any list may be what is meant.
    """
    return [
        key
        for key, value in record.items()
        if key not in read and (_listed(value) if alone else _of_objects(value))
    ]


def _of_objects(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(one, Mapping) for one in value)


def _listed(value: object) -> bool:
    """Whether a value is a list, or an object of lists (boxes, labels and scores apart)."""
    if isinstance(value, Mapping):
        return any(isinstance(one, list) and one for one in value.values())
    return isinstance(value, list) and bool(value)
