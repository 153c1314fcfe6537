"""Tell what a file or folder holds from its content."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from math import inf, isnan
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.batch import ColumnType, RowFile
from valor_cli.data.formats.class_names import NAMES_FILES
from valor_cli.data.formats.dota import is_result
from valor_cli.data.formats.folders import ending_in, files_under, is_folder, text_of
from valor_cli.data.formats.images import ENDINGS
from valor_cli.data.formats.manifest import MANIFEST
from valor_cli.data.formats.tables import format_of as format_of_rows
from valor_cli.data.formats.tables import open_rows
from valor_cli.data.formats.yolo_dataset import dataset_file
from valor_cli.data.inputs.objects import format_of as format_of_objects
from valor_cli.data.shapes.objects.columns import SCHEMA as OBJECTS
from valor_cli.data.shapes.objects.columns import forms_in
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.samples.logs import is_log, rows_of_document
from valor_cli.data.shapes.samples.other_tools import one_shape
from valor_cli.data.shapes.samples.schema import SCHEMA as TEXTS
from valor_cli.data.shapes.samples.squad import first_squad_rows
from valor_cli.data.shapes.scores.schema import SCHEMA as SCORES
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import expanded_tables, extension_of, head_of, rewind
from valor_cli.data.value_rows import ValueFile
from valor_cli.errors import DataError
from valor_cli.paths import is_url

Shape: TypeAlias = Literal["objects", "scores", "texts", "label_maps"]
Holds: TypeAlias = Literal["ground_truth", "predictions", "both"]
Outline: TypeAlias = Literal["box", "outline", ""]

FORMATS: Final = {
    "coco": "COCO",
    "coco_panoptic": "COCO panoptic",
    "cityscapes": "Cityscapes ids",
    "cityscapes_train_ids": "Cityscapes train ids",
    "voc": "Pascal VOC",
    "yolo": "YOLO",
    "cvat": "CVAT",
    "dota": "DOTA",
    "kitti": "KITTI",
    "labelme": "LabelMe",
    "label_studio": "Label Studio",
    "open_images": "Open Images",
    "jsonl": "JSON lines",
    "csv": "CSV",
    "json": "JSON",
    "parquet": "Parquet",
}

CITYSCAPES: Final = ("cityscapes", "cityscapes_train_ids")
"""Formats that ground truth tells by its names, and predictions by their values."""

_ROWS: Final = 200
"""Rows of a file that are looked at, at most."""

_LABEL_FILES: Final = 100
"""Label files of a folder that are looked at, at most: many may be empty."""

_AFTER: Final = 1 << 15
"""Bytes of a list of annotations that are looked at."""

_TOKENS: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|([{}\[\]])')
_OUTLINED: Final = re.compile(rb'"segmentation"\s*:\s*(?:\[\s*[\[\d]|\{)')
_BOX_AND_SCORE: Final = 6
"""Numbers in a line of YOLO's that is no polygon, at most."""

_KITTI: Final = 15
"""Fields of a line of KITTI's that has no score."""

_LONG, _WORDS = 40, 4
"""Characters, and words, from which on a value is a text and not the name of a class."""

_FILES: Final = {"labelme": ".json", "dota": ".txt", "kitti": ".txt", "parquet": ".parquet"}
"""What folders hold, for messages."""

_ROBOFLOW: Final = "_annotations.coco.json"
"""What the annotations are called that lie among their images."""

_SAID: Final = ("prediction", "target", "ground_truth")
"""Names that both classes and texts go by."""


class Seen(Struct, frozen=True):
    """What an input holds.

    Attributes:
        path: The input, as the user wrote it.
        shape: Objects in images, labels and scores, texts, or label maps; None if nothing tells.
        holds: Whose they are.
        format: What the input is written in, for messages: "COCO", "CSV".
        basis: What told, for messages: "columns id, label".
        outline: Whether objects are boxes, or have polygons or masks.
        written: What `format` a config has to say of it: "masks", or of `CITYSCAPES`; other formats
            are detected.
        label: The column of labels, where it has neither predictions nor scores beside them.
    """

    path: str
    shape: Shape | None
    holds: Holds
    format: str
    basis: str
    outline: Outline = ""
    written: str = ""
    label: str = ""


