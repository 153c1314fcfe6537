"""Objects of detection runs: what they add up to, and that who works changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from valor_cli import api
from valor_cli.errors import DataError
from valor_cli.pipeline.piece_size import PIECE_BYTES
from valor_cli.reports.lists.listing import Query
from valor_cli.reports.lists.objects import object_list
from valor_cli.reports.writer import write_reports
from valor_cli.results import ObjectsResult, RunResult
from valor_cli.results.objects import OUTCOMES, Outlines

SAMPLES = Path(__file__).parents[2] / "sample_data"
REAL = Path(__file__).parents[1] / "real_data" / "detection" / "coco-val2014-100"
THRESHOLDS = (0.0, 0.3, 0.5, 0.8)


def _config(task: str, name: str, **more: Any) -> dict[str, Any]:
    folder = SAMPLES / task
    truth = str(folder / "ground_truth.json")
    data = {"ground_truth": truth, "predictions": {"m": str(folder / name)}}
    return {"task": task, "data": data, **more}


def _real() -> dict[str, Any]:
    truth = str(REAL / "groundtruth.coco.json")
    predictions = next(path for path in REAL.glob("predictions.*.json") if "segm" not in path.name)
    data = {"ground_truth": truth, "predictions": {"m": str(predictions)}}
    return {"task": "object_detection", "data": data}


RUNS = {
    "boxes": _config("object_detection", "small.json"),
    "masks": _config("instance_segmentation", "shifted.json"),
    "polygons": _config("instance_segmentation", "watershed.json", geometry="polygon"),
    "coco": _real(),
    "valor": {**_real(), "matching": "valor"},
}


def _values(run: RunResult, metric: str, output: str, **at: Any) -> dict[str | None, Any]:
    return {
        row.label: row.value
        for row in run.metrics
        if (row.metric, row.output) == (metric, output)
        and all(row.parameters.get(name) == value for name, value in at.items())
    }


def _by_label(one: ObjectsResult, label: np.ndarray, kept: np.ndarray) -> dict[str, int]:
    counts = np.bincount(label[kept], minlength=len(one.labels)).tolist()
    return dict(zip(one.labels, counts, strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_objects_add_up_to_the_metrics(name: str) -> None:
    limit = {"max_detections": None}
    metrics = [
        {"error_breakdown": {"iou_threshold": 0.5, **limit}},
        *(
            {metric: {"score_threshold": score, **limit}}
            for score in THRESHOLDS
            for metric in ("counts", "precision", "recall")
        ),
    ]
    run = api.evaluate({**RUNS[name], "metrics": metrics})
    (one,) = run.objects
    assert one.parameters["metric"] == "error_breakdown"
    right, ignored = one.outcomes == 0, one.outcomes == OUTCOMES.index("ignored")
    truths = _by_label(one, one.gt_labels, ~one.gt_ignored)
    for score in THRESHOLDS:
        reached = one.scores >= score
        tp = _by_label(one, one.detected, reached & right)
        fp = _by_label(one, one.detected, reached & ~right & ~ignored)
        found = np.zeros(len(one.gt_labels), bool)
        found[one.matched[reached & right]] = True
        fn = _by_label(one, one.gt_labels, ~found & ~one.gt_ignored)
        at = {"score_threshold": score}
        for output, expected in (("tp", tp), ("fp", fp), ("fn", fn)):
            values = _values(run, "counts", output, **at)
            assert {label: values[label] for label in expected} == expected
            listed = object_list(run, Query(output, threshold=score))
            assert listed.total == sum(expected.values())
        assert {label: tp[label] + fn[label] for label in one.labels} == truths
        assert sum(tp.values()) + sum(fp.values()) + int((reached & ignored).sum()) == reached.sum()
        precision, recall = (_values(run, name, "value", **at) for name in ("precision", "recall"))
        for label in one.labels:
            if tp[label] + fp[label]:
                assert precision[label] == tp[label] / (tp[label] + fp[label])
            if truths[label]:
                assert recall[label] == tp[label] / truths[label]
    for outcome in OUTCOMES[1:-1]:
        kept = one.outcomes == OUTCOMES.index(outcome)
        values = _values(run, "error_breakdown", outcome)
        assert {label: values[label] for label in one.labels} == _by_label(one, one.detected, kept)


@pytest.mark.parametrize("name", ["boxes", "masks"])
def test_who_works_changes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = RUNS[name]
    path = tmp_path / "objects.bin"
    api.evaluate(config, out=tmp_path, formats=["json"], jobs=1)
    alone = path.read_bytes()
    api.evaluate(config, out=tmp_path, formats=["json"], jobs=2)
    assert path.read_bytes() == alone
    monkeypatch.setenv(PIECE_BYTES, "20000")
    for jobs in (1, 2):
        api.evaluate(config, out=tmp_path, formats=["json"], jobs=jobs)
        assert path.read_bytes() == alone


@pytest.mark.scale
def test_a_cluster_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "objects.bin"
    api.evaluate(RUNS["boxes"], out=tmp_path, formats=["json"], jobs=1)
    alone = path.read_bytes()
    api.evaluate(RUNS["boxes"], out=tmp_path, formats=["json"], jobs=2, engine="dask")
    assert path.read_bytes() == alone


@pytest.mark.parametrize(
    ("task", "models"),
    [
        ("object_detection", ("small", "large")),
        ("instance_segmentation", ("watershed", "shifted")),
    ],
)
def test_objects_are_read_as_they_were_written(
    task: str, models: Sequence[str], tmp_path: Path
) -> None:
    config = _config(task, f"{models[0]}.json")
    config["data"]["predictions"] = {name: str(SAMPLES / task / f"{name}.json") for name in models}
    written = api.evaluate(config, out=tmp_path, formats=["json"]).objects
    read = api.read_run(tmp_path).objects
    assert tuple(one.model for one in read) == models
    for one, other in zip(read, written, strict=True):
        for name in one.__struct_fields__:
            mine, theirs = getattr(one, name), getattr(other, name)
            if isinstance(theirs, Outlines):
                mine, theirs = (
                    [column.tolist() for column in structs.astuple(side)] for side in (mine, theirs)
                )
            if isinstance(theirs, np.ndarray):
                assert mine.dtype == theirs.dtype, name
                mine, theirs = mine.tolist(), theirs.tolist()
            if name in ("labels", "image_ids", "files"):
                mine, theirs = list(mine), list(theirs)
            assert mine == theirs, name
    write_reports(api.read_run(tmp_path), tmp_path / "again", ["json"])
    assert (tmp_path / "again/objects.bin").read_bytes() == (tmp_path / "objects.bin").read_bytes()


def test_no_objects_where_nothing_of_that_kind_is_matched() -> None:
    truth = str(SAMPLES / "classification" / "ground_truth.csv")
    predictions = str(SAMPLES / "classification" / "naive_bayes.csv")
    data = {"ground_truth": truth, "predictions": predictions}
    assert api.evaluate({"task": "classification", "data": data}).objects == ()


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    config = _config("object_detection", "small.json")
    api.evaluate(config, out=tmp_path, formats=["json"])
    path = tmp_path / "objects.bin"
    content = path.read_bytes()
    version = content.replace(b"valor objects 1", b"valor objects 2", 1)
    other = _config("object_detection", "large.json")
    api.evaluate(other, out=tmp_path / "other", formats=["json"])
    broken = {
        "expected a file that begins with 'valor objects 1'": version,
        "damaged or truncated": content[:-9],
        "the file is damaged": content[:-1] + bytes([content[-1] ^ 1]),
        "not an objects file of valor": content[:60],
        "no model 'x' in results.json; is it from another run": content.replace(
            b'"model":"m"', b'"model":"x"', 1
        ),
        "not of the config and the inputs of results.json": (
            tmp_path / "other" / "objects.bin"
        ).read_bytes(),
        "not an objects file": content.replace(b'"iou_threshold":0.5', b'"iou_threshold":"a"', 1),
    }
    for told, text in broken.items():
        path.write_bytes(text)
        with pytest.raises(DataError, match=told) as caught:
            api.read_run(tmp_path)
        assert str(path) in str(caught.value)
        assert "evaluate again" in str(caught.value)
