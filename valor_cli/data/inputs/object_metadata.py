"""List the metadata names of ground truth objects or label maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from valor_cli.data.column_names import DELIMITERS
from valor_cli.data.formats.coco.tables import LVIS_KEYS
from valor_cli.data.formats.csv.object_header import ALIASES, read_header
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.inputs.metadata_names import (
    MetadataNames,
    csv_rows,
    first_line,
    json_lines,
    metadata_of,
    names_in_all,
)
from valor_cli.data.inputs.objects import format_of
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of


class _ImageObjects(msgspec.Struct, gc=False):
    images: list[dict[str, Any]]


_COCO: Final = frozenset(
    ("id", "width", "height", "file_name", "license", "flickr_url", "coco_url", "date_captured")
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

    def names_of(one: str) -> frozenset[str]:
        found = format or format_of(one)
        if found == "csv":
            return _csv_names(one, columns)
        names = MetadataNames()
        if found == "jsonl":
            for record in json_lines(one):
                standard = spelled(tuple(record), "image")
                read = {key for name, key in standard.items() if name != "metadata"}
                names.note(metadata_of(record, read, inner_first=True))
        elif found.startswith("coco"):
            _note_images(names, one)
        return names.found()

    return names_in_all(path, names_of)


def label_map_metadata(path: str, columns: Mapping[Any, str], form: str) -> tuple[str, ...]:
    """Sorted metadata names of the samples of a ground truth.

    Args:
        path: As for the readers of label maps.
        columns: Standard name of a column of a manifest to the file's own.
        form: "manifest", "coco_panoptic", or another without metadata.
    """
    standard = {columns.get(name, name) for name in ("ground_truth", "prediction", "sample_id")}

    def names_of(one: str) -> frozenset[str]:
        names = MetadataNames()
        if form == "coco_panoptic":
            _note_images(names, one)
        elif form == "manifest":
            for record in _rows(one, standard):
                names.note(metadata_of(record, standard, inner_first=True))
        return names.found()

    return names_in_all(path, names_of)


def _note_images(names: MetadataNames, path: str) -> None:
    standard = _COCO.union(LVIS_KEYS.values())
    text = TextSource(path).whole()
    try:
        images = msgspec.json.decode(text, type=_ImageObjects).images
    except (msgspec.MsgspecError, RecursionError):
        document = parse_json(text, path)
        images = document.get("images", []) if isinstance(document, dict) else []
    for image in images:
        names.note(metadata_of(image, standard, inner_first=True))


def _csv_names(path: str, columns: Mapping[str, str]) -> frozenset[str]:
    """Those of a CSV file, where the rows of an image must say the same."""
    line = first_line(path)
    header = read_header(line, path, "ground_truth", wanted="box", columns=columns, metadata=())
    known = {name for standard, others in ALIASES.items() for name in (standard, *others)}
    standard = {header.names[at] for at in header.at.values()} | set(columns.values())
    standard |= {name for name in header.names if name.casefold() in known}
    image = header.names[header.at["image_id"]]
    names = MetadataNames(strict=True)
    for row in csv_rows(path, header.delimiter, spaced=header.spaced):
        names.note(metadata_of(row, standard, ()), row[image])
    return names.found()


def _rows(path: str, standard: set[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of a manifest."""
    if extension_of(path) in (".jsonl", ".ndjson"):
        yield from json_lines(path)
        return
    names = first_line(path)
    delimiter = max(DELIMITERS, key=lambda one: _delimiter_rank(names, one, standard))
    yield from csv_rows(path, delimiter, spaced=False)


def _delimiter_rank(line: str, delimiter: str, standard: set[str]) -> tuple[int, int]:
    names = [name.strip(' "\r') for name in line.split(delimiter)]
    return sum(name in standard for name in names), len(names)
