"""What pixel values mean: labels, ignored values, the background, reduced labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.segmentation.scenes import coded, load, pair
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.label_maps import IGNORED, UNKNOWN
from valor_cli.metric import Selection

VALUES = [[0, 1, 2, 3, 254, 255]]


@pytest.fixture(autouse=True)
def _one_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pair(VALUES, VALUES)


def codes(selection: Selection | None = None, **data: Any) -> tuple[list[int], list[int]]:
    (dataset,) = load(selection, **data).datasets.values()
    truth, prediction = coded(dataset)
    return truth[0], prediction[0]


def error(selection: Selection | None = None, **data: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(selection, **data)
    return str(caught.value)


def test_values_are_positions_in_a_list() -> None:
    expected = [0, 1, 2, UNKNOWN, UNKNOWN, UNKNOWN]
    assert codes() == (expected, expected)


def test_values_may_be_sparse_and_in_any_order() -> None:
    loaded = load(labels={254: "last", 0: "first", 3: "third"})
    assert loaded.labels == ("first", "third", "last")
    expected = [0, UNKNOWN, UNKNOWN, 1, 2, UNKNOWN]
    assert codes(labels={254: "last", 0: "first", 3: "third"}) == (expected, expected)


def test_labels_from_a_file() -> None:
    Path("classes.json").write_text(json.dumps({"3": "c", "1": "a", "255": "(ignore)"}))
    loaded = load(labels="classes.json", ignore_index=255)
    assert (loaded.labels, loaded.warnings) == (("a", "c"), [])
    truth, _ = codes(labels="classes.json", ignore_index=255)
    assert truth == [UNKNOWN, 0, UNKNOWN, 1, UNKNOWN, IGNORED]


def test_an_ignored_value_is_left_open_in_predictions() -> None:
    truth, prediction = codes(ignore_index=(255, 3))
    assert truth == [0, 1, 2, IGNORED, UNKNOWN, IGNORED]
    assert prediction == [0, 1, 2, 4, UNKNOWN, 4]


def test_an_ignored_label_is_none() -> None:
    loaded = load(ignore_index=0)
    assert loaded.labels == ("cat", "sky")
    truth, prediction = codes(ignore_index=0)
    assert (truth[:3], prediction[:3]) == ([IGNORED, 0, 1], [3, 0, 1])


@pytest.mark.parametrize("background", ["cat", 1])
def test_background(background: str | int) -> None:
    loaded = load(background=background)
    assert loaded.labels == ("road", "sky")
    assert loaded.settings == {"background": background}
    expected = [0, 2, 1, UNKNOWN, UNKNOWN, UNKNOWN]
    assert codes(background=background) == (expected, expected)


def test_a_background_that_has_no_name() -> None:
    assert load(background=254).labels == ("road", "cat", "sky")
    expected = [0, 1, 2, UNKNOWN, 3, UNKNOWN]
    assert codes(background=254) == (expected, expected)


def test_the_background_may_be_several_values_merged() -> None:
    selection = Selection(label_map={"road": "stuff", "sky": "stuff"})
    for background in ("stuff", "sky", 0):
        assert load(selection, background=background).labels == ("cat",)
        assert codes(selection, background=background)[0][:3] == [1, 0, 1]


def test_merged_labels() -> None:
    selection = Selection(label_map={"sky": "road"})
    assert load(selection).labels == ("road", "cat")
    assert codes(selection)[1][:3] == [0, 1, 0]


def test_renamed_labels_keep_their_order() -> None:
    assert load(Selection(label_map={"road": "zebra"})).labels == ("zebra", "cat", "sky")


def hugging_face(values: np.ndarray, ignore_index: int) -> np.ndarray:
    """`evaluate`'s mean_iou: what it does to a label map, ignored pixels as -1."""
    values = values.copy()
    values[values == 0] = 255
    values = values - 1
    values[values == 254] = 255
    return np.where(values == ignore_index, -1, values.astype(int))


