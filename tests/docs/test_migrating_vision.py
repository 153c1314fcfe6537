"""The guides from pycocotools, torchmetrics and valor-lite: names exist, code runs, numbers agree.

pycocotools is always asked; the others where they are installed, else what tests/golden/migrating
holds of them is compared.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from tests.docs.pages import ROOT, Block, blocks, text_of
from tests.oracles.migrating_vision import (
    FACTS,
    codes,
    look_up,
    looked_up,
    names_of,
    printed,
    programs,
    tables,
)
from tests.program import run as run_here
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError

PEERS = ("pycocotools", "torchmetrics", "valor-lite")
STORED = ("torchmetrics", "valor-lite")
VISION = ("classification", "object_detection", "instance_segmentation", "semantic_segmentation")
SAMPLES = ROOT / "sample_data"
NUMBER = re.compile(r"-?\d+\.\d+$")

needs_valor_lite = pytest.mark.skipif(
    importlib.util.find_spec("valor_lite") is None, reason="valor-lite is not installed"
)


def page(peer: str) -> str:
    return f"docs/migrating/{peer}.md"


def golden(peer: str) -> dict[str, Any]:
    stored = ROOT / "tests" / "golden" / "migrating" / f"{peer}.json"
    document: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8"))
    return document


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the sample data in it, as a reader has it."""
    (tmp_path / "sample_data").symlink_to(SAMPLES)
    return tmp_path


def valor(folder: Path, *arguments: str) -> list[str]:
    """The lines that a command prints."""
    done = run_here(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


TRUTHS = {"classification": "ground_truth.csv"}


def evaluated(
    folder: Path, task: str, predictions: str, metrics: Sequence[Any], **more: Any
) -> list[dict[str, Any]]:
    """All rows of a run on sample data, or on files that stand in the folder."""
    own = more.pop("ground_truth", f"sample_data/{task}/{TRUTHS.get(task, 'ground_truth.json')}")
    there = f"sample_data/{task}/{predictions}"
    found = there if (folder / there).exists() else predictions
    config = {"task": task, "data": {"ground_truth": own, "predictions": found}}
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump({**config, "metrics": list(metrics), **more}), encoding="utf-8")
    valor(folder, "evaluate", "run.yaml", "--out", "run", "--format", "json", "--quiet")
    return rows_of(folder / "run")


