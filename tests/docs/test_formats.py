"""The examples of docs/formats.md: each is read, and all of them say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.docs.pages import ROOT, shell, text_of
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.data.conversion.formats import FORMATS
from valor_cli.data.inputs.objects import format_of, read_objects
from valor_cli.data.shapes.objects.columns import ALIASES
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.results import RunResult

PAGE = "docs/formats.md"
SECTIONS = ("COCO", "JSONL", "CSV", "YOLO", "Pascal VOC", "COCO panoptic")
SIZE = (480, 640)

# Boxes of the car and the person, as x, y, width, height.
TRUTH = ((100, 132, 200, 96), (320, 96, 64, 192))
FOUND = ((104, 132, 192, 96), (320, 96, 64, 168))

SIDES = {
    "COCO": ("ground_truth.json", "predictions.json"),
    "JSONL": ("ground_truth.jsonl", "predictions.jsonl"),
    "CSV": ("ground_truth.csv", "predictions.csv"),
    "YOLO": ("labels", "predicted"),
    "Pascal VOC": ("annotations", "predicted"),
    "COCO panoptic": ("panoptic.json", None),
}
"""Ground truth, and predictions that name their labels."""

_EXAMPLE = re.compile(
    r"^(?P<indent> *)`(?P<path>[\w./]+)`[^\n]*:\n\n *```\w+\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
_CONFIG = re.compile(r"^```yaml\n(?P<text>task: .*?)^```$", re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    _, _, after = text_of(PAGE).partition(f"\n## {heading}\n")
    return after.partition("\n## ")[0]


def painted(boxes: Mapping[int, tuple[int, int, int, int]]) -> Image.Image:
    """Segments in the colours of their ids."""
    pixels = np.zeros((*SIZE, 3), np.uint8)
    for number, (x, y, width, height) in boxes.items():
        colour = (number % 256, number // 256 % 256, number // 65536)
        pixels[y : y + height, x : x + width] = colour
    return Image.fromarray(pixels)


def pictures(folder: Path) -> None:
    """What a page of text cannot hold: image files, masks and panoptic PNGs."""
    for name in ("pictures", "panoptic", "predicted", "masks"):
        (folder / name).mkdir(exist_ok=True)
    for name in ("street", "night"):
        Image.new("L", SIZE[::-1]).save(folder / "pictures" / f"{name}.jpg")
    painted(dict(zip((794, 5), TRUTH, strict=True))).save(folder / "panoptic" / "street.png")
    painted(dict(zip((1, 2), FOUND, strict=True))).save(folder / "predicted" / "street.png")
    ring = np.zeros((6, 8), np.uint8)
    ring[1:5, 2:6] = 1
    ring[2:4, 3:5] = 2
    Image.fromarray(ring).save(folder / "masks" / "6.png")


def written(heading: str, folder: Path) -> Path:
    """The files of a section."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in _EXAMPLE.finditer(section(heading)):
        path = folder / found["path"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(found["text"], encoding="utf-8")
    pictures(folder)
    return folder


def evaluated(config: str, folder: Path) -> RunResult:
    path = folder / "config.yaml"
    path.write_text(config, encoding="utf-8")
    return pipeline.evaluate(pipeline.make_plan(load_config(path, catalogue)), command="")


def twelve(result: RunResult) -> dict[str, dict[str, Any]]:
    """The COCO numbers of each model."""
    found: dict[str, dict[str, Any]] = {model: {} for model in result.models}
    for row in result.metrics:
        if row.metric == "coco" and row.slice is None:
            found[row.model][row.output] = row.value
    return found


def test_the_scene_is_worth_comparing() -> None:
    # IoU 0.96 of the car passes all ten thresholds, 0.875 of the person eight.
    assert FOUND[0][2] / TRUTH[0][2] == 0.96
    assert FOUND[1][3] / TRUTH[1][3] == 0.875


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_example_is_read(heading: str, tmp_path: Path) -> None:
    (config,) = _CONFIG.findall(section(heading))
    result = evaluated(config, written(heading, tmp_path))
    assert result.data == {"images": 2, "ground_truths": 2, "labels": 2}
    assert not any(result.missing_prediction_labels.values())
    assert not any(result.ignored_prediction_labels.values())
    for found in twelve(result).values():
        assert found["AP"] == pytest.approx((1 + 0.8) / 2, abs=1e-12)
        assert found["AP75"] == found["APlarge"] / 0.9 == pytest.approx(1, abs=1e-12)


def crossed(truth: str, found: str, folder: Path) -> RunResult:
    """The ground truth of one section against the predictions of another."""
    one = written(truth, folder / "truth") / SIDES[truth][0]
    other = written(found, folder / "found") / str(SIDES[found][1])
    return evaluated(
        "task: object_detection\nmetrics: [coco]\n"
        f"data: {{ground_truth: {one}, predictions: {{m: {other}}}, images: truth/pictures}}",
        folder,
    )


@pytest.mark.parametrize(
    ("truth", "found"),
    [*product(SECTIONS, SECTIONS[1:-1]), ("COCO", "COCO"), ("COCO panoptic", "COCO")],
)
def test_every_format_meets_every_other(truth: str, found: str, tmp_path: Path) -> None:
    result = crossed(truth, found, tmp_path)
    assert result.data["images"] == 2
    assert twelve(result)["m"]["AP"] == pytest.approx(0.9, abs=1e-12)


@pytest.mark.parametrize("truth", SECTIONS[1:-1])
def test_a_number_finds_no_name(truth: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no image 17"):
        crossed(truth, "COCO", tmp_path)


@pytest.mark.parametrize(
    ("heading", "name"),
    [("COCO", "shapes.json"), ("JSONL", "shapes.jsonl"), ("CSV", "rotated.csv")],
)
def test_the_shapes_are_what_they_are_called(heading: str, name: str, tmp_path: Path) -> None:
    path = written(heading, tmp_path) / name
    found = read_objects(str(path), "ground_truth", Reading(wanted="shape"))
    assert found.categories is not None
    named = dict(zip(found.categories["id"], found.categories["name"], strict=True))
    size = {"square": 4 * 4, "ring": 4 * 4 - 2 * 2, "car": 200 * 96}
    expected = [size[named[one]] for one in found.objects["category_id"]]
    assert areas(found.shapes).tolist() == pytest.approx(expected, abs=1e-9)


def test_every_example_is_of_the_format_of_its_section(tmp_path: Path) -> None:
    names = dict(
        zip(SECTIONS, ("coco", "jsonl", "csv", "yolo", "voc", "coco_panoptic"), strict=True)
    )
    for heading, format_name in names.items():
        folder = written(heading, tmp_path / format_name)
        assert format_of(str(folder / SIDES[heading][0])) == format_name


def test_the_columns_of_csv_are_all_told() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section("CSV"), re.MULTILINE)
    assert {name: tuple(re.findall(r"`(\w+)`", also)) for name, also in rows} == ALIASES


def test_what_convert_writes_is_told() -> None:
    (heading, *rows) = re.findall(r"^\| (.+) \|$", text_of(PAGE), re.MULTILINE)[:15]
    columns = [name.strip("` ") for name in heading.split("|")]
    by_row = {row.split(" | ")[0]: row.split(" | ") for row in rows}
    said = dict(zip(columns[1:], by_row["written by `convert`"][1:], strict=True))
    assert {name for name, word in said.items() if word != "no"} == set(FORMATS)
    for kind, row in (("rotated_box", "rotated boxes"), ("polygon", "polygons"), ("mask", "masks")):
        held = dict(zip(columns[1:], by_row[row][1:], strict=True))
        for name, target in FORMATS.items():
            unwritten = held[name] == "no" or "only" in held[name] or "as polygons" in held[name]
            assert (kind in target.kinds) is not unwritten, (kind, name)


def test_convert_says_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    shown = 0
    blocks = re.findall(r"^```(console|text)\n(.*?)^```$", section("Convert"), re.M | re.S)
    said = ""
    for language, text in blocks:
        if language == "text":
            assert said == text
            shown += 1
        else:
            for line in text.splitlines():
                done = shell(tmp_path, line.removeprefix("$ "))
                assert done.returncode == 0, done.stderr
                said = done.stderr
    assert shown == 2


def test_a_results_list_there_and_back_is_the_same(tmp_path: Path) -> None:
    data = ROOT / "sample_data" / "object_detection"
    truth = f"--ground-truth {data}/ground_truth.json"
    for command in (
        f"valor convert {data}/large.json large.jsonl {truth}",
        f"valor convert large.jsonl large.json {truth}",
    ):
        assert shell(tmp_path, command).returncode == 0
    there = json.loads((data / "large.json").read_text())
    back = json.loads((tmp_path / "large.json").read_text())
    assert len(there) == len(back)
    assert all(one.items() >= other.items() for one, other in zip(there, back, strict=True))
