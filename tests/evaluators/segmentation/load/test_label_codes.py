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


U, X = UNKNOWN, IGNORED
ROAD, STUFF = {"sky": "road"}, {"road": "stuff", "sky": "stuff"}
SPARSE = {254: "last", 0: "first", 3: "third"}


@pytest.mark.parametrize(
    ("data", "selection", "labels", "truth", "prediction"),
    [
        # Values are positions in a list, or any numbers in any order.
        ({}, {}, "road cat sky", [0, 1, 2, U, U, U], None),
        ({"labels": SPARSE}, {}, "first third last", [0, U, U, 1, 2, U], None),
        # An ignored value is left open in predictions; a label that is ignored is none.
        ({"ignore_index": (255, 3)}, {}, "road cat sky", [0, 1, 2, X, U, X], [0, 1, 2, 4, U, 4]),
        ({"ignore_index": 0}, {}, "cat sky", [X, 0, 1, U, U, U], [3, 0, 1, U, U, U]),
        # The background, which may have no name, or be several values merged.
        ({"background": "cat"}, {}, "road sky", [0, 2, 1, U, U, U], None),
        ({"background": 1}, {}, "road sky", [0, 2, 1, U, U, U], None),
        ({"background": 254}, {}, "road cat sky", [0, 1, 2, U, 3, U], None),
        *(
            ({"background": one}, {"label_map": STUFF}, "cat", [1, 0, 1, U, U, U], None)
            for one in ("stuff", "sky", 0)
        ),
        # Merged labels, and renamed ones, which keep their order.
        ({}, {"label_map": ROAD}, "road cat", [0, 1, 0, U, U, U], None),
        ({}, {"label_map": {"road": "zebra"}}, "zebra cat sky", [0, 1, 2, U, U, U], None),
        # A filter of labels ignores other ground truth.
        (
            *({}, {"keep": {"label": ("cat",)}}, "road cat sky"),
            *([X, 1, X, U, U, U], [0, 1, 2, U, U, U]),
        ),
        (
            *({"background": "cat"}, {"keep": {"label": ("cat",)}}, "road sky"),
            *([X, 2, X, U, U, U], [0, 2, 1, U, U, U]),
        ),
    ],
)
def test_codes(
    data: dict[str, Any],
    selection: dict[str, Any],
    labels: str,
    truth: list[int],
    prediction: list[int] | None,
) -> None:
    chosen = Selection(**selection)
    loaded = load(chosen, **data)
    assert loaded.labels == tuple(labels.split())
    assert codes(chosen, **data) == (truth, truth if prediction is None else prediction)


def test_labels_from_a_file() -> None:
    Path("classes.json").write_text(json.dumps({"3": "c", "1": "a", "255": "(ignore)"}))
    loaded = load(labels="classes.json", ignore_index=255)
    assert (loaded.labels, loaded.warnings) == (("a", "c"), [])
    assert codes(labels="classes.json", ignore_index=255)[0] == [U, 0, U, 1, U, X]


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
    assert load(background="cat").settings == {"background": "cat"}
    assert load().settings == {}


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


ADVICE = "set `ignore_index: 255` under `data:` to leave its pixels out"
ABOVE = "no pixel of a PNG has a value above 65,535, and so none has"


@pytest.mark.parametrize(
    ("data", "warnings"),
    [
        (
            {"labels": {0: "a", 65_536: "b"}, "ignore_index": (255, 70_000), "background": 65_536},
            [
                f"labels: {ABOVE} 65536",
                f"ignore_index: {ABOVE} 70000",
                f"background: {ABOVE} 65536",
            ],
        ),
        ({"labels": {0: "a", 65_535: "b"}, "ignore_index": 255}, []),
        (
            {"labels": {65_536 + at: str(at) for at in range(6)}},
            [f"labels: {ABOVE} 65536, 65537, 65538, 65539, 65540 …"],
        ),
        (
            {"labels": {1: "a", 5: "a", 7: "b"}},
            ["labels: the values 1, 5 have one name, 'a': they are one label"],
        ),
        (
            {"labels": {1: "a", 255: "(ignore)"}},
            [f"labels: 255 is named '(ignore)' and counts as a label; {ADVICE}"],
        ),
    ],
)
def test_what_is_warned_of(data: dict[str, Any], warnings: list[str]) -> None:
    assert load(**data).warnings == warnings


def test_a_label_map_of_no_label_is_warned_of() -> None:
    assert load(Selection(label_map={"cats": "cat"})).warnings == [
        "label_map: there is no label 'cats' (did you mean 'cat'?)"
    ]