def look_at(path: str, wanted: Shape | None = None) -> Seen:
    """What an input holds.

    Args:
        path: A file, a folder, a pattern or a URL.
        wanted: What it holds for certain; None: its content tells.

    Raises:
        DataError: It cannot be read.
        MissingExtraError: A package that its format needs is not installed.
    """
    one = expanded_tables(path)[0]
    if is_folder(one):
        inside = os.path.join(one, _ROBOFLOW)
        if os.path.isfile(inside) and (found := _coco(inside, inside, wanted)):
            return found
        return _folder(path, one, wanted)
    extension = extension_of(one)
    if extension in (".yaml", ".yml"):
        return _folder(path, os.path.dirname(one) or os.curdir, wanted)
    if extension == ".xml":
        return _xml(path, one, format_of_objects(one))
    if wanted in (None, "objects", "label_maps") and extension == ".json":
        found = _coco(path, one, wanted)
        if found is not None:
            return found
    return _rows(path, one, wanted)


def _annotated(path: str, format: str, basis: str, outline: Outline, *, scored: bool) -> Seen:  # noqa: A002
    """Objects in a format of their own."""
    holds: Holds = "predictions" if scored else "ground_truth"
    return Seen(path, "objects", holds, FORMATS[format], basis, outline)


def _folder(path: str, folder: str, wanted: Shape | None) -> Seen:
    """A folder of label files, of annotations, or of label maps."""
    files = files_under(folder, "")
    if wanted in (None, "label_maps") and (form := _form_of_maps(folder, files, wanted)):
        basis = "folder of masks for each label" if form == "masks" else "folder of PNGs"
        written = "" if form == "png" else form
        shown = FORMATS.get(form, "PNG")
        return Seen(path, "label_maps", "ground_truth", shown, basis, written=written)
    is_dataset = dataset_file(path) is not None
    found = "yolo" if is_dataset else format_of_objects(folder, files)
    if found in ("voc", "cvat"):
        return _xml(path, os.path.join(folder, ending_in(files, ".xml")[0]), found)
    texts = ending_in(files, ".txt")
    if found == "yolo":
        lengths = _lengths(folder, texts)
        # A class, a box or corners in pairs, and a score.
        scored = any(length % 2 == 0 for length in lengths)
        outlined = any(length > _BOX_AND_SCORE for length in lengths)
        basis = "data.yaml" if is_dataset else ".txt files"
        return _annotated(path, found, basis, "outline" if outlined else "box", scored=scored)
    scored = found == "dota" and all(map(is_result, map(os.path.basename, texts)))
    scored |= found == "kitti" and max(_lengths(folder, texts), default=0) > _KITTI
    outline: Outline = "outline" if found == "labelme" else "box"
    return _annotated(path, found, f"{_FILES[found]} files", outline, scored=scored)


def _form_of_maps(folder: str, files: Sequence[str], wanted: Shape | None) -> str:
    """Whether a folder has label maps, "png" or of `CITYSCAPES`, or "masks" of each label."""
    # Most runs read no label maps.
    from valor_cli.data.formats.cityscapes import encoding_of_truth

    if is_url(folder):
        maps = ending_in(files, ".png")
        return encoding_of_truth(maps) or ("png" if wanted is not None or maps else "")
    inside = [one for one in os.scandir(folder) if not one.name.startswith(".")]
    endings = {os.path.splitext(one.name)[1].lower() for one in inside if one.is_file()}
    told = ".png" in endings or not endings
    if told and (encoding := encoding_of_truth(ending_in(files, ".png"))) is not None:
        return encoding
    if ".png" in endings and (wanted is not None or endings.isdisjoint((".txt", ".xml"))):
        return "png"
    folders = [one.path for one in inside if one.is_dir()]
    if endings or not folders or not all(map(_is_of_pngs, folders)):
        return "png" if wanted is not None else ""
    names = [set(os.listdir(one)) for one in folders]
    # An image has a mask of several labels; label maps lie in one folder each.
    return "masks" if len(names) > 1 and set.intersection(*names) else "png"


def label_values(folder: str) -> list[int]:
    """The pixel values of the first label maps of a folder."""
    import numpy as np
    from PIL import Image

    found: set[int] = set()
    for name in files_under(folder, ".png")[:_LABEL_FILES]:
        # What is wrong with a file is for its reader to say.
        with suppress(OSError), Image.open(os.path.join(folder, name)) as image:
            if image.mode not in ("1", "L", "P", "I;16"):
                return [0]  # The reader says what is wrong with it.
            found |= set(np.unique(np.asarray(image)).tolist())
    return sorted(found)


def _is_of_pngs(folder: str) -> bool:
    names = os.listdir(folder)
    return bool(names) and all(name.lower().endswith(".png") for name in names)


