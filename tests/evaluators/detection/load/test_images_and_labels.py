"""Labels of a file of predictions found among those of the ground truth."""

from __future__ import annotations

import random
from typing import Any, cast

import numpy as np

from valor_cli.evaluators.detection.load.images_and_labels import Frame


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