@pytest.mark.parametrize("ignore_index", [255, 1])
@pytest.mark.parametrize("depth", [8, 16])
def test_reduced_labels(ignore_index: int, depth: int) -> None:
    values = np.arange(256, dtype=np.uint8 if depth == 8 else np.uint16)[None]
    pair(values, values, depth)
    # Every value but the ignored one has a label, called and numbered like it.
    labels = {value: f"{value:03}" for value in range(256) if value != ignore_index}
    numbers = {value: at for at, value in enumerate(sorted(labels))} | {-1: IGNORED}
    expected = [numbers[value] for value in hugging_face(values[0], ignore_index).tolist()]
    # There, 0 becomes 255, which is a label of its own where it is not ignored.
    expected[0] = IGNORED
    # There, 255 stays, so that it is told from 256; here only where it is ignored.
    expected[255] = numbers[254] if ignore_index != 255 else IGNORED
    truth, prediction = codes(labels=labels, ignore_index=ignore_index, reduce_labels=True)
    assert truth == expected
    numbers[ignore_index] = len(labels) + 1
    assert prediction == [numbers[value] for value in range(256)]


def test_settings_say_what_changes_every_number() -> None:
    loaded = load(ignore_index=(255, 9), reduce_labels=True)
    assert loaded.settings == {"ignore_index": "9, 255", "reduce_labels": True}
    assert load().settings == {}


def test_a_filter_of_labels_ignores_other_ground_truth() -> None:
    selection = Selection(keep={"label": ("cat",)})
    assert load(selection).labels == ("road", "cat", "sky")
    truth, prediction = codes(selection)
    assert truth == [IGNORED, 1, IGNORED, UNKNOWN, UNKNOWN, UNKNOWN]
    assert prediction[:3] == [0, 1, 2]
    truth, _ = codes(selection, background="cat")
    assert truth[:3] == [IGNORED, 2, IGNORED]


def test_values_of_sixteen_bits() -> None:
    values = [[0, 256, 65_535]]
    pair(values, values, depth=16)
    labels = {0: "a", 65_535: "c", 100_000: "out of reach"}
    assert codes(labels=labels) == ([0, UNKNOWN, 1], [0, UNKNOWN, 1])
    pair([[0, 1]], [[0, 1]], depth=1)
    assert codes(labels=labels)[0] == [0, UNKNOWN]


def test_what_names_no_label() -> None:
    assert error(background="cats").split("\n") == [
        "background: no label is named 'cats' (did you mean 'cat'?)",
        "labels: road, cat, sky",
    ]
    assert (
        error(Selection(keep={"label": ("dog",)})).split("\n")[0] == "filter.label: no label 'dog'"
    )
    assert error(ignore_index=(0, 1, 2)) == (
        "labels: no label is left beside what is ignored or background"
    )
    assert error(labels=None).startswith("labels: the pixel values of gt have no names\nGive `lab")


def test_values_that_no_png_can_hold() -> None:
    loaded = load(labels={0: "a", 65_536: "b"}, ignore_index=(255, 70_000), background=65_536)
    above = "no pixel of a PNG has a value above 65,535, and so none has"
    assert loaded.warnings == [
        f"labels: {above} 65536",
        f"ignore_index: {above} 70000",
        f"background: {above} 65536",
    ]
    assert load(labels={0: "a", 65_535: "b"}, ignore_index=255).warnings == []
    many = {65_536 + at: str(at) for at in range(6)}
    assert load(labels=many).warnings == [
        f"labels: {above} 65536, 65537, 65538, 65539, 65540 …",
    ]


def test_what_is_warned_of() -> None:
    assert load(Selection(label_map={"cats": "cat"})).warnings == [
        "label_map: there is no label 'cats' (did you mean 'cat'?)"
    ]
    assert load(labels={1: "a", 5: "a", 7: "b"}).warnings == [
        "labels: the values 1, 5 have one name, 'a': they are one label"
    ]
    (told,) = load(labels={1: "a", 255: "(ignore)"}).warnings
    assert told == (
        "labels: 255 is named '(ignore)' and counts as a label; set `ignore_index: 255` under "
        "`data:` to leave its pixels out"
    )
