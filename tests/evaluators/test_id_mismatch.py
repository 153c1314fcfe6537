"""Ids of two inputs that hardly join: what is said of them, by task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.same_bytes import assert_same, told
from valor_cli.cli.app import app
from valor_cli.errors import DataError
from valor_cli.evaluators.id_mismatch import Ids, few_matches_warning, spellings


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("img_1", "img_0001", "zeros in front"),
        ("a.png", "a.jpg", "extensions"),
        ("val/a.jpg", "a.jpg", "folders"),
        ("IMG", "img", "capitals"),
        ("val/IMG_01.png", "img_1", "how they are spelled"),
    ],
)
def test_what_ids_differ_in(own: str, other: str, expected: str) -> None:
    assert spellings([own], [other]) == f"here '{own}'; there '{other}'; they differ in {expected}"


def test_half_of_the_smaller_side_is_enough() -> None:
    few, many = Ids("b", 4, ["x"]), Ids("a", 100, ["y"])
    assert not few_matches_warning(few, many, 2, "do this")
    assert few_matches_warning(few, many, 1, "do this") == (
        "b: only 1 of 4 sample ids is one of a (here 'x'; there 'y'), and only what has the same "
        "id is compared: do this"
    )


def rows(model: str, shared: int) -> str:
    ids = [f"s{at}" if at < shared else f"{model}-{at}" for at in range(9)]
    lines = [{"id": one, "question": "q", "answer": "y", "reference": "y"} for one in ids]
    return "".join(json.dumps(one) + "\n" for one in lines)


@pytest.mark.parametrize(("shared", "count"), [(0, "none"), (2, "only 2"), (5, None)])
def test_models_whose_samples_have_other_ids(
    shared: int, count: str | None, tmp_path: Path
) -> None:
    for model in "ab":
        (tmp_path / f"{model}.jsonl").write_text(rows(model, shared))
    config = tmp_path / "run.yaml"
    config.write_text(
        "task: text_generation\ndata: {samples: {a: a.jsonl, b: b.jsonl}}\nmetrics: [exact_match]\n"
    )
    app(["evaluate", str(config), "--out", str(tmp_path / "out")], standalone_mode=False)
    warnings = json.loads((tmp_path / "out" / "results.json").read_text())["warnings"]
    found = [one for one in warnings if one.startswith(f"b: {count} of 9 sample ids")]
    assert len(found) == (count is not None)
    assert all("columns: {sample_id: …}" in one and "id, question" in one for one in found)
    whole = told(config)
    for size in (100, 200):
        assert_same(whole, told(config, piece_bytes=size))


def detections(names: list[str], **more: object) -> str:
    thing = {"label": "c", "box": [1, 1, 2, 2], **more}
    return "".join(
        json.dumps({"image_id": one, "width": 9, "height": 9, "objects": [thing]}) + "\n"
        for one in names
    )


@pytest.mark.parametrize("invalid", ["error", "skip"])
def test_detections_of_no_known_image(invalid: str, tmp_path: Path) -> None:
    (tmp_path / "gt.jsonl").write_text(detections([f"a/{at:04}.jpg" for at in range(5)]))
    (tmp_path / "dt.jsonl").write_text(detections(list("01234"), score=0.5))
    config = tmp_path / "run.yaml"
    data = f"{{ground_truth: gt.jsonl, predictions: dt.jsonl, on_invalid: {invalid}}}"
    config.write_text(f"task: object_detection\ndata: {data}\n")
    with pytest.raises(DataError, match="none of 5 detections is of an image of") as one:
        app(["evaluate", str(config), "--out", str(tmp_path / "out")], standalone_mode=False)
    assert "here '0', '1', '2'; there 'a/0000.jpg'" in str(one.value)
    assert "they differ in how they are spelled" in str(one.value)


def test_detections_of_few_known_images(tmp_path: Path) -> None:
    (tmp_path / "gt.jsonl").write_text(detections([f"{at}" for at in range(5)]))
    (tmp_path / "dt.jsonl").write_text(detections(["0", "x1", "x2", "x3"], score=0.5))
    config = tmp_path / "run.yaml"
    data = "{ground_truth: gt.jsonl, predictions: dt.jsonl, on_invalid: skip}"
    config.write_text(f"task: object_detection\ndata: {data}\n")
    app(["evaluate", str(config), "--out", str(tmp_path / "out")], standalone_mode=False)
    warnings = json.loads((tmp_path / "out" / "results.json").read_text())["warnings"]
    (found,) = [one for one in warnings if "only 1 of 4 detections is of an image" in one]
    assert "here 'x1', 'x2', 'x3'; there '0', '1', '2'" in found
