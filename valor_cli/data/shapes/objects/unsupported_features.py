"""Warn of everything an output format cannot store."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import Id, images_of
from valor_cli.data.table import Table
from valor_cli.errors import printable
from valor_cli.kernels.geometry.shapes import BOX

_LISTED_NAMES = 10


def losses(objects: ObjectFile, name: str, holds: frozenset[str]) -> list[str]:
    """What a format cannot store of these objects, as "YOLO holds no file names: 9 are lost".

    Ids that a reader may have made up are no loss, nor is an area that is a box's own.

    Args:
        objects: What is written.
        name: The format, for the messages.
        holds: Columns of objects, images and categories that it can hold; also "category_id",
            "empty_category", "empty_image", "metadata".
    """
    found = (*_of_objects(objects), *_of_images(objects), *_of_categories(objects))
    return [f"{name} holds no {what}" for key, what in found if key not in holds]


def _of_objects(objects: ObjectFile) -> Iterator[tuple[str, str]]:
    table = objects.objects
    columns = table.columns
    if "id" in columns and not _counted(table["id"].tolist()):
        yield "id", f"ids of objects: {len(table):,} are lost"
    if "area" in columns:
        stated = ~np.isnan(table["area"])
        boxes = objects.shapes.rows_of(BOX)
        stated[boxes] &= table["area"][boxes] != objects.shapes.box[:, 2] * objects.shapes.box[:, 3]
        if lost := int(stated.sum()):
            yield "area", f"stated areas: {lost:,} objects now have the area of their shape"
    if "crowd" in columns and (lost := int(table["crowd"].sum())):
        yield "crowd", f"crowd flags: {lost:,} crowds now are single objects"
    if "difficult" in columns and (lost := int(table["difficult"].sum())):
        yield "difficult", f"difficult flags: {lost:,} difficult objects now count"
    if "keypoints" in columns and (lost := int((table["keypoints"] != 0).any(axis=(1, 2)).sum())):
        yield "keypoints", f"keypoints: those of {lost:,} objects are lost"


def _of_images(objects: ObjectFile) -> Iterator[tuple[str, str]]:
    images = images_of(objects)
    if sized := int((images.size > 0).all(axis=1).sum()):
        yield "size", f"image sizes: {sized:,} are lost"
    if named := sum(name is not None for name in images.file_names):
        yield "file_name", f"file names of images: {named:,} are lost"
    used = set(objects.objects["image_id"].tolist())
    if empty := sum(each not in used for each in images.ids):
        yield "empty_image", f"images without objects: {empty:,} are lost"
    table = objects.images
    for column in ("negative", "not_exhaustive"):
        if table is not None and column in table.columns:
            what = column.replace("_", " ")
            yield column, f"lists of {what} categories: those of {len(images):,} images are lost"
    for name, values in objects.metadata.items():
        count = sum(value is not None for value in values)
        yield "metadata", f"metadata: '{printable(name)}' of {count:,} images is lost"


def _of_categories(objects: ObjectFile) -> Iterator[tuple[str, str]]:
    table = objects.categories
    if table is None:
        return
    ids = table["id"].tolist()
    if ids and not objects.coded:
        yield "category_id", f"category ids: {len(ids):,} are lost"
    used = set(objects.objects["category_id"].tolist())
    unused = _names_where_not(table, used)
    if unused:
        shown = ", ".join(map(printable, unused[:_LISTED_NAMES]))
        more = ", …" if len(unused) > _LISTED_NAMES else ""
        yield (
            "empty_category",
            f"categories without objects: {len(unused):,} are lost ({shown}{more})",
        )
    if "frequency" in table.columns:
        yield "frequency", f"frequencies of categories: {len(ids):,} are lost"
    if "isthing" in table.columns:
        yield "isthing", f"kinds of categories (things or stuff): {len(ids):,} are lost"


def _names_where_not(table: Table, used: set[Id]) -> list[str]:
    pairs = zip(table["id"].tolist(), table["name"].tolist(), strict=True)
    return [name for number, name in pairs if number not in used]


def _counted(ids: list[Id]) -> bool:
    """Whether they only count the rows."""
    return ids in (list(range(len(ids))), list(range(1, len(ids) + 1)))