def _xml(path: str, file: str, format: str) -> Seen:  # noqa: A002
    """Annotations of one file, or a folder of them."""
    head = head_of(file)
    outline: Outline = "outline" if b"<polygon" in head else "box"
    scored = any(mark in head for mark in (b"<score>", b"<confidence>"))
    return _annotated(path, format, "XML", outline, scored=scored)


def _lengths(folder: str, texts: Sequence[str]) -> set[int]:
    """How many numbers the lines of label files have."""
    found: set[int] = set()
    names = (one for one in texts if os.path.basename(one) not in NAMES_FILES)
    for name in islice(names, _LABEL_FILES):
        with suppress(DataError):
            lines = text_of(os.path.join(folder, name))[0].splitlines()
            found |= {len(line.split()) for line in lines[:_ROWS]}
    return found - {0, 1}


def _coco(path: str, file: str, wanted: Shape | None) -> Seen | None:
    """COCO's JSON and Label Studio's; None if it is other JSON."""
    head = head_of(file).lstrip()
    found = format_of_objects(file)
    if found == "label_studio":
        return _annotated(path, found, "list of tasks", "box", scored=False)
    if head[:1] == b"[" and {"image_id", "category_id"} <= _keys(head, level=2):
        outline: Outline = "outline" if _OUTLINED.search(head) else "box"
        basis = "keys image_id, category_id"
        return Seen(path, "objects", "predictions", "COCO results", basis, outline)
    if head[:1] != b"{" or not {"images", "annotations", "categories"} & _keys(head, level=1):
        return None
    if found == "coco_panoptic":
        shape: Shape = "label_maps" if wanted == "label_maps" else "objects"
        basis = "segments beside a folder of PNGs"
        return Seen(path, shape, "ground_truth", FORMATS[found], basis, "outline")
    listed = _after(file, b'"annotations"')
    outline = "outline" if _OUTLINED.search(listed) else "box"
    basis = "keys images, annotations, categories"
    return _annotated(path, found, basis, outline, scored=b'"score"' in listed)


def _keys(head: bytes, level: int) -> set[str]:
    """The keys of objects at a level of nesting in the head of a JSON document."""
    found: set[str] = set()
    depth = 0
    for text, colon, mark in _TOKENS.findall(head):
        if mark:
            depth += 1 if mark in b"{[" else -1
        elif colon and level == depth:
            found.add(text.decode(errors="replace"))
    return found


def _after(path: str, mark: bytes) -> bytes:
    """The bytes of a file that come after a mark; none if it is not there."""
    tail = b""
    chunks = TextSource(path).chunks()
    try:
        for chunk in chunks:
            text = tail + chunk
            at = text.find(mark)
            if at >= 0:
                text = text[at:]
                for more in chunks:
                    if len(text) >= _AFTER:
                        break
                    text += more
                return text[:_AFTER]
            tail = chunk[-len(mark) :]
    finally:
        chunks.close()
    return b""


def _rows(path: str, file: str, wanted: Shape | None) -> Seen:
    """A file of rows, by its columns or the keys of its first rows."""
    schemas = OBJECTS, SCORES, TEXTS, MANIFEST
    written = format_of_rows(file)
    if written == "jsonl" and wanted in (None, "texts") and is_log(file):
        return Seen(path, "texts", "both", FORMATS[written], "events")

    def known(names: Sequence[str]) -> int:
        return max(len(one.layout(names, {})) for one in schemas)

    questions = first_squad_rows(head_of(file)) if written == "json" else None
    opened = (
        open_rows(file, written, known, partial(rows_of_document, known=known))
        if questions is None
        else ValueFile(file, questions.rows, "", "")
    )
    rows: list[Mapping[str, Any]] = list(islice(opened.first_rows(), _ROWS))
    rewind(file)
    if opened.form == "typed":
        rows = [{name: _of_type(opened.types[name]) for name in opened.names}]
    names = list(opened.names) or list(dict.fromkeys(key for row in rows for key in row))
    shown = FORMATS[written]
    basis = f"{'keys' if opened.form == 'json' else 'columns'} {_listed(names)}"
    if wanted in (None, "objects") and (found := _objects(names, rows)):
        return Seen(path, "objects", found[0], shown, basis, found[1])
    if wanted in (None, "label_maps") and _lists_maps(names, rows, sure=wanted is not None):
        return Seen(path, "label_maps", "both", f"{shown} manifest", basis)
    numbers = _class_columns(opened, names, rows)
    holds = _scores(names, rows, numbers)
    texts = wanted == "texts" or (wanted is None and _are_texts(names, rows, holds))
    if texts:
        return Seen(path, "texts", _texts(names, rows), shown, basis)
    if wanted in (None, "scores") and holds is not None:
        alone = holds == "ground_truth"
        label = str(SCORES.layout(names, {})["label"][0]) if alone else ""
        return Seen(path, "scores", holds, shown, basis, label=label)
    return Seen(path, wanted, "both", shown, basis)


