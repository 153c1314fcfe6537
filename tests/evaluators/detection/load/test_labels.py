"""Labels of files: found among those of the ground truth, and which are things and which stuff."""

from __future__ import annotations

import random
from typing import Any, cast

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import Columns, Table
from valor_cli.evaluators.detection.load.images_and_labels import Frame, make_frame
from valor_cli.evaluators.detection.load.joining import things_of
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.metric import Selection


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def frame(ids: list[int], names: list[str], new: dict[str, int]) -> Frame:
    number = np.arange(len(ids)) - 1
    none = cast("Any", None)
    return Frame(none, none, none, np.array(ids), number, tuple(names), tuple(names), new, {})


def slowly(found: Frame, category: object, name: str) -> int:
    """By going through all names."""
    same = [at for at, known in enumerate(found.label_names) if known == name]
    if not same:
        return found.new_labels[name]
    by_id = [at for at in same if found.category_ids[at] == category]
    return int(found.label_number[(by_id or same)[0]])


def test_labels_are_found_by_id_and_name_else_by_name() -> None:
    dice = random.Random(3)
    for _ in range(50):
        names = [dice.choice("abcd") for _ in range(6)]
        known = frame(dice.sample(range(20), 6), names, {"x": 7, "y": -1})
        asked = [(dice.randrange(20), dice.choice([*names, "x", "y"])) for _ in range(9)]
        assert known.labels_at(asked) == [slowly(known, *one) for one in asked]


def test_each_of_many_names_is_looked_up_and_not_searched_for() -> None:
    many = 2000
    names = [Name(f"c{at}") for at in range(many)]
    known = frame(list(range(many)), list(names), {})
    Name.compared = 0
    asked = [(at, Name(f"c{at}")) for at in range(many)]
    assert known.labels_at(asked) == list(range(-1, many - 1))
    assert Name.compared < 10 * many


def truth(**more: object) -> ObjectFile:
    categories: Columns = {
        "id": np.array([9, 3, 5, 7]),
        "name": np.array(["sky", "person", "rider", "fence"], object),
        **{name: np.asarray(column) for name, column in more.items()},
    }
    none = np.zeros(0, np.int64)
    return ObjectFile(
        path="gt.json",
        objects=Table("gt.json", {"image_id": none, "category_id": none}),
        shapes=Shapes.boxes(np.zeros((0, 4))),
        images=Table("gt.json", {"id": np.array([1])}),
        categories=Table("gt.json", categories),
        metadata={},
        files=[],
    )


def test_labels_are_in_the_order_of_their_ids() -> None:
    file = truth(isthing=[0, 1, 1, 0])
    frame, _ = make_frame(file, [], Selection())
    assert frame.labels == ("person", "rider", "fence", "sky")
    assert things_of(file, frame) == (True, True, False, False)


def test_a_label_of_both_is_neither() -> None:
    file = truth(isthing=[0, 1, 1, 0])
    selection = Selection(
        label_map={"rider": "person", "fence": "other", "sky": "other"},
    )
    frame, _ = make_frame(file, [], selection)
    assert things_of(file, frame) == (True, False)
    mixed = Selection(label_map={"fence": "person"}, keep={"label": ["person", "sky"]})
    frame, _ = make_frame(file, [], mixed)
    assert frame.labels == ("person", "sky")
    assert things_of(file, frame) == (None, False)


def test_a_ground_truth_that_does_not_say() -> None:
    file = truth()
    frame, _ = make_frame(file, [], Selection())
    assert things_of(file, frame) is None
