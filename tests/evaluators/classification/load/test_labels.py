"""Names of labels: their order, which rows use which, and what nobody has."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classification.files import rows_of, score_file
from valor_cli.evaluators.classification.load.labels import (
    label_order,
    label_use,
    name_labels,
    similar_label_warnings,
)


@pytest.mark.parametrize(
    ("classes", "names", "expected"),
    [
        ([], ["dog", "cat", "Ant", "ähre"], ["Ant", "cat", "dog", "ähre"]),
        ([], ["10", "9", "-1", "09"], ["-1", "09", "9", "10"]),
        ([], ["10", "9", "x"], ["10", "9", "x"]),
        ([], ["10", "9", "²"], ["10", "9", "²"]),
        ([], ["2", "9" * 5000], ["2", "9" * 5000]),
        (["dog", "cat"], ["cat", "yak", "dog", "bee"], ["dog", "cat", "bee", "yak"]),
        # The names left over are whole numbers, whatever the classes are.
        (["dog"], ["10", "dog", "9"], ["dog", "9", "10"]),
        (["dog", "unused"], ["dog"], ["dog", "unused"]),
    ],
)
def test_order(classes: list[str], names: list[str], expected: list[str]) -> None:
    assert list(label_order(classes, names, {})) == expected
    assert list(label_order(classes, names[::-1], {})) == expected


def test_names_are_mapped_before_they_are_ordered() -> None:
    label_map = {"lorry": "truck", "cat": "zebra"}
    assert label_order([], ["lorry", "cat", "car", "truck"], label_map) == ("car", "truck", "zebra")
    # Classes may be listed by either name.
    for classes in (["lorry", "car"], ["truck", "car"], ["truck", "lorry", "car"]):
        assert label_order(classes, ["lorry", "car"], label_map) == ("truck", "car")
    # A map is not followed further: cat becomes dog, and dog becomes bird.
    assert label_order([], ["cat", "dog"], {"cat": "dog", "dog": "bird"}) == ("bird", "dog")


def test_classes_of_the_first_wide_file_give_the_order() -> None:
    truth = score_file("gt.csv", ["s"], truth=["bee"])
    long = score_file("a.csv", ["s"], scores=[{"cat": 1.0}])
    wide = score_file("b.csv", ["s"], scores=[{"yak": 1.0, "dog": 0.0}], wide=True)
    other = score_file("c.csv", ["s"], scores=[{"dog": 1.0, "ant": 0.0}], wide=True)
    naming, warnings = name_labels([], [long, wide, other, truth], {})
    assert naming.labels == ("yak", "dog", "ant", "bee", "cat")
    assert naming.codes(["bee", "yak"]).tolist() == [3, 0]
    assert warnings == []
    naming, _ = name_labels(["cat", "dog"], [long, wide, other, truth], {})
    assert naming.labels == ("cat", "dog", "ant", "bee", "yak")


def test_what_no_file_has() -> None:
    truth = score_file("gt.csv", ["s", "t"], truth=["lorry", "Cat"])
    label_map = {"lory": "truck", "lorry": "truck", "\x1b[1m": "x"}
    _, warnings = name_labels(["truck", "cat", "Cat"], [truth], label_map)
    assert warnings == [
        "label_map: no file has the label 'lory' (did you mean 'lorry'?)",
        "label_map: no file has the label '\\x1b[1m'",
        "classes: no file has the label 'cat' (did you mean 'Cat'?)",
    ]


LABELS = {"red": 0, "blue": 1, "disc": 2, "cube": 3}


def test_labels_listed_by_rows_of_one_key() -> None:
    key = np.zeros(2, np.int64)
    rows = [{"red": 0.5, "disc": 0.0}, {"red": 0.5, "disc": 0.0}]
    for wide in (True, False):
        found = label_use(rows_of(rows, LABELS, wide=wide), key, 1, 4)
        assert found.listed.tolist() == [[True, False, True, False]]
        assert found.positive.tolist() == [[True, False, False, False]]


def test_labels_listed_by_rows_of_several_keys() -> None:
    key = np.array([0, 1, 0])
    rows = [{"red": 0.5}, {"disc": 0.5, "cube": 0.0}, {"blue": 0.0}]
    found = label_use(rows_of(rows, LABELS), key, 2, 4)
    assert found.positive.tolist() == [[True, False, False, False], [False, False, True, False]]
    assert found.listed.tolist() == [[True, True, False, False], [False, False, True, True]]
    # A wide file lists labels of all keys in every row: those with a score are meant.
    full = [dict.fromkeys(LABELS, 0.0) | row for row in rows]
    found = label_use(rows_of(full, LABELS, wide=True), key, 2, 4)
    assert found.positive.tolist() == [[True, False, False, False], [False, False, True, False]]
    assert found.listed.tolist() == [[True, False, False, False], [False, False, True, False]]


def test_rows_that_are_not_there_list_nothing() -> None:
    none = rows_of([{"red": 1.0}], LABELS, wide=True).take(np.zeros(1, bool))
    assert not label_use(none, np.zeros(0, np.int64), 1, 4).listed.any()


def test_labels_that_look_the_same_are_told() -> None:
    assert similar_label_warnings(["cat", "dog", "hot dog", "hotdog"]) == []
    assert similar_label_warnings([" cat", "Cat", "cat", "dog"]) == [
        (
            "labels that differ in spaces or case alone: ' cat' and 'Cat' and 'cat' "
            "(label_map makes them one)"
        )
    ]
    many = [name for at in range(5) for name in (f"l{at}", f"L{at}")]
    (told,) = similar_label_warnings(many)
    assert told.endswith("'l2' and 'L2' … and 2 more (label_map makes them one)")
