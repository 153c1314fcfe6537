"""List the metadata names of ground truth objects or label maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import numpy as np

from valor_cli.data.formats.coco.images import LVIS_KEYS
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.formats.tables import EXTENSIONS, open_rows
from valor_cli.data.inputs.metadata_names import MetadataRows, batches_of, names_in_all
from valor_cli.data.inputs.objects import ROWS, format_of, open_object_rows
from valor_cli.data.shapes.objects.columns import SCHEMA
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.value_rows import batch_of


class _ImageObjects(msgspec.Struct, gc=False):
    images: list[dict[str, Any]]


_COCO: Final = frozenset(
    (
        *("id", "width", "height", "file_name", "license", "flickr_url", "coco_url"),
        *("date_captured", *LVIS_KEYS.values()),
    )
)
"""Keys of images in COCO's own files."""


def object_metadata(
    path: str,
    columns: Mapping[str, str],
    format: str | None = None,  # noqa: A002 - as in YAML
) -> tuple[str, ...]:
    """Sorted metadata names of the images of a ground truth.

    Args:
        path: As for `read_objects`.
        columns: Standard name to the file's own, for CSV.
        format: As for `read_objects`.
    """

    def rows_of(one: str) -> Iterator[MetadataRows]:
        found = format or format_of(one)
        if found.startswith("coco"):
            yield _images(one)
        if found not in ROWS:
            return
        file, flat = open_object_rows(one, found, columns)
        for batch in batches_of(file):
            if flat is None:
                keys = spelled(tuple(batch.names), "image")
                read = {key for name, key in keys.items() if name != "metadata"}
                yield MetadataRows(batch, read, inner_first=True)
                continue
            owners = batch.at(SCHEMA.candidates(batch.names, columns)["image_id"]).texts()
            read = {"", *SCHEMA.known(batch.names), *columns.values()}
            yield MetadataRows(batch, read, owners, strict=True, inner=())

    return names_in_all(path, rows_of)


def label_map_metadata(path: str, columns: Mapping[Any, str], form: str) -> tuple[str, ...]:
    """Sorted metadata names of the samples of a ground truth.

    Args:
        path: As for the readers of label maps.
        columns: Standard name of a column of a manifest to the file's own.
        form: "manifest", "coco_panoptic", or another without metadata.
    """
    standard = {columns.get(name, name) for name in ("ground_truth", "prediction", "sample_id")}

    def rows_of(one: str) -> Iterator[MetadataRows]:
        if form == "coco_panoptic":
            yield _images(one)
        elif form == "manifest":
            kind = EXTENSIONS.get(extension_of(one), "csv")
            file = open_rows(one, kind, lambda some: len(standard.intersection(some)))
            for batch in batches_of(file):
                yield MetadataRows(batch, standard, inner_first=True)

    return names_in_all(path, rows_of)


def _images(path: str) -> MetadataRows:
    text = TextSource(path).whole()
    try:
        images = msgspec.json.decode(text, type=_ImageObjects).images
    except (msgspec.MsgspecError, RecursionError):
        document = parse_json(text, path)
        found = document.get("images", []) if isinstance(document, dict) else []
        images = [one for one in found if isinstance(one, dict)]
    line = np.arange(len(images))
    return MetadataRows(batch_of(images, line, line, []), _COCO, inner_first=True)
