"""COCO files to datasets: names, ids, selections and what is warned of."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import GROUND_TRUTH, RESULTS
from tests.evaluators.loaded import metadata_of
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.metric import Loaded, Selection


def load(
    folder: Path, truth: Any = None, found: Any = None, *, selection: Selection | None = None
) -> Loaded[DetectionDataset]:
    (folder / "gt.json").write_text(json.dumps(GROUND_TRUTH if truth is None else truth))
    (folder / "dt.json").write_text(json.dumps(RESULTS if found is None else found))
    inputs = DetectionInputs(
        ground_truth=str(folder / "gt.json"), predictions=str(folder / "dt.json")
    )
    return load_detections(inputs, DetectionOptions(), selection or Selection())


def only(loaded: Loaded[DetectionDataset]) -> DetectionDataset:
    return next(iter(loaded.datasets.values()))


def test_columns(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    dataset = only(loaded)
    assert dataset.image_ids.tolist() == [1, 2]
    assert dataset.labels == ("cat", "dog")
    assert dataset.ground_truths.image.tolist() == [0, 1]
    # No area in the file: width times height.
    assert dataset.ground_truths.area.tolist() == [100, 100]
    assert dataset.detections.score.tolist() == [0.9, 0.8]
    assert loaded.sizes == {"images": 2, "ground_truths": 2, "labels": 2}
    assert [file.rows for file in loaded.files] == [2, 2]


def test_objects_without_an_area_are_warned_of(tmp_path: Path) -> None:
    found = deepcopy(RESULTS)
    found[0]["bbox"][2] = 0
    (warning,) = [one for one in load(tmp_path, found=found).warnings if "no area" in one]
    assert warning.endswith("box has no area, which match nothing: 1")


def test_an_area_is_the_files_own_where_it_says_one(tmp_path: Path) -> None:
    lines = "image_id,label,x,y,width,height,area\na,cat,0,0,10,10,60\na,cat,20,20,10,10,\n"
    (tmp_path / "gt.csv").write_text(lines)
    (tmp_path / "dt.csv").write_text("image_id,label,x,y,width,height,score\na,cat,1,1,2,2,0.5\n")
    inputs = DetectionInputs(
        ground_truth=str(tmp_path / "gt.csv"), predictions=str(tmp_path / "dt.csv")
    )
    loaded = load_detections(inputs, DetectionOptions(), Selection())
    assert only(loaded).ground_truths.area.tolist() == [60, 100]


def test_labels_that_nobody_uses_are_left_out_and_the_order_is_that_of_ids(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["categories"] = [
        {"id": 2, "name": "dog"},
        {"id": 7, "name": "yak"},
        {"id": 1, "name": "cat"},
        {"id": 5, "name": "bee"},
    ]
    found = [*RESULTS, {**RESULTS[0], "category_id": 5}]
    loaded = load(tmp_path, truth, found)
    assert only(loaded).labels == ("cat", "dog", "bee")
    assert loaded.one_sided["dt"].ignored == ("bee",)
    assert loaded.one_sided["dt"].missing == ()


def test_text_ids(tmp_path: Path) -> None:
    truth, found = deepcopy(GROUND_TRUTH), deepcopy(RESULTS)
    for record in truth["images"]:
        record["id"] = f"image {record['id']}"
    for record in (*truth["annotations"], *found):
        record["image_id"] = f"image {record['image_id']}"
    dataset = only(load(tmp_path, truth, found))
    assert dataset.image_ids.tolist() == ["image 1", "image 2"]
    assert dataset.detections.image.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"\[0\].image_id: no image 1 in"):
        load(tmp_path, truth, RESULTS)


def test_two_categories_of_one_name_stay_apart(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["categories"][1]["name"] = "cat"
    loaded = load(tmp_path, truth)
    assert only(loaded).labels == ("cat", "cat #2")
    assert loaded.warnings == ["two categories are named 'cat'; one is shown as 'cat #2'"]


def test_a_made_up_name_is_nobodys_own(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["categories"] = [
        {"id": 1, "name": "cat"},
        {"id": 2, "name": "cat"},
        {"id": 3, "name": "cat #2"},
    ]
    loaded = load(tmp_path, truth, [*RESULTS, {**RESULTS[0], "category_id": 3}])
    assert only(loaded).labels == ("cat", "cat #2'", "cat #2")


def test_a_label_map_merges_before_anything_else(tmp_path: Path) -> None:
    selection = Selection(label_map={"cat": "animal", "dog": "animal"}, keep={"label": ("animal",)})
    dataset = only(load(tmp_path, selection=selection))
    assert dataset.labels == ("animal",)
    assert dataset.detections.label.tolist() == [0, 0]


def test_a_limit_keeps_the_first_images_of_the_ground_truth(tmp_path: Path) -> None:
    truth = {**GROUND_TRUTH, "images": GROUND_TRUTH["images"][::-1]}
    selection = Selection(limit=1, metadata=("weather",))
    for images, first in ((GROUND_TRUTH, 1), (truth, 2)):
        assert only(load(tmp_path, images, selection=selection)).image_ids.tolist() == [first]
    lines = "image_id,label,x,y,width,height\nz,cat,1,1,2,2\na,cat,1,1,2,2\nz,cat,5,5,2,2\n"
    (tmp_path / "gt.csv").write_text(lines)
    (tmp_path / "dt.csv").write_text("image_id,label,x,y,width,height,score\na,cat,1,1,2,2,0.5\n")
    inputs = DetectionInputs(
        ground_truth=str(tmp_path / "gt.csv"), predictions=str(tmp_path / "dt.csv")
    )
    loaded = load_detections(inputs, DetectionOptions(), Selection(limit=1))
    assert only(loaded).image_ids.tolist() == ["z"]


def test_what_both_sides_lack_is_told_once(tmp_path: Path) -> None:
    for side, row in (("labels", "0 0.5 0.5 1 1"), ("found", "0 0.5 0.5 1 1 0.9")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text(f"{row}\n")
    inputs = DetectionInputs(
        ground_truth=str(tmp_path / "labels"),
        predictions=str(tmp_path / "found"),
        format="yolo",
        names=("cat",),
    )
    with pytest.raises(DataError) as caught:
        load_detections(inputs, DetectionOptions(), Selection())
    assert str(caught.value).count("YOLO labels are in units of the image") == 1
    assert "give a ground truth that says the sizes" in str(caught.value)


def test_a_filter_on_labels_and_images(tmp_path: Path) -> None:
    dogs = only(load(tmp_path, selection=Selection(keep={"label": ("dog",)})))
    assert dogs.labels == ("dog",)
    assert dogs.unit_count == 2
    assert dogs.detections.score.tolist() == [0.8]
    second = load(tmp_path, selection=Selection(keep={"image_id": (2,)}, metadata=("weather",)))
    assert only(second).image_ids.tolist() == [2]
    assert metadata_of(second)["weather"] == ["sun"]


def test_categories_of_a_dictionary_are_joined_by_name(tmp_path: Path) -> None:
    found = {
        "images": GROUND_TRUTH["images"],
        "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}],
        "annotations": [{**RESULTS[0], "id": 1}],
    }
    dataset = only(load(tmp_path, found=found))
    assert [dataset.labels[at] for at in dataset.detections.label] == ["dog"]


def test_an_id_with_a_name_that_the_ground_truth_lacks_is_a_mix_up(tmp_path: Path) -> None:
    found = {
        "images": GROUND_TRUTH["images"],
        "categories": [{"id": 1, "name": "Cat"}, {"id": 2, "name": "dog"}],
        "annotations": [{**RESULTS[0], "id": 1}],
    }
    with pytest.raises(DataError, match="id 1 is 'Cat' here and 'cat' in"):
        load(tmp_path, found=found)


def test_unknown_ids_are_listed_in_file_order(tmp_path: Path) -> None:
    found = [{**RESULTS[0], "category_id": 8}, RESULTS[1], {**RESULTS[0], "image_id": 9}]
    with pytest.raises(DataError) as caught:
        load(tmp_path, found=found)
    places = [problem.place.rsplit(": ", 1)[1] for problem in caught.value.problems]
    assert places == ["[0].category_id", "[2].image_id"]
    assert caught.value.total == 2


def test_a_lone_path_is_a_model_named_after_its_file() -> None:
    assert dict(DetectionInputs(ground_truth="g", predictions="a/b.x.json").models) == {
        "b": "a/b.x.json"
    }


def test_a_shard_keeps_its_images_boxes(tmp_path: Path) -> None:
    shard = only(load(tmp_path)).shard(np.array([False, True]))
    assert shard.image_ids.tolist() == [2]
    assert shard.ground_truths.image.tolist() == [0]
    assert shard.detections.score.tolist() == [0.8]


def test_a_label_of_crowds_alone_has_no_ground_truth(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["annotations"][1]["iscrowd"] = 1
    loaded = load(tmp_path, truth)
    assert loaded.sizes["ground_truths"] == 1
    assert loaded.one_sided["dt"].missing == ()
    assert loaded.one_sided["dt"].ignored == ("dog",)


def test_scores_below_zero_and_huge_objects_are_warned_of(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["annotations"][0]["area"] = 2e10
    loaded = load(tmp_path, truth, [{**RESULTS[0], "score": -1.5}])
    huge, below = loaded.warnings
    assert huge == "ground truths above 1e10 square pixels, which count nowhere: 1"
    assert below.startswith("detections of dt with a score below 0: 1; average_recall leaves")


def test_filters_compare_what_is_written(tmp_path: Path) -> None:
    truth = deepcopy(GROUND_TRUTH)
    truth["images"] = [{"id": 1, "w": 1}, {"id": 2, "w": True}, {"id": 3, "w": "1"}, {"id": 4}]
    kept = load(tmp_path, truth, selection=Selection(keep={"metadata.w": (1,)}))
    assert only(kept).image_ids.tolist() == [1, 3]
    with pytest.raises(DataError, match=r"filter.image_id: no image True"):
        load(tmp_path, truth, selection=Selection(keep={"image_id": (True,)}))
    truth["categories"][0]["name"] = "1"
    first = load(tmp_path, truth, selection=Selection(keep={"label": (1,)}))
    assert only(first).labels == ("1",)
    with pytest.raises(DataError, match=r"filter.label: no label '2'"):
        load(tmp_path, truth, selection=Selection(keep={"label": (2,)}))


@pytest.mark.parametrize("matching", ["coco", "valor"])
@pytest.mark.parametrize(("difficult", "expected"), [("ignore", (1, 1, 0)), ("count", (2, 2, 0))])
def test_what_voc_marks_difficult_is_neither_found_nor_missed(
    tmp_path: Path, matching: Any, difficult: Any, expected: tuple[int, int, int]
) -> None:
    def xml(*objects: str) -> str:
        return f"<annotation><filename>a.jpg</filename>{''.join(objects)}</annotation>"

    def thing(left: int, more: str) -> str:
        sides = zip(("xmin", "ymin", "xmax", "ymax"), (left, 0, left + 10, 10), strict=True)
        corners = "".join(f"<{name}>{side}</{name}>" for name, side in sides)
        return f"<object><name>cat</name>{more}<bndbox>{corners}</bndbox></object>"

    truth, found = tmp_path / "gt.xml", tmp_path / "found.xml"
    truth.write_text(xml(thing(0, "<difficult>1</difficult>"), thing(50, "")))
    # Two detections of the difficult one, one of the other, one of nothing.
    scored = [(0, 0.9), (1, 0.8), (50, 0.7), (90, 0.6)]
    found.write_text(xml(*(thing(at, f"<score>{score}</score>") for at, score in scored)))
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(found))
    options = DetectionOptions(matching=matching, difficult=difficult)
    (dataset,) = load_detections(inputs, options, Selection()).datasets.values()
    counts = match_detections(dataset, MatchingPlan((0.5,))).counts(0.5, 0.5)
    assert tuple(int(column[0, 0]) for column in counts) == expected
