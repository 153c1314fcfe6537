"""Runs on files of which one cannot be used: the numbers of the others, or an error, never both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import DataError
from valor_cli.pipeline import evaluate, make_plan
from valor_cli.results import RunResult
from valor_cli.results.document import from_json, to_json

COUNT = 6
CLASSIFICATION = "task: classification\nmetrics: [accuracy, confusion_matrix]\n"
DETECTION = "task: object_detection\nmetrics: [average_precision, counts]\n"
APART = "data: {on_invalid: skip, ground_truth: 'gt/*', predictions: 'dt/*'}\n"
TOGETHER = "data: {on_invalid: skip, samples: 'both/*'}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(config: str) -> RunResult:
    Path("run.yaml").write_text(config)
    return evaluate(make_plan(load_config("run.yaml", catalogue)), command="")


def error(config: str) -> list[str]:
    with pytest.raises(DataError) as caught:
        run(config)
    return str(caught.value).split("\n")


def numbers(result: RunResult) -> dict[str, Any]:
    document = json.loads(to_json(result))
    return {key: document[key] for key in document if key not in ("run", "warnings")}


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)


def labels(at: int, *, whole: bool = False) -> None:
    """Two samples a file: the first is predicted right, the second wrong in every second file."""
    other = "cat" if at % 2 else "dog"
    write(f"dt/{at}.csv", f"sample_id,prediction\n{at}a,cat\n{at}b,{other}\n")
    truth = f"{at}a,cat\n{at}b,dog\n"
    if not whole:
        write(f"gt/{at}.csv", f"sample_id,label\n{truth}")
    both = [{"sample_id": f"{at}a", "label": "cat", "prediction": "cat"}]
    both += [{"sample_id": f"{at}b", "label": "dog", "prediction": other}]
    write(f"both/{at}.jsonl", "".join(f"{json.dumps(one)}\n" for one in both))


def truth_of_labels() -> None:
    rows = "".join(f"{at}a,cat\n{at}b,dog\n" for at in range(COUNT))
    write("gt/all.csv", f"sample_id,label\n{rows}")


def boxes(at: int, *, lists: bool = True) -> None:
    """Two images a file, an object each; of the second image the detection is far away."""
    images = [{"id": 2 * at}, {"id": 2 * at + 1}]
    objects = [
        {"id": one["id"] + 1, "image_id": one["id"], "category_id": 1, "bbox": [0, 0, 10, 10]}
        for one in images
    ]
    categories = [{"id": 1, "name": "cat"}]
    write(
        f"gt/{at}.json",
        json.dumps({"images": images, "annotations": objects, "categories": categories}),
    )
    found = [[0, 0, 10, 10], [50, 50, 10, 10]]
    if lists:
        lines = [
            {"image_id": one["id"], "objects": [{"label": "cat", "box": box, "score": 0.5}]}
            for one, box in zip(images, found, strict=True)
        ]
        write(f"dt/{at}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
        return
    rows = [
        {"image_id": one["id"], "category_id": 1, "bbox": box, "score": 0.5}
        for one, box in zip(images, found, strict=True)
    ]
    write(f"dt/{at}.json", json.dumps(rows))


def values(result: RunResult) -> dict[str, float | None]:
    return {row.output: row.value for row in result.metrics if row.label is None}


def left_out(result: RunResult) -> list[tuple[str, str]]:
    return [(file.path, file.left_out) for file in result.run.inputs if file.left_out is not None]


def test_files_that_hold_both_sides() -> None:
    for at in range(COUNT):
        if at != 3:
            labels(at)
    good = run(CLASSIFICATION + TOGETHER)
    # 3 files of even number are all right, 2 of odd number half: 8 of 10.
    assert values(good)["value"] == 0.8
    labels(3)
    Path("both/3.jsonl").write_text("")
    found = run(CLASSIFICATION + TOGETHER)
    assert numbers(found) == numbers(good)
    assert found.warnings[0] == "left out: 1 of 6 files: both/3.jsonl: the file is empty"
    assert left_out(found) == [("both/3.jsonl", "the file is empty")]
    assert from_json(to_json(found), "results.json").run.inputs == tuple(found.run.inputs)


def test_a_file_of_ground_truth() -> None:
    """The predictions of its samples go with it, counted."""
    for at in range(COUNT):
        labels(at)
    Path("gt/3.csv").write_text("")
    found = run(CLASSIFICATION + APART)
    assert values(found)["value"] == 0.8
    assert found.data["samples"] == 10
    assert left_out(found) == [("gt/3.csv", "the file is empty")]
    assert sum(file.skipped for file in found.run.inputs) == 2


def test_a_file_of_predictions_where_both_sides_are_cut_alike() -> None:
    """Its samples go with it: they are no wrong predictions. One that lacks elsewhere still is."""
    for at in range(COUNT):
        labels(at)
    Path("dt/3.csv").write_text("")
    found = run(CLASSIFICATION + APART)
    assert values(found)["value"] == 0.8
    told = "left out, for not every file has them: 2 of 12 samples of gt/* ('3a', '3b')"
    assert told in found.warnings
    Path("dt/0.csv").write_text("sample_id,prediction\n0a,cat\n")
    assert values(run(CLASSIFICATION + APART))["value"] == 0.7


def test_a_file_of_predictions_whose_samples_nobody_knows() -> None:
    """With the ground truth in one file, they would become wrong predictions."""
    for at in range(COUNT):
        labels(at, whole=True)
    truth_of_labels()
    Path("dt/3.csv").write_text("")
    lines = error(CLASSIFICATION + APART)
    assert lines[0] == (
        "dt/*: 1 of 6 files cannot be used, and samples without a prediction in the others may "
        "have theirs there: 2 ('3a', '3b'); they would count as wrong ones"
    )
    assert lines[1] == "dt/3.csv: the file is empty"
    assert lines[2].startswith("Fix the file, or leave these samples out of the ground truth")


def test_a_file_of_predictions_that_nobody_misses() -> None:
    for at in range(COUNT):
        labels(at, whole=True)
    truth_of_labels()
    write("dt/more.csv", "")
    found = run(CLASSIFICATION + APART)
    assert values(found)["value"] == 0.75
    assert left_out(found) == [("dt/more.csv", "the file is empty")]
    # With a filter, nobody misses the samples of another file.
    Path("dt/3.csv").write_text("")
    kept = ", ".join(f"{at}{name}" for at in (0, 1) for name in "ab")
    assert values(run(f"{CLASSIFICATION}{APART}filter: {{sample_id: [{kept}]}}\n"))["value"] == 0.75


def test_answers_in_files_of_other_names_than_their_ground_truth() -> None:
    """Names say nothing then, though that of the broken file stands on both sides."""
    for at in range(COUNT):
        labels(at)
    Path("dt/0.csv").rename("dt/x.csv")
    Path("dt/1.csv").rename("dt/0.csv")
    Path("dt/x.csv").rename("dt/1.csv")
    Path("dt/3.csv").write_text("")
    assert "2 ('3a', '3b'); they would count as wrong ones" in error(CLASSIFICATION + APART)[0]


def test_every_model_is_held_against_the_same_samples() -> None:
    for at in range(COUNT):
        labels(at)
        write(f"small/{at}.csv", Path(f"dt/{at}.csv").read_text())
    Path("small/3.csv").write_text("")
    models = (
        "data: {on_invalid: skip, ground_truth: 'gt/*', predictions: {a: 'dt/*', b: 'small/*'}}\n"
    )
    found = run(CLASSIFICATION + models)
    accuracy = {row.model: row.value for row in found.metrics if row.metric == "accuracy"}
    assert accuracy == {"a": 0.8, "b": 0.8}


@pytest.mark.parametrize("lists", [True, False], ids=["images listed", "results list"])
def test_a_file_of_detections_where_both_sides_are_cut_alike(lists: bool) -> None:
    for at in range(COUNT):
        boxes(at, lists=lists)
    name = "dt/3.jsonl" if lists else "dt/3.json"
    Path(name).write_text("")
    found = run(DETECTION + APART)
    assert found.data["images"] == 10
    told = "left out, for the detections of dt stood in such a file: 2 of 12 images (6, 7)"
    assert told in found.warnings
    for path in ("gt/3.json", name):
        Path(path).unlink()
    assert numbers(run(DETECTION + APART)) == numbers(found)


def test_a_file_of_boxes_of_the_ground_truth() -> None:
    for at in range(COUNT):
        boxes(at)
    Path("gt/3.json").write_text('{"images": [{"id": 1}')
    found = run(DETECTION + APART)
    Path("gt/3.json").unlink()
    Path("dt/3.jsonl").unlink()
    assert numbers(run(DETECTION + APART)) == numbers(found)
    assert left_out(found)[0][0] == "gt/3.json"


@pytest.mark.parametrize("lists", [True, False], ids=["images listed", "results list"])
def test_a_file_of_detections_whose_images_nobody_knows(lists: bool) -> None:
    """A results list does not say which images it has looked at: all are in doubt."""
    for at in range(COUNT):
        boxes(at, lists=lists)
        Path(f"gt/{at}.json").rename(f"gt/truth {at}.json")
    Path("dt/3.jsonl" if lists else "dt/3.json").write_text("")
    count = "2 (6, 7)" if lists else "12 (0, 1, 2 …)"
    assert error(DETECTION + APART)[0] == (
        "dt/*: 1 of 6 files cannot be used, and images without a prediction in the others may have "
        f"theirs there: {count}; they would count as missed objects"
    )


def test_images_that_are_all_listed_miss_nothing() -> None:
    for at in range(COUNT):
        boxes(at)
        Path(f"gt/{at}.json").rename(f"gt/truth {at}.json")
    write("dt/more.jsonl", "")
    found = run(DETECTION + APART)
    assert found.data["images"] == 12
    assert left_out(found) == [("dt/more.jsonl", "the file is empty")]


def test_texts_that_are_lost_are_no_wrong_answers() -> None:
    """What another model was asked has no response: a status, and no value."""
    for model in "ab":
        for at in range(COUNT):
            row = {"sample_id": f"{at}", "response": "yes", "reference": "yes"}
            write(f"{model}/{at}.jsonl", f"{json.dumps(row)}\n")
    Path("b/3.jsonl").write_text("")
    config = "task: text_generation\nmetrics: [exact_match]\ndata: {on_invalid: skip, samples: "
    found = run(config + "{a: 'a/*', b: 'b/*'}}\n")
    assert {row.model: (row.value, row.n) for row in found.metrics} == {"a": (1, 6), "b": (1, 5)}
    (coverage,) = [row for row in found.coverage if row.model == "b"]
    assert coverage.statuses["missing_input"] == 1