def rows_of(run: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((run / "results.json").read_text())["metrics"]
    return rows


def value(rows: list[dict[str, Any]], item: Any, **more: Any) -> float:
    """Of the one row that an item of a table means: a name, or a name and its parameters."""
    name, parameters = next(iter(item.items())) if isinstance(item, dict) else (item, {})
    wanted = {"metric": name, "label": None, "slice": None, "output": "value", **more}
    (found,) = (
        row
        for row in rows
        if wanted.items() <= row.items() and parameters.items() <= row["parameters"].items()
    )
    return float(found["value"])


# Names.


@pytest.mark.parametrize("peer", STORED)
def test_the_other_tool_was_seen_to_have_every_name(peer: str) -> None:
    stored = {(task, code) for task, code in golden(peer)["names"]}
    assert set(names_of(peer)) == stored


def test_pycocotools_has_every_name() -> None:
    assert len(looked_up("pycocotools")) > 30
    for wrong in ("COCO.no_such", "COCO(no_such=1)", "COCOeval.params.no_such", "mask.no_such"):
        with pytest.raises(AttributeError):
            look_up("pycocotools", "", wrong)


@needs_valor_lite
def test_valor_lite_has_every_name() -> None:
    looked_up("valor-lite")


@pytest.mark.models
def test_torchmetrics_has_every_name() -> None:
    pytest.importorskip("torchmetrics", exc_type=ImportError)
    looked_up("torchmetrics")


@cache
def words() -> frozenset[str]:
    """Every name that valor has beside its metrics: keys, parameters, choices, outputs, fields."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.update(node.get("properties", {}))
            found.update(one for one in node.get("enum", ()) if isinstance(one, str))
            if isinstance(node.get("const"), str):
                found.add(node["const"])
            for one in node.values():
                walk(one)
        elif isinstance(node, list):
            for one in node:
                walk(one)

    for schema in ("config", "results"):
        walk(json.loads((ROOT / f"docs/{schema}.schema.json").read_text(encoding="utf-8")))
    for task in catalogue.task_names():
        for name in set(catalogue.metric_names(task).values()):
            found.update(catalogue.outputs(task, name))
    return frozenset(found)


def accepts(task: str, changes: Mapping[str, Any]) -> bool:
    """Whether a config of that task may say this."""
    data: dict[str, Any]
    data = {"ground_truth": "truth.json", "predictions": "found.json"}
    if task == "text_generation":
        data = {"samples": "samples.jsonl"}
    if task == "semantic_segmentation":
        data["labels"] = ["background", "road"]
    whole = {"task": task, "metrics": [], **changes}
    given = changes.get("data", {})
    whole["data"] = given if "samples" in given else {**data, **given}
    if not whole["metrics"]:
        del whole["metrics"]
    try:
        load_config(whole, catalogue)
    except ConfigError:
        return False
    return True


def known(code: str, tasks: tuple[str, ...]) -> bool:
    """Whether valor has what stands in these backticks, in one of the tasks."""
    if code.startswith(("valor ", "--")):
        text = text_of("docs/cli.md")
        options = re.findall(r"--[a-z-]+", code)
        command = " ".join(code.split()[:2])
        return all(one in text for one in options) and (code.startswith("--") or command in text)
    if " >= " in code or code == "tp + fn":
        return True
    item = yaml.safe_load(code) if ": " in code else code.rstrip(":")
    for task in tasks:
        names = catalogue.metric_names(task)
        if isinstance(item, str):
            if item in names or item in words() or item == "null":
                return True
        elif next(iter(item)) in names:
            if accepts(task, {"metrics": [item]}):
                return True
        elif next(iter(item)) == "task":
            return item["task"] in catalogue.task_names()
        elif accepts(task, item) or _some_metric_takes(task, item):
            return True
    return False


def _some_metric_takes(task: str, item: Mapping[str, Any]) -> bool:
    return any(
        accepts(task, {"metrics": [{name: dict(item)}]})
        for name in set(catalogue.metric_names(task).values())
        if set(item) <= set(catalogue.parameters(task, name).model_fields)
    )


def valor_codes(peer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What columns and remarks say that valor has, with the tasks that the heading leaves."""
    for table in tables(page(peer)):
        asked = (table.task,) if table.task in catalogue.task_names() else VISION
        for row in table.rows:
            for head, cell in zip(table.header, row, strict=True):
                if head == "valor" or head.startswith("output of"):
                    yield from ((code, asked) for code in codes(cell))
                elif head == "remark":
                    yield from (
                        (code, asked)
                        for code in codes(cell)
                        if re.match(r"[a-z]+_[a-z_]+(: \{.*\})?$", code)
                    )


OTHERS = {"map_per_class"}
"""What remarks call by the other tool's name."""


@pytest.mark.parametrize("peer", PEERS)
def test_valor_has_every_name(peer: str) -> None:
    wanted = [one for one in valor_codes(peer) if one[0] not in OTHERS]
    assert len(wanted) > 30
    unknown = [(code, tasks) for code, tasks in wanted if not known(code, tasks)]
    assert unknown == []
    for wrong in ("no_such", "f1: {no_such: 1}", "label_maps: {a: b}", "valor no_such"):
        assert not known(wrong, VISION)


def test_metrics_of_valor_lite_are_aliases() -> None:
    aliases = {name for task in catalogue.task_names() for name in catalogue.metric_names(task)}
    shown = set(re.findall(r"`MetricType\.(\w+)`", text_of(page("valor-lite"))))
    assert shown - aliases == {
        "ARAveragedOverScores",
        "mARAveragedOverScores",
        "ConfusionMatrixWithExamples",
        "Examples",
    }


@needs_valor_lite
def test_no_metric_of_valor_lite_is_left_out() -> None:
    for task in catalogue.task_names():
        if task == "instance_segmentation":
            continue
        shown = {
            code.removeprefix("MetricType.")
            for where, code in names_of("valor-lite")
            if where == task
        }
        module = importlib.import_module(f"valor_lite.{task}")
        own = {one.name for one in module.MetricType}
        # These two have functions in their rows.
        assert own - shown <= {"ROUGE", "BLEU"}


# Numbers.


def keep_files(peer: str, folder: Path) -> None:
    for block in blocks(page(peer)):
        if block.path is not None:
            (folder / block.path).write_text(block.text, encoding="utf-8")


def run_commands(peer: str, folder: Path) -> list[str]:
    """What the page's commands print."""
    keep_files(peer, folder)
    lines = []
    for block in blocks(page(peer), "console"):
        for command in block.commands:
            lines += valor(folder, *command.split()[1:])
    return lines


def said(lines: list[str]) -> dict[str, float]:
    """`name: number` of each line."""
    pairs = (line.rpartition(":") for line in lines)
    return {name.strip(): float(number) for name, _, number in pairs}


def number_tables(peer: str) -> list[list[list[str]]]:
    """The rows of tables that hold both numbers."""
    first = ("printed", "`stats` of pycocotools")
    return [table.rows for table in tables(page(peer)) if table.header[0] in first]


def test_pycocotools_and_valor_print_the_same(desk: Path) -> None:
    (program,) = programs("pycocotools")
    lines = printed(program, desk)
    (shown,) = blocks(page("pycocotools"), "text")
    theirs = [line for line in lines if line.startswith(" Average")]
    ours = run_commands("pycocotools", desk)
    assert theirs == [line for line in ours if line.startswith(" Average")]
    assert [line.strip() for line in theirs] == shown.text.splitlines()

    (table,) = number_tables("pycocotools")
    numbers = [float(line) for line in lines if NUMBER.match(line)]
    rows = rows_of(desk / "reports" / "coco")
    assert len(table) == len(numbers) == 12
    for number, (_, there, output, here) in zip(numbers, table, strict=True):
        (name,) = codes(output)
        assert there == here
        assert float(there) == pytest.approx(number, abs=1e-12)
        assert value(rows, "coco", output=name) == pytest.approx(number, abs=1e-12)


def test_pycocotools_differs_where_the_page_says_so(desk: Path) -> None:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def stats(**parameters: Any) -> list[float]:
        evaluation = COCOeval(truth, found, "bbox")
        for name, one in parameters.items():
            setattr(evaluation.params, name, one)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return [float(one) for one in evaluation.stats]

    folder = SAMPLES / "object_detection"
    truth = COCO(str(folder / "ground_truth.json"))
    found = truth.loadRes(str(folder / "large.json"))
    names = [one["name"] for one in truth.dataset["categories"]]
    some = list(range(1, 31))
    over_ious = {"mean_average_precision_over_ious": {"max_detections": 300}}
    rough = {"mean_average_precision": {"interpolation": "11_point"}}
    assert stats(maxDets=[1, 10, 300])[0] == -1
    merged = {"label_map": dict.fromkeys(names, "object")}
    labels = {"filter": {"label": ["person", "bicycle"]}}
    images = {"filter": {"image_id": some}}
    for metric, more, theirs in (
        (over_ious, {}, stats()[0]),
        ("coco", merged, stats(useCats=0)[0]),
        ("coco", labels, stats(catIds=[15, 2])[0]),
        ("coco", images, stats(imgIds=some)[0]),
        (rough, {}, stats(recThrs=np.linspace(0, 1, 11))[1]),
    ):
        rows = evaluated(desk, "object_detection", "large.json", [metric], **more)
        output = "AP" if metric == "coco" else "value"
        assert value(rows, metric, output=output) == pytest.approx(theirs, abs=1e-12), metric


@pytest.mark.parametrize(("peer", "config"), [("torchmetrics", 0), ("valor-lite", 0)])
def test_both_numbers_of_a_table(peer: str, config: int, desk: Path) -> None:
    """As stored of the tool, and as valor computes them now: equal within 1e-9."""
    run_commands(peer, desk)
    theirs = said(golden(peer)["printed"][config])
    table = number_tables(peer)[config]
    run = "digits" if peer == "torchmetrics" else "boxes"
    rows = rows_of(desk / "reports" / run)
    assert {name for name, *_ in table} == set(theirs)
    for name, there, item, here in table:
        (code,) = codes(item)
        label = item.partition("`, ")[2] or None
        ours = value(rows, yaml.safe_load(code), label=label)
        assert there == here
        assert theirs[name] == pytest.approx(float(there), abs=1e-11)
        assert ours == pytest.approx(theirs[name], abs=1e-9)


def test_mean_average_precision_of_torchmetrics(desk: Path) -> None:
    """Its defaults are not COCO's thresholds; with these it is valor's number in 32 bits."""
    run_commands("torchmetrics", desk)
    theirs = said(golden("torchmetrics")["printed"][1])
    rows = rows_of(desk / "reports" / "boxes")
    table = number_tables("torchmetrics")[1]
    assert 2 * len(table) == len(theirs)
    for key, default, coco, output, here in table:
        (name,) = (code.strip('"') for code in codes(key))
        ours = value(rows, "coco", output=codes(output)[0])
        assert f"{theirs[f'{name}, defaults']:.12f}" == default
        assert f"{theirs[f'{name}, COCO']:.12f}" == coco
        assert f"{ours:.12f}" == here
        assert f"{np.float32(ours):.12f}" == coco
    assert theirs["map, defaults"] < theirs["map, COCO"] - 5e-4


def test_what_the_tables_say_of_torchmetrics(desk: Path) -> None:
    text = text_of(page("torchmetrics"))
    facts = golden("torchmetrics")["facts"]
    names = ("mean_roc_auc", "average_precision", "expected_calibration_error")
    rows = evaluated(desk, "classification", "random_forest.csv", names)
    area, mean, calibration = (value(rows, name) for name in names)
    assert area == pytest.approx(facts["mean ROC AUC"], abs=1e-6)
    assert mean == pytest.approx(facts["average precision"], abs=1e-6)
    assert calibration == pytest.approx(facts["calibration error of 32 bits"], abs=1e-6)
    assert f"{facts['mean ROC AUC']:.8f} for {area:.8f}" in text
    assert f"{facts['mean ROC AUC, 20 thresholds']:.5f} for a mean ROC AUC of {area:.5f}" in text
    binned = facts["average precision, 20 thresholds"]
    assert f"{binned:.5f} for an average precision of {mean:.5f}" in text
    assert f"{facts['calibration error of 64 bits']:.5f} for {calibration:.5f}" in text

    rows = evaluated(desk, "instance_segmentation", "watershed.json", ["panoptic_quality"])
    quality = value(rows, "panoptic_quality", output="pq")
    assert quality == pytest.approx(facts["panoptic quality"], abs=1e-6)
    assert f"not counted: {facts['panoptic quality, void predicted']:.3f}" in text
    assert f"counted: {quality:.3f}" in text


def test_what_the_table_says_of_the_confusion_matrix_of_valor_lite(desk: Path) -> None:
    facts = golden("valor-lite")["facts"]
    text = text_of(page("valor-lite"))
    assert f"{facts['diagonal']} and {facts['tp']} on the sample data" in text
    wanted = ["Counts", "ConfusionMatrix"]
    evaluated(desk, "object_detection", "large.json", wanted, matching="valor")
    result = json.loads((desk / "run" / "results.json").read_text())
    found = [row["value"] for row in result["metrics"] if row["output"] == "tp"]
    (table,) = result["tables"]
    assert sum(found) == np.trace(np.array(table["matrix"])) == facts["tp"]


def test_a_second_choice_finds_more(desk: Path) -> None:
    metric = {"counts": {"iou_threshold": 0.3, "score_threshold": 0.05}}
    found = []
    for matching in ("coco", "valor"):
        rows = evaluated(desk, "object_detection", "small.json", [metric], matching=matching)
        found.append(value(rows, "counts", output="tp", label="person"))
    assert found == [53, 52] == [53, golden("valor-lite")["facts"]["persons"]]
    assert "53 persons for 52" in text_of(page("valor-lite"))


# The tools themselves.


@needs_valor_lite
def test_valor_lite_says_what_is_stored(desk: Path) -> None:
    stored = golden("valor-lite")
    for program, wanted in zip(programs("valor-lite"), stored["printed"], strict=True):
        assert said(printed(program, desk)) == pytest.approx(said(wanted), abs=1e-9)
    assert FACTS["valor-lite"]() == stored["facts"]


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
def test_torchmetrics_says_what_is_stored(desk: Path) -> None:
    pytest.importorskip("torchmetrics", exc_type=ImportError)
    stored = golden("torchmetrics")
    with_boxes = importlib.util.find_spec("torchvision") is not None
    for program, wanted in zip(programs("torchmetrics"), stored["printed"], strict=True):
        if with_boxes or "torchmetrics.detection" not in program:
            assert said(printed(program, desk)) == pytest.approx(said(wanted), abs=1e-7)
    assert FACTS["torchmetrics"]() == pytest.approx(stored["facts"], abs=1e-6)


# A reader's loop.


def pieces(peer: str) -> list[Block]:
    """Blocks that need what a reader's program has."""
    return [block for block in blocks(page(peer), "python") if "import " not in block.text]


def coco() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder = SAMPLES / "object_detection"
    truth = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    return truth, json.loads((folder / "large.json").read_text(encoding="utf-8"))


def test_a_loop_of_tensors_becomes_a_file(desk: Path) -> None:
    (loop, _) = pieces("torchmetrics")
    truth, found = coco()
    images = [image["id"] for image in truth["images"]]
    predictions = []
    for image in images:
        here = [one for one in found if one["image_id"] == image]
        corners = np.array([one["bbox"] for one in here]).reshape(-1, 4)
        corners[:, 2:] += corners[:, :2]
        predictions.append(
            {
                "labels": np.array([one["category_id"] for one in here]),
                "boxes": corners,
                "scores": np.array([one["score"] for one in here]),
            }
        )
    with (desk / "found.jsonl").open("w") as file:
        given = {
            "json": json,
            "file": file,
            "image_ids": images,
            "predictions": predictions,
            "names": {one["id"]: one["name"] for one in truth["categories"]},
        }
        exec(loop.text, given)  # noqa: S102
    assert _average_precision(desk, "found.jsonl") == pytest.approx(0.3469581862666, abs=1e-9)


def test_the_files_of_tm_to_coco_are_read(desk: Path) -> None:
    """As 1.9.0 writes them: images by position, and one category whatever the labels are."""
    (_, mend) = pieces("torchmetrics")
    truth, found = coco()
    position = {image["id"]: at for at, image in enumerate(truth["images"])}
    names = {one["id"]: one["name"] for one in truth["categories"]}
    for one in [*truth["annotations"], *found]:
        one["image_id"] = position[one["image_id"]]
    truth["images"] = [{"id": at} for at in position.values()]
    truth["categories"] = [{"id": 0, "name": "0"}]
    (desk / "run_target.json").write_text(json.dumps(truth))
    (desk / "run_preds.json").write_text(json.dumps(found))
    printed(f"import json\nnames = {names!r}\n{mend.text}", desk)
    assert _average_precision(desk, "run_preds.json", "run_target.json") == pytest.approx(
        0.3469581862666, abs=1e-9
    )


def _average_precision(desk: Path, predictions: str, truth: str | None = None) -> float:
    more = {} if truth is None else {"ground_truth": truth}
    rows = evaluated(desk, "object_detection", predictions, ["coco"], **more)
    return value(rows, "coco", output="AP")


def test_objects_of_valor_lite_become_files(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of things that have the attributes of its own."""
    detections_block, classifications_block = pieces("valor-lite")
    truth, found = coco()
    names = {one["id"]: one["name"] for one in truth["categories"]}

    def boxes(objects: list[dict[str, Any]], image: int) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                xmin=one["bbox"][0],
                xmax=one["bbox"][0] + one["bbox"][2],
                ymin=one["bbox"][1],
                ymax=one["bbox"][1] + one["bbox"][3],
                labels=[names[one["category_id"]]],
                scores=[one["score"]] if "score" in one else [],
            )
            for one in objects
            if one["image_id"] == image
        ]

    detections = [
        SimpleNamespace(
            uid=str(image["id"]),
            groundtruths=boxes(truth["annotations"], image["id"]),
            predictions=boxes(found, image["id"]),
            metadata=image["metadata"],
        )
        for image in truth["images"]
    ]
    monkeypatch.chdir(desk)
    exec(detections_block.text, {"json": json, "detections": detections})  # noqa: S102
    assert _average_precision(desk, "predictions.jsonl", "ground_truth.jsonl") == pytest.approx(
        0.3469581862666, abs=1e-9
    )

    classifications = [
        SimpleNamespace(
            uid=uid, groundtruth=label, predictions=["a", "b"], scores=[0.75, 0.25], metadata=None
        )
        for uid, label in (("one", "a"), ("two", "b"))
    ]
    exec(classifications_block.text, {"json": json, "classifications": classifications})  # noqa: S102
    (desk / "run.yaml").write_text(
        "task: classification\ndata: {samples: samples.jsonl}\nmetrics: [accuracy]\n"
    )
    valor(desk, "evaluate", "run.yaml", "--out", "run", "--format", "json", "--quiet")
    assert value(rows_of(desk / "run"), "accuracy") == 0.5
