"""Files of every format, of which some are broken in every way: what is told, and what is left."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.data.damage import DAMAGES, Damage, cut
from tests.data.readings import listed
from tests.data.scored import said
from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading
from valor_cli.data.table import InvalidRows
from valor_cli.errors import DataError

COUNT = 6
BROKEN = 2


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def score_lines(at: int) -> str:
    return jsonl(
        *(
            {"sample_id": f"{at}-{row}", "label": "cat", "predictions": {"cat": 0.9, "dog": 0.1}}
            for row in range(2)
        )
    )


def score_rows(at: int) -> str:
    return f"sample_id,label,cat,dog\n{at}-0,cat,0.9,0.1\n{at}-1,dog,0.2,0.8\n"


def coco_results(at: int) -> str:
    box = {"image_id": at, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
    return json.dumps([box, {**box, "score": 0.25}])


def coco_truth(at: int) -> str:
    return json.dumps(
        {
            "images": [{"id": at}],
            "annotations": [{"id": at, "image_id": at, "category_id": 1, "bbox": [1, 2, 3, 4]}],
            "categories": [{"id": 1, "name": "cat"}],
        }
    )


def object_lines(at: int) -> str:
    box = {"label": "cat", "box": [1, 2, 3, 4], "score": 0.5}
    return jsonl({"image_id": at, "objects": [box]}, {"image_id": 100 + at, "objects": []})


def object_rows(at: int) -> str:
    return f"image_id,label,x,y,width,height,score\n{at},cat,1,2,3,4,0.5\n"


def sample_lines(at: int) -> str:
    return jsonl(*({"sample_id": f"{at}-{row}", "response": "yes"} for row in range(2)))


def sample_rows(at: int) -> str:
    return f"sample_id,response\n{at}-0,yes\n{at}-1,no\n"


def sample_list(at: int) -> str:
    return json.dumps([{"sample_id": f"{at}", "response": "yes"}])


def scores(invalid: InvalidRows) -> ScoreFile:
    return read_scores("s/*", "samples", ScoreReading(invalid=invalid))


def detections(invalid: InvalidRows) -> ObjectFile:
    return read_objects("s/*", "predictions", Reading(invalid=invalid))


def truths(invalid: InvalidRows) -> ObjectFile:
    return read_objects("s/*", "ground_truth", Reading(invalid=invalid))


def samples(invalid: InvalidRows) -> SampleFile:
    return read_samples("s/*", SampleReading(invalid=invalid))


class Format(NamedTuple):
    extension: str
    content: Callable[[int], str]
    read: Callable[[InvalidRows], ScoreFile | ObjectFile | SampleFile]


FORMATS = {
    "score lines": Format("jsonl", score_lines, scores),
    "score rows": Format("csv", score_rows, scores),
    "coco results": Format("json", coco_results, detections),
    "coco truth": Format("json", coco_truth, truths),
    "object lines": Format("jsonl", object_lines, detections),
    "object rows": Format("csv", object_rows, detections),
    "sample lines": Format("jsonl", sample_lines, samples),
    "sample rows": Format("csv", sample_rows, samples),
    "sample list": Format("json", sample_list, samples),
}
CASES = [(name, damage) for name in FORMATS for damage in DAMAGES.values()]
CASES += [(name, cut) for name in FORMATS if FORMATS[name].extension == "json"]


def content(file: ScoreFile | ObjectFile | SampleFile) -> Any:
    if isinstance(file, ScoreFile):
        return said(file)
    if isinstance(file, ObjectFile):
        return listed(file.objects.columns)
    return [row._replace(file=0) for row in file.rows]


@pytest.mark.parametrize(("name", "damage"), CASES, ids=[f"{n}-{d.__name__}" for n, d in CASES])
def test_every_broken_file_is_named_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: Damage
) -> None:
    monkeypatch.chdir(tmp_path)
    form = FORMATS[name]
    hit = random.Random(f"{name} {damage.__name__}").sample(range(COUNT), BROKEN)
    Path("s").mkdir()
    for at in range(COUNT):
        if at not in hit:
            Path(f"s/{at:02}.{form.extension}").write_text(form.content(at))
    good = content(form.read("error"))
    for at in hit:
        Path(f"s/{at:02}.{form.extension}").write_text(form.content(at))
    broken = sorted(str(damage(Path(f"s/{at:02}.{form.extension}"))) for at in hit)

    with pytest.raises(DataError) as caught:
        form.read("error")
    places = {problem.place for problem in caught.value.problems}
    assert all(any(place.startswith(path) for place in places) for path in broken)
    assert all(any(place.startswith(path) for path in broken) for place in places)
    assert f"These are in {BROKEN} of the {COUNT} files of s/*." in str(caught.value)

    found = form.read("skip")
    assert content(found) == good
    left_out = [file for file in found.files if file.left_out is not None]
    assert sorted(file.path for file in left_out) == broken
    assert all(file.rows is None for file in left_out)
    told = [one for one in found.warnings if one.startswith("left out: ")]
    assert len(told) == 1
    assert told[0].startswith(f"left out: {BROKEN} of {COUNT} files: ")
    assert all(path in told[0] for path in broken)
