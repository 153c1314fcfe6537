"""Read a case of the corpus through the public entry of its shape, as plain JSON."""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from valor_cli.data.formats.manifest import read_manifest
from valor_cli.data.formats.records import read_raw_rows
from valor_cli.data.inputs.object_metadata import label_map_metadata, object_metadata
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.data.inputs.sample_metadata import sample_metadata
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.inputs.score_metadata import score_metadata
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import COLUMNS
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading
from valor_cli.data.table import Table
from valor_cli.errors import ValorError
from valor_cli.kernels.geometry.shapes import KINDS, Shapes
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.results import InputFile

Case = dict[str, Any]
"""A line of a corpus.

`name`; `file` with its `text` or `base64`, or `path` and `files` by name; the arguments of the
entry; and the expected `result`, or the lines of the `error`. A text may be a list of texts and of
pairs of a text and how often it is repeated; a file whose name ends in a slash is a folder. A
Parquet file may be written as its `columns`, with the `types` that are not those of its values.
"""

FOLDER: Final = Path(__file__).parent
SHAPES: Final = ("scores", "samples", "objects", "label_maps", "metadata_names", "rows")
OUTCOME: Final = ("result", "error")


def cases(shape: str) -> list[Case]:
    """All cases of a shape, in the order of its file."""
    text = (FOLDER / f"{shape}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@functools.cache
def _forms(shape: str) -> Mapping[str, Sequence[Case]]:
    """All cases of a shape by form."""
    found: dict[str, list[Case]] = {}
    for case in cases(shape):
        found.setdefault(form_of(case), []).append(case)
    return found


def line_of(case: Case) -> str:
    """A case as a line, with invisible characters escaped."""
    text = json.dumps(case, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def write(case: Case, folder: Path) -> str:
    """Write the input of a case; returns its path, relative to the folder."""
    files = case["files"] if "files" in case else {case["file"]: case}
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        if path.parent != folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content_of({"text": content} if isinstance(content, str) else content))
    return str(case.get("path") or case["file"])


def content_of(content: Mapping[str, Any]) -> bytes:
    """The bytes of a file."""
    if "base64" in content:
        return base64.b64decode(content["base64"])
    if "columns" in content:
        return _parquet(content["columns"], content.get("types", {}))
    text = content["text"]
    if isinstance(text, list):
        text = "".join(one if isinstance(one, str) else one[0] * one[1] for one in text)
    return str(text).encode()


def _parquet(columns: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> bytes:
    table = pa.table(
        {
            name: pa.array(values, pa.type_for_alias(types[name]) if name in types else None)
            for name, values in columns.items()
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def outcome(shape: str, case: Case, folder: Path) -> Case:
    """The `result` or the `error` of reading a case in an empty folder."""
    path = write(case, folder)
    with contextlib.chdir(folder):
        try:
            found = READERS[shape](path, case)
        except ValorError as error:
            return {"error": str(error).split("\n")}
    # As JSON has it: tuples are lists.
    return {"result": json.loads(json.dumps(found))}


def _scores(path: str, case: Case) -> object:
    reading = ScoreReading(**case.get("reading", {}))
    return scores_said(read_scores(path, case["side"], reading, case.get("format")))


def _samples(path: str, case: Case) -> object:
    reading = SampleReading(**case.get("reading", {}))
    return samples_said(read_samples(path, reading, case.get("format")))


def _objects(path: str, case: Case) -> object:
    return objects_said(read_objects(path, case["side"], _reading(case), case.get("format")))


def _reading(case: Case) -> Reading:
    options = dict(case.get("reading", {}))
    if "fields" in options:
        options["fields"] = frozenset(options["fields"])
    if isinstance(options.get("names"), dict):
        options["names"] = {int(number): name for number, name in options["names"].items()}
    if "known" in case:
        truth = read_objects(case["known"], "ground_truth", Reading())
        if truth.images is not None:
            options["known"] = KnownImages.of(truth.images, truth.image_names)
    return Reading(**options)


def _label_maps(path: str, case: Case) -> object:
    found = read_manifest(path, case["side"], **case.get("reading", {}))
    return {
        "folder": found.folder,
        "maps": {sample: one.path for sample, one in found.maps.items()},
        **_without_empty(metadata=found.metadata),
        "files": _files(found.texts),
    }


def _metadata_names(path: str, case: Case) -> object:
    form, options = case.get("format"), case.get("reading", {})
    if case["of"] == "scores":
        return score_metadata(path, case["side"], ScoreReading(**options), form)
    if case["of"] == "samples":
        return sample_metadata(path, SampleReading(**options), form)
    if case["of"] == "objects":
        return object_metadata(path, options.get("columns", {}), form)
    return label_map_metadata(path, options.get("columns", {}), case["format"])


def _rows(path: str, case: Case) -> object:
    found = read_raw_rows(path)
    delimiter = found.delimiter if found.form == "csv" else ""
    return {
        "form": found.form,
        **_without_empty(delimiter=delimiter),
        # Numbers are compared by their text too: 1 is not 1.0.
        "rows": found.rows,
    }


READERS: Final[Mapping[str, Callable[[str, Case], object]]] = {
    "scores": _scores,
    "samples": _samples,
    "objects": _objects,
    "label_maps": _label_maps,
    "metadata_names": _metadata_names,
    "rows": _rows,
}


def scores_said(found: ScoreFile) -> dict[str, Any]:
    """Labels and scores by name."""
    samples = found.samples
    truth = samples.columns["truth"].tolist() if "truth" in samples.columns else None
    keys = [found.keys[key] for key in samples["key"].tolist()]
    return {
        "sample_id": [one.decode() for one in samples["sample_id"].tolist()],
        **_places(samples),
        **_without_empty(
            label_key=keys if found.keys != (None,) else (),
            label_keys=sorted(map(str, found.keys)) if found.keys != (None,) else (),
            truth=truth and [None if code < 0 else found.labels[code] for code in truth],
        ),
        **_sets(found),
        **_listed(found),
        # Their order is that of codes, which nothing else depends on.
        "labels": sorted(found.labels),
        **_without_empty(
            classes=found.classes,
            metadata={name: list(values) for name, values in found.metadata.items()},
        ),
        "files": _files(found.files),
        **_without_empty(warnings=found.warnings),
    }


def _sets(found: ScoreFile) -> dict[str, Any]:
    """By row, all true labels, where there may be several."""
    if found.truths is None:
        return {}
    names = [found.labels[code] for code in found.truths.label.tolist()]
    ends = itertools.pairwise(found.truths.start.tolist())
    return {"truths": [names[begin:end] for begin, end in ends]}


def _listed(found: ScoreFile) -> dict[str, Any]:
    """The scores of all classes, or by row the labels listed with their scores."""
    scores = found.scores
    if scores is None:
        return {}
    names = [found.labels[code] for code in scores.label.tolist()]
    if isinstance(scores, DenseScores):
        return {"scored_labels": names, "scores": scores.score.tolist()}
    pairs = list(zip(names, scores.score.tolist(), strict=True))
    start = scores.start.tolist()
    return {"listed": [pairs[a:b] for a, b in itertools.pairwise(start)]}


def samples_said(found: SampleFile) -> dict[str, Any]:
    """Text samples, each with the fields that it has."""
    rows = []
    for row in found.rows:
        said = {name: row.of(name) for name in COLUMNS if row.has(name)}
        metadata = _without_empty(metadata=row.metadata)
        rows.append({"place": found.place(row.file, row.line), **said, **metadata})
    return {
        "rows": rows,
        "numbers": list(found.numbers),
        "names": list(found.names),
        **_without_empty(metadata=sorted(found.metadata)),
        "files": _files(found.files),
        **_without_empty(warnings=found.warnings),
    }


def objects_said(found: ObjectFile) -> dict[str, Any]:
    """Objects, images and categories as columns."""
    return {
        "objects": _columns(found.objects),
        "shapes": _shapes(found.shapes),
        **_without_empty(
            images=found.images and _columns(found.images),
            categories=found.categories and _columns(found.categories),
            metadata=found.metadata,
        ),
        "coded": found.coded,
        "image_names": found.image_names,
        "files": _files(found.files),
        **_without_empty(warnings=found.warnings),
    }


def _columns(table: Table) -> dict[str, Any]:
    columns = {name: column.tolist() for name, column in table.columns.items()}
    return {**columns, **_places(table), **_without_empty(skipped=table.skipped)}


def _shapes(shapes: Shapes) -> dict[str, Any]:
    polygon, mask = shapes.polygon, shapes.mask
    columns = {
        "box": shapes.box,
        "rotated_box": shapes.rotated_box,
        "points": polygon.points,
        "rings": polygon.rings,
        "parts": polygon.parts,
        "objects": polygon.objects,
        "counts": mask.counts,
        "starts": mask.starts,
        "size": mask.size,
    }
    kinds = set(shapes.kind.tolist())
    kept = {
        name: column.tolist()
        for name, column in columns.items()
        if (len(polygon.objects) > 1 if name in ("rings", "parts", "objects") else len(column))
        and (name != "starts" or len(mask.size))
    }
    if len(kinds) > 1:
        return {"kind": [KINDS[one] for one in shapes.kind.tolist()], **kept}
    return kept


def _places(table: Table) -> dict[str, Any]:
    """The place of each row; lines of one file as numbers."""
    places = [table.place_of(row) for row in range(len(table))]
    start = f"{table.path}:"
    if places and all(one.startswith(start) and one[len(start) :].isdigit() for one in places):
        return {"lines": [int(one[len(start) :]) for one in places]}
    plain = [f"{table.path}: {table.place.format(row=row)}" for row in range(len(table))]
    return {} if places == plain else {"places": places}


def _files(files: Sequence[InputFile]) -> list[list[Any]]:
    """Path, rows, rows left out, and why nothing of the file was used."""
    return [
        [one.path, one.rows, one.skipped, *([one.left_out] if one.left_out else [])]
        for one in files
    ]


def _without_empty(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if _some(value)}


def _some(value: Any) -> bool:
    return value is not None and (not hasattr(value, "__len__") or len(value) > 0) and value != 0


def form_of(case: Case) -> str:
    """The extension of a case, or "folder"; with it the format that is asked for."""
    extension = Path(case.get("path") or case["file"]).suffix.strip(".*").lower() or "folder"
    return f"{extension} as {case['format']}" if "format" in case else extension


def changed(shape: str, folder: Path, form: str | None = None) -> Iterator[tuple[Case, Case]]:
    """The cases of a shape, and perhaps of a form, with the outcome where it is another."""
    chosen = cases(shape) if form is None else _forms(shape)[form]
    for number, case in enumerate(chosen):
        own = folder / str(number)
        own.mkdir()
        now = outcome(shape, case, own)
        # As text: -0.0 is not 0.0, and NaN is NaN.
        if json.dumps(now) != json.dumps({key: case[key] for key in OUTCOME if key in case}):
            yield case, now


def updated(case: Case, now: Case | None) -> Case:
    """A case with its outcome now, if that is another."""
    if now is None:
        return case
    return {**{key: value for key, value in case.items() if key not in OUTCOME}, **now}
