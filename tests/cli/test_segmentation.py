"""Semantic segmentation as a hostile user runs it: odd folders, odd names, odd pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Evaluate, Valor, configured, read_run, refused
from tests.cli.test_mistakes import panoptic, png, segments

TASK = "semantic_segmentation"
PREDICTED = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]], np.uint8)
TRUE = np.where(PREDICTED == 1, 2, PREDICTED).astype(np.uint8)
"""Four pixels of b are predicted where c is true: IoU of a is 1, of c 4 of 8, b has none."""
MEAN_IOU = 0.75
DATA: dict[str, Any] = {"ground_truth": "gt", "predictions": "pr", "labels": ["a", "b", "c"]}
SKIP = {**DATA, "on_invalid": "skip"}

Put = Callable[..., None]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """`put(name, …)`: label maps of both sides by that name, beside those of 1.png."""

    def keep(*names: str, truth: bytes = png(TRUE), found: bytes = png(PREDICTED)) -> None:
        for side, content in (("gt", truth), ("pr", found)):
            for name in names:
                path = tmp_path / side / f"{name}.png"
                path.parent.mkdir(exist_ok=True, parents=True)
                path.write_bytes(content)

    keep("1")
    configured(tmp_path, TASK, DATA)
    return keep


def test_pairs_that_miss_a_side(evaluate: Evaluate, valor: Valor, tmp_path: Path, put: Put) -> None:
    put("cut", truth=png(TRUE), found=png(TRUE)[:-20])
    for number in range(30):
        (tmp_path / "gt" / f"g{number}.png").write_bytes(png(TRUE))
    (tmp_path / "pr" / "p.png").write_bytes(png(TRUE))
    done = valor("evaluate", "run.yaml", cwd=tmp_path)
    refused(done, "gt/g0.png: has no prediction in pr", "… and 11 more problems", folder=tmp_path)
    run = evaluate(SKIP)
    assert run.value("mean_iou") == MEAN_IOU
    assert run.result["data"]["images"] == 1
    told = "\n".join(run.result["warnings"])
    assert "left out: 30 of 32 ground truths have no prediction in pr (the first: g0)" in told
    assert "left out: 1 of 3 predictions of pr have no ground truth in gt (the first: p)" in told
    assert "left out: 1 of 2 images cannot be used (the first: pr/cut.png: the PNG is cut" in told
    assert [one["skipped"] for one in run.result["run"]["inputs"]] == [30, 2]


def test_one_of_two_models_misses_an_image(
    evaluate: Evaluate, valor: Valor, tmp_path: Path, put: Put
) -> None:
    put("2", found=png(TRUE))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "1.png").write_bytes(png(TRUE))
    models = {"predictions": {"m": "pr", "n": "other"}}
    configured(tmp_path, TASK, {**DATA, **models})
    done = valor("evaluate", "run.yaml", cwd=tmp_path)
    refused(done, "gt/2.png: has no prediction in other", "set `on_invalid: skip`", folder=tmp_path)
    # Both of the one image that both have.
    assert evaluate({**SKIP, **models}).values("mean_iou") == {"m": MEAN_IOU, "n": 1}


def test_names_that_are_hard_to_say(valor: Valor, tmp_path: Path, put: Put) -> None:
    names = ["a b", "ü漢", "new\nline", "\x1b[31m", "<script>alert(1)", "-rf", "*", "x|y", "x/1"]
    put(*names)
    for side in ("gt", "pr"):
        (tmp_path / side / ".hidden.png").write_bytes(b"")
        (tmp_path / side / "notes.txt").write_text("no label map")
    done = valor("evaluate", "run.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {one["sample_id"] for one in read_run(tmp_path / "out").samples} == {"1", *names}
    for name in ("report.html", "report.md"):
        text = (tmp_path / "out" / name).read_text()
        assert "<script>alert" not in text
        assert "\x1b" not in text
    put("new\nline", found=b"")
    refused(valor("validate", "run.yaml", cwd=tmp_path), "pr/new\\nline.png: expected a PNG")


def test_links(evaluate: Evaluate, valor: Valor, tmp_path: Path, put: Put) -> None:
    (tmp_path / "pr").rename(tmp_path / "elsewhere")
    (tmp_path / "pr").symlink_to("elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to("..")
    assert evaluate(DATA).value("mean_iou") == MEAN_IOU
    (tmp_path / "pr" / "1.png").unlink()
    (tmp_path / "pr" / "1.png").symlink_to("1.png")
    refused(valor("evaluate", "run.yaml", cwd=tmp_path), "pr/1.png: ", "symbolic links")


def test_a_linked_folder_is_read_or_told_of(evaluate: Evaluate, tmp_path: Path, put: Put) -> None:
    for side in ("gt", "pr"):
        (tmp_path / f"more_{side}").mkdir()
        (tmp_path / f"more_{side}" / "2.png").write_bytes(png(TRUE))
        (tmp_path / side / "more").symlink_to(f"../more_{side}")
    result = evaluate(DATA).result
    assert result["data"]["images"] == 2 or result["warnings"]


def test_where_all_is_ignored_nothing_is_defined_and_gates_cannot_be_checked(
    evaluate: Evaluate, put: Put
) -> None:
    put("1", truth=png(np.full_like(TRUE, 255)))
    gates = [{"metric": "mean_iou", "min": 0}]
    run = evaluate({**DATA, "ignore_index": [255, 254]}, code=3, gates=gates)
    assert run.value("mean_iou") is None
    # Counts of pixels are 0.
    assert {row["value"] for row in run.result["metrics"]} <= {None, 0}
    assert run.result["gates"][0]["status"] == "not checked"


def test_panoptic_label_maps_belong_to_their_image(evaluate: Evaluate, tmp_path: Path) -> None:
    name = "0001_panoptic.png"
    for side, files in (("truth", panoptic()), ("found", panoptic(file_name=name))):
        (tmp_path / f"{side}.json").write_text(files[f"{side}.json"])
        (tmp_path / side).mkdir()
        (tmp_path / side / (name if side == "found" else "1.png")).write_bytes(segments())
    run = evaluate({"ground_truth": "truth.json", "predictions": "found.json"})
    assert run.value("mean_iou") == 1


def test_photos_that_cannot_be_shown_cost_no_number(
    evaluate: Evaluate, tmp_path: Path, put: Put
) -> None:
    put("2", "3")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.jpg").write_bytes(b"broken")
    (tmp_path / "photos" / "2.jpg").write_bytes(png(TRUE, "JPEG"))
    data = {**DATA, "images": "photos"}
    run = evaluate(data, ["mean_iou", "image_scores"], "--format", "json,html")
    assert run.value("mean_iou") == MEAN_IOU
    assert "images: 1 of 3 images have no file in photos (the first: 3)" in run.said
    assert "not shown: photos/1.jpg: not a readable image" in run.said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_label_map_without_permission(valor: Valor, tmp_path: Path, put: Put) -> None:
    (tmp_path / "pr" / "1.png").chmod(0)
    refused(valor("evaluate", "run.yaml", cwd=tmp_path), "pr/1.png: ", folder=tmp_path)
