"""The records of a config: frozen, with paths resolved, and able to say where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.vocabulary import START, Boxes, Words, load
from valor_cli.config import load_config


def test_the_config_is_frozen() -> None:
    config = load(START)
    with pytest.raises(ValueError, match="frozen"):
        config.task = "text"  # type: ignore[misc]


def test_paths_start_from_the_folder_of_the_yaml(tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "run.yaml").write_text(START)
    config = load_config(folder / "run.yaml", Words(), ["report.out=../out"])
    assert isinstance(config.data, Boxes)
    assert config.data.ground_truth == str(folder / "gt.json")
    assert config.report.out == str(tmp_path / "out")
    options = ["report.out=-", "data.ground_truth=-"]
    config = load_config(folder / "run.yaml", Words(), options)
    assert isinstance(config.data, Boxes)
    assert (config.data.ground_truth, config.report.out) == ("-", "-")
    config = load_config(folder / "run.yaml", Words(), ["report.out=/out"])
    assert config.report.out == "/out"


def test_the_folder_of_the_report_reads_plainly() -> None:
    Path("configs").mkdir()
    Path("configs/run.yaml").write_text(START + "report: {out: ../reports/x}\n")
    assert load_config("configs/run.yaml", Words()).report.out == "reports/x"
    assert (
        load_config("configs/run.yaml", Words(), ["report.out=./a/../b/"]).report.out == "configs/b"
    )
    assert load(START + "report: {out: ./out}\n").report.out == "out"


def test_places_of_what_was_read() -> None:
    config = load(
        START + "metrics:\n  - coco\n  - ap: {iou_thresholds: [0.5]}\n",
        "metrics.1.ap.max_detections=5",
        "interval.seed=1",
    )
    assert config.place("data", "ground_truth") == "run.yaml:2:22: data.ground_truth"
    assert config.place("data", "images") == "run.yaml:2:1: data.images"
    assert config.place("metrics", 1) == "run.yaml:5:5: metrics.1"
    assert config.place("metrics", 1, "iou_thresholds", 0) == (
        "run.yaml:5:27: metrics.1.iou_thresholds.0"
    )
    assert config.place("metrics", 1, "zero") == "run.yaml:5:5: metrics.1.zero"
    assert config.place("metrics", 0, "zero") == "run.yaml:4:5: metrics.0.zero"
    assert config.place("metrics", 9, "zero") == "run.yaml:3:1: metrics.9.zero"
    assert config.place("metrics", 1, "max_detections") == "--set metrics.1.max_detections"
    assert config.place("interval", "level") == "--set interval.level"
    assert config.place("metrics", 1, "ap", "zero") == "run.yaml:5:5: metrics.1.zero"
    assert load(START).place("metrics", 0, "zero") == "run.yaml:1:1: metrics.0.zero"
    assert config.place("report", "out") == "run.yaml:1:1: report.out"
