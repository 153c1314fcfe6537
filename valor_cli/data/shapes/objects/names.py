"""Names and aliases of keys and columns of objects in JSONL and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

IMAGE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "image_id": ("image", "filename", "file_name", "image_name", "image_path"),
    "width": ("image_width",),
    "height": ("image_height",),
    "file_name": (),
    "metadata": (),
    "objects": ("detections", "predictions", "annotations"),
}
"""Standard key of an image, a line of JSONL, to the other names it may have."""

OBJECT_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "label": ("class", "category", "name", "class_name", "category_name", "label_name"),
    "score": ("confidence", "conf"),
    "id": (),
    "crowd": ("iscrowd", "is_crowd"),
    "area": (),
    "box": ("bbox",),
    "rotated_box": (),
    "polygon": (),
    "mask": (),
    "segmentation": (),
}
"""The same of an object. A `segmentation` is COCO's: a polygon, or a mask."""

_NAMES: Final = {"image": IMAGE_NAMES, "object": OBJECT_NAMES}


@lru_cache(maxsize=1024)
def spelled(keys: tuple[str, ...], kind: str) -> Mapping[str, str]:
    """Standard keys mapped to the ones present: the own name or the first alias, in any case.

    Args:
        keys: Those of a record.
        kind: "image" or "object".
    """
    there: dict[str, str] = {}
    for key in keys:
        folded = key.casefold()
        if folded == key or folded not in there:
            there[folded] = key
    found = {}
    for standard, aliases in _NAMES[kind].items():
        name = next((name for name in (standard, *aliases) if name in there), None)
        if name is not None:
            found[standard] = there[name]
    return MappingProxyType(found)


def spellings(keys: Iterable[str], kind: str) -> Mapping[str, tuple[str, ...]] | None:
    """Standard keys mapped to those of many records, the first one that a record has holds.

    None where that depends on the order of the keys in a record.

    Args:
        keys: Those of all records.
        kind: "image" or "object".
    """
    there: dict[str, list[str]] = {}
    for key in keys:
        there.setdefault(key.casefold(), []).append(key)
    found = {}
    for standard, aliases in _NAMES[kind].items():
        names = [(name, there.get(name, [])) for name in (standard, *aliases)]
        if any(len(keys) - (name in keys) > 1 for name, keys in names):
            return None
        # The own spelling goes before others, which differ in case.
        found[standard] = tuple(
            key for name, keys in names for key in sorted(keys, key=name.__ne__)
        )
    return found


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