def _of_type(type: ColumnType | None) -> Any:  # noqa: A002
    """A value of a type that says which fields it has; None of what is no list or object."""
    if type is None or type.kind not in ("list", "struct", "map"):
        return None
    fields = {name: _of_type(one) for name, one in type.fields}
    return [fields.get("")] if type.kind == "list" else fields


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(f"{name:.40}" for name in names[:8]) + more


def _objects(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> tuple[Holds, Outline] | None:
    """Whose objects rows are, and of which form; None if they are none."""
    layout = OBJECTS.layout(names, {})
    if forms_in(names, {}) and {"image_id", "label"} <= set(layout):
        return ("predictions" if "score" in layout else "ground_truth"), "box"
    for row in rows:
        own = spelled(tuple(row), "image")
        things = row.get(own.get("objects", ""))
        if isinstance(things, str) or not isinstance(things, Sequence):
            continue
        first = next((one for one in things if isinstance(one, Mapping)), None)
        if first is None:
            continue
        said = set(spelled(tuple(first), "object"))
        outline = said & {"polygon", "mask", "segmentation"}
        if outline or said & {"box", "rotated_box"}:
            holds: Holds = "predictions" if "score" in said else "ground_truth"
            return holds, "outline" if outline else "box"
    return None


def _lists_maps(names: Sequence[str], rows: Sequence[Mapping[str, Any]], *, sure: bool) -> bool:
    """Whether rows name label maps."""
    layout = MANIFEST.layout(names, {})
    if not {"ground_truth", "prediction"} <= set(layout):
        return False
    said = (row.get(str(layout[name][0])) for row in rows[:1] for name in _SAID if name in layout)
    return sure or all(isinstance(one, str) and one.lower().endswith(ENDINGS) for one in said)


def _class_columns(
    opened: RowFile, names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Columns of scores, which are called like classes."""
    known = SCORES.known(names) | TEXTS.known(names)
    if opened.form == "typed":
        kinds = {name: opened.types[name].kind for name in names}
        return [one for one in names if one not in known and kinds[one] in ("float", "decimal")]
    if opened.form != "cells" or not rows:
        return []
    # Beside an id numbers of any size are scores: logits, or probabilities that are wrong.
    low, high = (-inf, inf) if "sample_id" in SCORES.layout(names, {}) else (0.0, 1.0)
    return [
        name
        for name in names
        if name not in known and all(_is_score(row.get(name), low, high) for row in rows)
    ]


def _is_score(cell: Any, low: float, high: float) -> bool:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return False
    return low <= value <= high or (isnan(value) and high == inf)


def _scores(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], classes: Sequence[str]
) -> Holds | None:
    """Whose labels or scores rows have; None if they have none."""
    layout = SCORES.layout(names, {})
    true = "label" in layout
    said = "prediction" in layout or len(classes) > 1 or _has_scores(layout, rows)
    if true and said:
        return "both"
    return "ground_truth" if true else "predictions" if said else None


def _has_scores(layout: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a field of predictions holds labels with their scores."""
    name = str(layout["predictions"][0]) if "predictions" in layout else None
    return any(isinstance(row.get(name or ""), Mapping | list | str) for row in rows[:1])


def _are_texts(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], holds: Holds | None
) -> bool:
    """Whether rows are texts, which share some names with labels."""
    first = one_shape(dict(rows[0])) if rows else dict.fromkeys(names)
    layout = TEXTS.layout(list(first), {})
    if not {"response", "retrieved_contexts", "user_input"} & set(layout):
        return holds is None and "references" in layout
    if holds is None or (rows and first != rows[0]) or "retrieved_contexts" in layout:
        return True
    response = str(layout["response"][0]) if "response" in layout else ""
    if holds == "ground_truth" or (response and response not in _SAID):
        return bool(response)
    if holds == "predictions":
        return not {"user_input", "references"}.isdisjoint(layout)
    return any(_is_text(row.get(name)) for row in rows for name in (response, *_SAID))


def _texts(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Holds:
    """Whether rows of texts have responses, or only what is asked and right."""
    shaped = [one_shape(dict(row)) for row in rows] or [dict.fromkeys(names)]
    said = any("response" in TEXTS.layout(list(row), {}) for row in shaped)
    return "both" if said else "ground_truth"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and (len(value) > _LONG or len(value.split()) >= _WORDS)
