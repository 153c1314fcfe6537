"""Mistakes in configs and files: told with their place and what is there; nothing is written."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.cli.conftest import GROUND_TRUTH, RESULTS, Valor, configured, refused

Change = str | bytes | Mapping[str, Any]
"""The content of the file of predictions; or files by name, and keys of the config by theirs."""

PICTURE = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]], np.uint8)


def png(values: NDArray[Any] = PICTURE, form: str = "PNG") -> bytes:
    content = BytesIO()
    Image.fromarray(values).save(content, form)
    return content.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


def raw_png(
    data: bytes, size: tuple[int, int] = (4, 3), depth: int = 8, kind: int = 0, more: bytes = b""
) -> bytes:
    """A PNG of any header over any compressed data; `size` is width and height."""
    header = struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + more + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def segments(values: NDArray[Any] = PICTURE) -> bytes:
    """A panoptic PNG: of each value a segment of the id that follows it."""
    return png(np.stack([values + 1, values * 0, values * 0], -1).astype(np.uint8))


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


WIDE = "sample_id,cat,dog\na,0.75,0.25\nb,0.25,0.75\nc,0.1,0.9\n"
SCORED = [
    {"sample_id": name, "predictions": {"cat": cat, "dog": 1 - cat}}
    for name, cat in (("a", 0.75), ("b", 0.25), ("c", 0.125))
]
TEXTS = [
    {"id": "a", "question": "Who sat there?", "answer": "the cat sat", "reference": "The cat sat."},
    {"id": "b", "question": "On what?", "answer": "on a mat", "reference": "on the mat"},
]
MAPS = {"ground_truth": "gt", "predictions": "pr", "labels": ["a", "b", "c"]}
SQUARE = [[5, 5, 15, 5, 15, 15, 5, 15]]

BASES: Mapping[str, tuple[str, Mapping[str, str | bytes], Mapping[str, Any]]] = {
    "object_detection": (
        "dt.json",
        {"gt.json": json.dumps(GROUND_TRUTH), "dt.json": json.dumps(RESULTS)},
        {
            "data": {"ground_truth": "gt.json", "predictions": "dt.json"},
            "metrics": [{"coco": {"iou_thresholds": [0.1], "areas": []}}, "recall"],
        },
    ),
    "instance_segmentation": (
        "dt.json",
        {"dt.json": lines({"image_id": 1, "category_id": 1, "segmentation": SQUARE, "score": 1})},
        {"data": {"ground_truth": "gt.json", "predictions": "dt.json"}},
    ),
    "classification": (
        "pr.csv",
        {
            "gt.csv": "sample_id,label,camera\na,cat,1\nb,dog,2\nc,cat,2\n",
            "pr.csv": WIDE,
            "pr.jsonl": lines(*SCORED),
        },
        {"data": {"ground_truth": "gt.csv", "predictions": "pr.csv"}},
    ),
    "semantic_segmentation": (
        "pr/1.png",
        {"gt/1.png": png(), "pr/1.png": png()},
        {"data": MAPS},
    ),
    "text_generation": (
        "samples.jsonl",
        {"samples.jsonl": lines(*TEXTS)},
        {"data": {"samples": "samples.jsonl"}, "metrics": ["exact_match"]},
    ),
}
"""By task, the file of predictions, files, and a config, which are all right."""


def row(**changes: Any) -> str:
    """Results of one box."""
    return json.dumps([{**RESULTS[0], **changes}])


def truth(**changes: Any) -> Change:
    return {"gt.json": json.dumps({**GROUND_TRUTH, **changes})}


def gate(**own: Any) -> Change:
    return {"gates": [{"min": 0, **own}]}


BOXES: dict[str, tuple[Change, str]] = {
    "truncated": (json.dumps(RESULTS)[:-30], "dt.json:1:119: the file ends inside a list"),
    "not json": ("score,label", "dt.json:1:1:"),
    "empty": ("", "dt.json: the file is empty"),
    "nan": (row(score=float("nan")), "[0].score: expected a finite number, found NaN"),
    "overflow": (row().replace("0.9", "1e999"), "[0].score: expected a finite number"),
    "null": (row(bbox=[0, 0, None, 1]), "[0].bbox[2]: expected a number, found null"),
    "negative": (row(bbox=[0, 0, -1, 1]), "[0].bbox[2]: expected a width of 0 or more"),
    "three numbers": (row(bbox=[0, 0, 1]), "[0].bbox"),
    "unknown image": (row(image_id=7), "dt.json: [0].image_id: no image 7 in gt.json"),
    "unknown category": (row(category_id=9), "[0].category_id: no category 9 in gt.json"),
    "ground truth": (json.dumps(GROUND_TRUTH), "give this file under data.ground_truth"),
    "results": ({"gt.json": json.dumps(RESULTS)}, "give this file under data.predictions"),
    "no images": (truth(images=[], annotations=[]), "gt.json: images: there are no images"),
    "no objects": (truth(annotations=[]), "annotations: there are no objects to evaluate against"),
    "image twice": (
        truth(images=[{"id": 1}, {"id": 2}, {"id": 1}]),
        "images[2].id: duplicate id 1, first at images[0]",
    ),
    "no such file": ({"data": {"predictions": "dd.json"}}, "did you mean 'dt.json'"),
    "a folder": ({"data": {"predictions": "."}}, "this folder holds no .txt (yolo), .xml (voc)"),
    "gate: label": (gate(metric="recall", label="dgo"), "no label 'dgo' (did you mean 'dog'?)"),
    "gate: model": (gate(metric="recall", model="x"), "no model 'x'; there are dt"),
    "gate: slice": (gate(metric="recall", slice="area=small"), "no slice 'area=small'; there are"),
    "gate: curve": (gate(metric="pr_curve"), "pr_curve has no value that a limit could apply to"),
    "gate: per label": (gate(metric="average_precision"), "and none for all; name one with label:"),
    "gate: for all": (gate(metric="coco", label="cat"), "coco AP has no value per label; leave"),
    "gate: parameters": (
        gate(metric="recall", parameters={"iou_threshold": 0.75}),
        "its parameters are",
    ),
    "gate: output": (gate(metric="coco", output="AP50"), "coco has no output AP50 here; it has AP"),
    "slice: column": ({"slices": ["metadata.wether"]}, "'wether'"),
    "slice: value": (
        {"slices": [{"metadata.weather": ["snow"]}]},
        "no metadata.weather is 'snow'",
    ),
    "filter: label": ({"filter": {"label": "cow"}}, "filter.label: no label 'cow'"),
    "filter: none": (
        {"filter": {"metadata.weather": "snow"}},
        "filter: leaves no image of gt.json",
    ),
}


def shape(one: Any) -> Change:
    """A ground truth of one object of that shape."""
    image = {"id": 1, "width": 40, "height": 30}
    document = {"images": [image], "categories": [{"id": 1, "name": "cell"}]}
    object_ = {"id": 1, "image_id": 1, "category_id": 1, "segmentation": one}
    return {"gt.json": json.dumps({**document, "annotations": [object_]})}


def counts(counts: Any, size: tuple[int, int] = (30, 40)) -> Change:
    return shape({"size": size, "counts": counts})


SHAPES: dict[str, tuple[Change, str]] = {
    "two corners": (shape([[5, 5, 15, 15]]), "segmentation[0]: expected an even number of numbers"),
    "nan": (shape([[float("nan"), 5, 15, 5, 15, 15]]), "[0][0]: expected a finite number"),
    "huge": (shape([[1e308, 5, 15, 5, 15, 15]]), "[0][0]: expected at most 1e+150 pixels"),
    "too few": (counts([0, 1100]), "add up to 30 * 40 = 1,200 pixels, found 1,100"),
    "negative": (counts([0, 1300, -100]), "counts[2]: expected a whole number of 0"),
    "cut off": (counts("o"), "counts: the compressed counts are cut off"),
    "no counts": (counts("\x01{}"), "counts: expected compressed counts"),
    "turned": (counts([1200], (40, 30)), "size[0]: expected the height of its image, 30"),
    "no size": (shape({"counts": [1200]}), 'segmentation: "size" is missing'),
    "none": (shape([]), "segmentation: expected polygons or run lengths, found an empty list"),
}


def scores(text: str) -> Change:
    """Scores as JSON lines."""
    return {"pr.jsonl": text, "data": {"predictions": "pr.jsonl"}}


def data(**more: Any) -> Change:
    return {"data": more}


def first_score(text: str) -> str:
    return WIDE.replace("0.75", text, 1)


JSONL = lines(*SCORED)

LABELS: dict[str, tuple[Change, str]] = {
    "nan": (first_score("NaN"), 'pr.csv:2: cat: expected a finite number, found the string "NaN"'),
    "no score": (first_score(""), "pr.csv:2: cat: expected a number, found nothing"),
    "a text": (first_score("x" * 400), "pr.csv:2: cat: expected a number, found the string"),
    "decimal comma": (
        first_score("0,75").replace(",", ";").replace("0;75", "0,75"),
        "write decimals with a point",
    ),
    "too few fields": (WIDE.replace(",0.25", "", 1), "pr.csv:2: expected 3 fields"),
    "wrong delimiter": (WIDE.replace(",", ":"), "pr.csv:1: expected fields between commas"),
    "sample twice": (WIDE + "a,0,1\n", "pr.csv:5: the sample 'a' is also on line 2"),
    "unknown sample": (WIDE + "d,0,1\n", "pr.csv:5: sample_id: no sample 'd' in gt.csv"),
    "empty id": (WIDE.replace("\na,", "\n,"), "pr.csv:2: sample_id: expected the id of a sample"),
    "column twice": (WIDE.replace("dog", "cat"), "duplicate column 'cat' (columns 2 and 3)"),
    "no first line": (WIDE.split("\n", 1)[1], "pr.csv:1: the column 'sample_id'"),
    "latin-1": (WIDE.replace("dog", "chèvre").encode("latin-1"), "not UTF-8 text (byte 0xe8 at"),
    "columns without end": ("sample_id,cat\na" + "," * 1_000_000, "found 1000001"),
    "half an object": (scores(JSONL[:-12]), "pr.jsonl:3: not JSON"),
    "true": (
        scores(JSONL.replace("0.75", "true", 1)),
        "pr.jsonl:1: predictions.cat: expected a number",
    ),
    "label twice": (
        scores(JSONL.replace("dog", "cat", 1)),
        "predictions.cat: duplicate key",
    ),
    "id true": (scores('{"sample_id": true, "predictions": {}}'), "pr.jsonl:1: sample_id"),
    "numbers without classes": (
        scores('{"sample_id": "a", "predictions": [0.5, 0.5]}'),
        "a list of numbers needs the names of its classes",
    ),
    "nested without end": (scores("[" * 100_000), "pr.jsonl:1: the JSON is nested too deeply"),
    "a list": (scores(json.dumps(SCORED)), "pr.jsonl:1: expected an object with a sample_id"),
    "columns: to nowhere": (
        data(columns={"label": "species"}),
        "gt.csv:1: there is no column 'species' for label; there is: sample_id, label, camera",
    ),
    "columns: unknown": (data(columns={"lable": "x"}), "no 'lable' (did you mean 'label'?)"),
    "format": (data(format="xml"), "data.format: expected one of jsonl, csv, json"),
    "classes: no column": (data(classes=["cat", "cow"]), "pr.csv:1: there is no column 'cow'"),
    "both ways": (data(samples="gt.csv"), "samples holds both sides: leave out ground_truth"),
    "label map": ({"label_map": {"cat": None}}, "label_map.cat: expected text, found nothing"),
    "filter: label": ({"filter": {"label": "cow"}}, "filter.label: no label 'cow'\nlabels: cat"),
    "filter: sample": ({"filter": {"sample_id": "z"}}, "filter.sample_id: no sample 'z'"),
    "filter: none left": (
        {"filter": {"metadata.camera": 1, "label": "dog"}},
        "filter: leaves no sample of gt.csv\nmetadata.camera has: 1, 2",
    ),
    "slice: column": (
        {"slices": ["metadata.camra"]},
        "gt.csv:1: there is no column 'camra' for this metadata (did you mean 'camera'?)",
    ),
    "slice: value": ({"slices": [{"metadata.camera": [9]}]}, "slices.0: no metadata.camera is 9"),
    "gate: label": (gate(metric="recall", label="dgo"), "gates.0.label: no label 'dgo' (did you"),
    "gate: per label": (gate(metric="accuracy", label="cat"), "has no value per label; leave"),
    "threshold: label": (
        {"metrics": [{"f1": {"score_threshold": {"cow": 0.5}}}]},
        "metrics.0.score_threshold: no label 'cow'",
    ),
    "probability": (
        {"pr.csv": first_score("1.5"), "metrics": ["log_loss"]},
        "pr.csv:2: cat: expected a probability from 0 to 1, found 1.5",
    ),
    "bins": (
        {"metrics": [{"expected_calibration_error": {"bins": 100_000_000}}]},
        "metrics.0.bins: expected a number of at most 1000",
    ),
    "many values": (
        {
            "gt.csv": "sample_id,label,camera\n" + "".join(f"{i},cat,{i}\n" for i in range(10_000)),
            "pr.csv": "sample_id,prediction\n0,cat\n",
            "slices": ["metadata.camera"],
        },
        "slices.0: metadata.camera has 10,000 values; list the ones to slice by",
    ),
    "standard input twice": (
        data(ground_truth="-", predictions="-"),
        "standard input (-) can be one input only",
    ),
    "shards": (
        {"shards/1.csv": WIDE, "data": {"predictions": "shards"}},
        "shards: this is a folder",
    ),
    "no shard": (data(predictions="shards/*.txt"), "shards/*.txt: no file matches"),
    "another name": (data(predictions="pr.csw"), "pr.csw: no such file"),
    "two shards": (
        {
            "shards/1.csv": WIDE,
            "shards/2.csv": "sample_id,cat,dog\nc,0.1,0.9\n",
            "data": {"predictions": "shards/*.csv"},
        },
        "shards/2.csv:2: the sample 'c' is also in shards/1.csv:4",
    ),
}

SHORT = zlib.compress((b"\0" + bytes(4)) * 2)
BOMB = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(80_000_000), 9))
WHOLE = zlib.compress(b"".join(b"\0" + line.tobytes() for line in PICTURE))


def manifest(text: str | bytes, name: str = "pairs.csv") -> Change:
    return {name: text, "data": {"ground_truth": name, "predictions": None}}


HEAD = "ground_truth,prediction\n"
PAIR = "gt/1.png,pr/1.png\n"
PARTS = [{"id": 1 + value, "category_id": 7 + value} for value in range(3)]


def panoptic(**changes: Any) -> Mapping[str, Any]:
    """A panoptic file against itself, its predictions changed."""
    whole = {"image_id": 1, "file_name": "1.png", "segments_info": PARTS}
    image = {"id": 1, "file_name": "1.jpg", "width": 4, "height": 3}
    document = {
        "images": [image],
        "categories": [{"id": 7 + at, "name": "abc"[at]} for at in range(3)],
    }
    return {
        "truth.json": json.dumps({**document, "annotations": [whole]}),
        "found.json": json.dumps({**document, "annotations": [{**whole, **changes}]}),
        "truth/1.png": segments(),
        "found/1.png": segments(),
        "data": {"ground_truth": "truth.json", "predictions": "found.json", "labels": None},
    }


PICTURES: dict[str, tuple[Change, str]] = {
    "size": (png(PICTURE[:2]), "is 4 wide and 2 high; its ground truth gt/1.png is 4 wide and 3"),
    "rgb": (png(np.stack([PICTURE] * 3, -1)), "found RGB colours\nWrite each label map with one"),
    "cut off": (png()[:-20], "the PNG is cut off after"),
    "a bit": (png()[:45] + bytes([png()[45] ^ 1]) + png()[46:], "a checksum differs"),
    "few rows": (raw_png(SHORT), "the pixels of the PNG end after 10 of 15 bytes"),
    "no rows": (raw_png(b""), "pr/1.png: "),
    "noise": (raw_png(b"noise"), "pr/1.png: "),
    "no such filter": (raw_png(zlib.compress((b"\x09" + bytes(4)) * 3)), "pr/1.png: "),
    "no such depth": (raw_png(SHORT, depth=3), "pr/1.png: "),
    "no width": (raw_png(SHORT, size=(0, 3)), "pr/1.png: "),
    "text bomb": (raw_png(WHOLE, more=BOMB), "pr/1.png: "),
    "huge": (
        dict.fromkeys(("gt/1.png", "pr/1.png"), raw_png(SHORT, size=(2**31 - 1, 2**31 - 1))),
        "gt/1.png: the image has more than",
    ),
    "jpeg": (png(form="JPEG"), "pr/1.png: expected a PNG"),
    "empty": (b"", "pr/1.png: expected a PNG"),
    "beyond": (png(PICTURE + np.uint8(2)), "no label for the values 3 (4 pixels), 4 (4 pixels)"),
    "16 bit": (png(PICTURE.astype(np.uint16) * 300), "300 (4 pixels), 600 (4 pixels)"),
    "labels: none": (data(labels=[]), "data.labels: expected"),
    "labels: too few": (data(labels=["a", "b"]), "gt/1.png: no label for the value 2 (4 pixels)"),
    "labels: float": (data(labels=["a", 1.5]), "data.labels.1: expected text, found the number"),
    "labels: negative": (data(labels={"-1": "z", "0": "a"}), "run.yaml:1:"),
    "labels: no file": (data(labels="classes.json"), "classes.json: no such file"),
    "labels: left out": (data(labels=None), "the pixel values of gt have no names"),
    "ignored: negative": (data(ignore_index=-1), "data.ignore_index: "),
    "ignored: all": (data(ignore_index=[0, 1, 2]), "no label is left beside what is ignored or"),
    "background": (data(background="z"), "no label is named 'z'\nlabels: a, b, c"),
    "reduce_labels": (data(reduce_labels=1), "expected true or false, found"),
    "reduced": (
        {
            "gt/1.png": png(np.where(PICTURE == 2, 255, PICTURE).astype(np.uint8)),
            "data": {"reduce_labels": True},
        },
        "gt/1.png: no label for the value 255 (4 pixels)",
    ),
    "images": (data(images="photos"), "images: photos: no such folder"),
    "filter: label": ({"filter": {"label": "z"}}, "filter.label: no label 'z'"),
    "filter: sample": ({"filter": {"sample_id": "z"}}, "no image 'z'"),
    "slice": ({"slices": ["metadata.x"]}, "a folder holds no metadata of its"),
    "gate": (gate(metric="iou", label="z"), "gates.0.label: no label 'z'; there are a, b, c"),
    "a column": (manifest("ground_truth\ngt/1.png\n"), "the column 'prediction' is missing; there"),
    "no file": (manifest(HEAD + "gt/1.png,pr/9.png\n"), "pr/9.png: "),
    "a folder": (manifest(HEAD + "gt,pr\n"), "gt: expected a file, found a folder"),
    "outside": (manifest(HEAD + "/etc/passwd,pr/1.png\n"), "/etc/passwd: expected a PNG"),
    "twice": (manifest(HEAD + PAIR * 2), "pairs.csv:3: sample_id: duplicate sample 'gt/1', first"),
    "nul": (manifest(HEAD + "gt/1\0.png,pr/1.png\n"), "ground_truth: expected the path of"),
    "quote": (manifest(HEAD + '"gt/1.png,pr/1.png\n'), "pairs.csv:2: "),
    "first line": (manifest(HEAD), "pairs.csv: there is no row in this manifest"),
    "half a line": (manifest('{"ground_truth": "gt/', "half.jsonl"), "half.jsonl:1: not JSON"),
    "key twice": (
        manifest('{"ground_truth": "pr/1.png", "ground_truth": "gt/1.png"}', "two.jsonl"),
        "two.jsonl:1: ground_truth: duplicate key",
    ),
    "a file": (data(ground_truth="gt/1.png"), "gt/1.png: this is a file; a folder is needed"),
    "no folder": (data(ground_truth="gtt"), "gtt: no such folder"),
    "arrays": (
        {"arrays/1.npy": b"", "data": {"ground_truth": "arrays"}},
        "arrays: there is no .png file in this folder; there are files of .npy",
    ),
    "standard input": (data(ground_truth="-"), "label maps cannot come from standard input"),
    "missing": (
        panoptic(file_name="2.png"),
        "found/2.png: the PNG cannot be read: No such file or directory",
    ),
    "not listed": (panoptic(segments_info=PARTS[:2]), "segment 3 has pixels in"),
    "category": (
        panoptic(segments_info=[{"id": 1, "category_id": 99}, *PARTS[1:]]),
        "annotations[0].segments_info[0].category_id: no category has the id 99",
    ),
    "image": (panoptic(image_id=5), "annotations[0].image_id: no image has the id 5"),
}


def second(**changed: Any) -> str:
    """The lines of a file, the second of which is changed."""
    return lines(TEXTS[0], {**TEXTS[1], **changed})


def condition(text: str) -> Change:
    return {"samples.jsonl": second(condition=text), "metrics": ["text_matching"]}


def metric(name: str, **parameters: Any) -> Change:
    return {"metrics": [{name: parameters}]}


ANSWERS: dict[str, tuple[Change, str]] = {
    "other columns": (
        '{"text": "x"}',
        "no column is one that text samples have; there is: text",
    ),
    "no reference": ('{"answer": "x"}', "no row has 'references', 'reference'"),
    "what is there": ('{"answer": "x", "z": 1}', "there is: answer, z"),
    "half an object": (second()[:-9], "samples.jsonl:2: not JSON"),
    "control character": (second(answer="a").replace('"a"', '"\x01"'), "Invalid control character"),
    "half a letter": (second(answer="\ud800"), "samples.jsonl:2: answer: expected Unicode text"),
    "mixed references": (
        second(reference=None, references=["a", None]),
        "samples.jsonl:2: references[1]: expected a text, found null",
    ),
    "references by name": (
        second(reference={"a": 1}),
        "reference: expected a text, found an object",
    ),
    "sample twice": (second(id="a"), "samples.jsonl:2: the sample 'a' is also on line 1"),
    "id true": (second(id=True), "samples.jsonl:2: id: expected a string or a number, found true"),
    "duration": (second(duration_s="long"), "duration_s: expected a number, found the string"),
    "copy of nothing": (
        second(perturbed_from="z"),
        "jsonl:2: perturbed_from: expected the id of another sample of the model, found 'z'",
    ),
    "condition": (
        condition('"a" AND ("b"'),
        'condition: this bracket is never closed, at character 9: "a" AND ▸("b"',
    ),
    "caret": (condition('"a" AND ("b"'), '\n"a" AND ("b"\n        ^\n'),
    "pattern": (condition('regexp("(a")'), "condition: not a regular expression: missing )"),
    "condition of all": (
        metric("text_matching", condition='"a" ANDD "b"'),
        'put strings in double quotes, "ANDD", at character 5: "a" ▸ANDD "b"',
    ),
    "schema": (metric("json_schema", schema={"type": "strin"}), "no JSON Schema: $.type: 'strin'"),
    "schema file": (
        metric("json_schema", schema="none.json"),
        "metrics.0.schema: cannot read none.json",
    ),
    "parameter": (
        metric("rouge_l", use_stemer=True),
        "metrics.0.use_stemer: unknown parameter (did you mean 'use_stemmer'?)",
    ),
    "metric": ({"metrics": ["rouge_k"]}, "did you mean 'rouge_"),
    "baselines": (
        metric("bertscore", rescale_with_baseline=True),
        "metrics.0: bertscore needs a file of baselines to rescale with",
    ),
    "baselines file": (
        metric("bertscore", rescale_with_baseline=True, baseline="none.tsv"),
        "none.tsv: cannot be read: No such file or directory",
    ),
    "summac": (
        {"metrics": ["summac_conv"]},
        "metrics.0: summac_conv needs the file of its trained weights",
    ),
    "weights": (metric("bleu", weights=[0.5, 0.6]), "these sum to 1.1"),
    "entity": (metric("pii_leakage", entities=["emial"]), "found 'emial'"),
    "column": (
        data(columns={"response": "answr"}),
        "there is no column 'answr' for response (did you mean 'answer'?); there is: id, question",
    ),
    "standard column": (
        data(columns={"respons": "answer"}),
        "there is no column 'respons' (did you mean 'response'?)",
    ),
    "artifacts": (
        {"samples.jsonl": second(artifacts="run"), "data": {"artifacts": "nowhere"}},
        "nowhere: no such folder",
    ),
    "several models for one": (
        {
            "models.jsonl": lines({**TEXTS[0], "model": "x"}, {**TEXTS[1], "model": "y"}),
            "data": {"samples": {"m": "models.jsonl"}},
        },
        "models.jsonl: holds samples of several models (x, y), for 'm'",
    ),
    "filter": (
        {"filter": {"metadata.kind": "z"}},
        "there is no column 'kind' for metadata.kind",
    ),
    "filter by label": ({"filter": {"label": "z"}}, "filter"),
    "slice": ({"slices": ["metadata.kind"]}, "there is no column 'kind' for metadata.kind"),
    "coverage": (
        {"gates": [{"coverage": 2}]},
        "gates.0.coverage: expected a number of at most 1",
    ),
}
MISTAKES = {
    "object_detection": BOXES,
    "instance_segmentation": SHAPES,
    "classification": LABELS,
    "semantic_segmentation": PICTURES,
    "text_generation": ANSWERS,
}


def kept(folder: Path, task: str, change: Change) -> None:
    """The files and the config of a task, changed."""
    predictions, files, config = BASES[task]
    change = change if isinstance(change, Mapping) else {predictions: change}
    known = {"data", "metrics", "gates", "slices", "filter", "label_map"}
    for name, content in {**files, **change}.items():
        if name not in known:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            raw = (
                content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            )
            (folder / name).write_bytes(raw)
    given = {**config, **{name: one for name, one in change.items() if name in known}}
    whole = {**config["data"], **given.pop("data")}
    sides = {name: one for name, one in whole.items() if one is not None}
    configured(folder, task, sides, given.pop("metrics", None), **given)


@pytest.mark.parametrize("task", MISTAKES)
def test_every_mistake_is_told(valor: Valor, tmp_path: Path, task: str) -> None:
    """By `validate`, for all configs at once; `evaluate` says the same and writes nothing."""
    table = MISTAKES[task]
    for number, (change, _) in enumerate(table.values()):
        (tmp_path / str(number)).mkdir()
        kept(tmp_path / str(number), task, change)
    done = valor("validate", *(f"{number}/run.yaml" for number in range(len(table))), cwd=tmp_path)
    refused(done)
    found = done.stderr.split("error: ")[1:]
    assert len(found) == len(table), done.stderr
    # Each has a folder of its own, which paths begin with.
    told = [said.replace(f"{number}/", "") for number, said in enumerate(found)]
    pairs = zip(table.items(), told, strict=True)
    assert [(name, said) for (name, (_, message)), said in pairs if message not in said] == []
    for number in range(0, len(table), 6):
        done = valor("evaluate", f"{number}/run.yaml", cwd=tmp_path)
        refused(done, found[number], folder=tmp_path / str(number))
