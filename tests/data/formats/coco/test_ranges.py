"""COCO results lists read in pieces, against the same files read whole."""

from __future__ import annotations

import gc
import json
import pickle
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pytest

from tests.data.readings import arrays_of, listed
from valor_cli.data.formats.coco.ranges import ResultsFacts, one_list, read_results_piece
from valor_cli.data.formats.coco.reader import read_objects
from valor_cli.data.partition.pieces import Piece, UnsplittableError, cut, seamless
from valor_cli.data.shapes.objects.object_file import ObjectFile, Wanted
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import joined

pytestmark = pytest.mark.usefixtures("in_a_folder")

T = TypeVar("T")
ResultsPart: TypeAlias = tuple[ObjectFile, ResultsFacts]

# What reads like the end of one object and the start of the next, in a text and in objects within.
TRAPS: tuple[Any, ...] = (
    "},{",
    '\\"}, {"',
    [{"b": 1}, {"c": 2}],
    {"a": [{"b": {}}, {}]},
    "]}",
    "é漢",
)
BOX = {"image_id": 1, "category_id": 2, "bbox": [1, 2, 3.5, 4], "score": 0.5}


def tried(read: Callable[[], T]) -> T | DataError | None:
    """What is read, or what is wrong; None where only the whole file can be read."""
    try:
        return read()
    except DataError as error:
        return error
    except UnsplittableError:
        return None


def parts_of(
    content: bytes, size: int, wanted: Wanted = "box"
) -> list[ResultsPart | DataError | None]:
    Path("a.json").write_bytes(content)
    pieces = cut("a.json", size)
    if len(pieces) == 1:
        pieces = [Piece("a.json", 0, len(content))]
    return [tried(partial(read_results_piece, piece, Reading(wanted))) for piece in pieces]


def agrees(content: bytes, size: int, wanted: Wanted, whole: ObjectFile | DataError) -> bool:
    """Whether pieces of a size could be used; then they say what the whole file does."""
    found = parts_of(content, size, wanted)
    if any(part is None for part in found):
        return False
    errors = [part for part in found if isinstance(part, DataError)]
    if errors:
        assert {str(error) for error in errors} == {str(whole)}
        return True
    parts = [part for part in found if isinstance(part, tuple)]
    facts = [part[1] for part in parts]
    assert len(parts) == 1 or seamless([one.span for one in facts], len(content))
    if len(parts) > 1 and not one_list(facts, len(content)):
        return False
    assert not isinstance(whole, DataError)
    files = [part[0] for part in parts if part[1].objects] or [parts[0][0]]
    assert sum(len(one.objects) for one in files) == len(whole.objects)
    columns = {
        name: np.concatenate([one.objects[name] for one in files]) for name in whole.objects.columns
    }
    assert listed(columns) == listed(whole.objects.columns)
    shapes = joined([one.shapes for one in files])
    assert listed(arrays_of(shapes)) == listed(arrays_of(whole.shapes))
    return True


def odd_results(seed: int) -> tuple[bytes, Wanted]:
    """A list of detections, with spaces, texts and faults of all kinds."""
    dice = random.Random(seed)
    kind = dice.choice(["box", "texts", "masks", "mixed"])
    rows = [_detection(dice, kind) for _ in range(dice.choice([0, 1, 2, 3, 6]))]
    style: dict[str, Any] = dice.choice([{}, {"separators": (",", ":")}, {"ensure_ascii": False}])
    texts = [_white(dice) + json.dumps(row, **style) + _white(dice) for row in rows]
    text = _white(dice) + "[" + ",".join(texts) + _white(dice) + "]" + _white(dice)
    spoilt = {0: text + "]", 1: text[:-2], 2: "[" + text + "]", 3: text.replace("},", "},,", 1)}
    content = spoilt.get(dice.randrange(30), text).encode()
    mark = b"\xef\xbb\xbf" if dice.random() < 0.1 else b""
    wanted: Wanted = "shape" if kind in ("masks", "mixed") else "box"
    return mark + content, wanted


def _white(dice: random.Random) -> str:
    return "".join(dice.choice(" \n\t\r") for _ in range(dice.choice([0, 0, 0, 2])))


def _detection(dice: random.Random, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "image_id": dice.choice(["a", "},{"]) if kind == "texts" else dice.choice([1, 20]),
        "category_id": dice.choice([1, 2]),
        "score": dice.choice([0.5, 1, 0.125]),
    }
    box = {"bbox": [dice.choice([0, 1.5, 3]) for _ in range(4)]}
    mask = {"segmentation": {"size": [3, 3], "counts": dice.choice(["45", [2, 3, 4]])}}
    outline = {"segmentation": [[0, 0, 4, 0, 4, dice.choice([4, 5.5])]]}
    forms: list[dict[str, Any]] = [box]
    if kind in ("masks", "mixed"):
        forms = [mask] if kind == "masks" else [box, mask, outline]
    found |= dice.choice(forms)
    if dice.random() < 0.2:
        found["note"] = dice.choice(TRAPS)
    if dice.random() < 0.03:
        found["score"] = "x"
    items = list(found.items())
    dice.shuffle(items)
    return dict(items)


def test_pieces_say_what_the_list_says() -> None:
    used = 0
    for seed in range(80):
        content, wanted = odd_results(seed)
        Path("a.json").write_bytes(content)
        whole = tried(partial(read_objects, "a.json", "predictions", Reading(wanted)))
        for size in {1 + (seed * 7 + step * 31) % (len(content) + 1) for step in range(4)}:
            used += agrees(content, size, wanted, whole)
    # Most can be: else nothing was tested.
    assert used > 150


@pytest.mark.parametrize("trap", TRAPS)
def test_lists_that_look_as_if_they_ended_within_objects(trap: Any) -> None:
    rows = [BOX, BOX | {"note": trap, "score": 0.25}, BOX | {"image_id": 3}]
    content = json.dumps(rows, ensure_ascii=False).encode()
    Path("a.json").write_bytes(content)
    whole = read_objects("a.json", "predictions", Reading())
    sizes = range(1, len(content) + 7, 3)
    used = [agrees(content, size, "box", whole) for size in sizes]
    assert any(used)
    if trap == "},{":
        # Some of them are cut in that text, which is noticed.
        assert not all(used)


def test_a_piece_has_the_objects_before_which_one_ends_in_it() -> None:
    text = json.dumps(BOX)
    content = f"[{text} , \n{text},{text}]".encode()
    first, second = parts_of(content, len(content) // 2 + 2)
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert [part[1].objects for part in (first, second)] == [2, 1]
    at = content.rindex(b",{")
    assert [part[1].span for part in (first, second)] == [(0, at), (at, len(content))]
    assert first[1].kinds == ("i", "i")
    assert first[0].files[0].sha256 == ""
    assert first[0].objects.place == "[{row}]"
    assert pickle.loads(pickle.dumps(first[1])) == first[1]  # noqa: S301 - its own


def test_pieces_smaller_than_an_object_have_none_or_one() -> None:
    content = json.dumps([BOX] * 4).encode()
    found = [part for part in parts_of(content, 10) if isinstance(part, tuple)]
    assert [part[1].objects for part in found if part[1].objects] == [1, 1, 1, 1]
    empty = next(part for part in found if not part[1].objects)
    assert empty[1].kinds is None
    assert one_list([part[1] for part in found], len(content))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"annotations": [BOX] * 9}),
        json.dumps([[BOX] * 9]),
        json.dumps([1, 2, 3] * 30),
        # One object stands where a number does.
        json.dumps([BOX] * 3 + [BOX | {"score": BOX}] + [BOX] * 3),
    ],
)
def test_what_is_no_list_of_detections_is_left_to_the_whole_reader(text: str) -> None:
    assert None in parts_of(text.encode(), 100)


def test_keypoints_are_left_to_the_whole_reader() -> None:
    Path("a.json").write_text(json.dumps([BOX] * 4))
    piece = cut("a.json", 100)[0]
    assert (
        tried(lambda: read_results_piece(piece, Reading(fields=frozenset({"keypoints"})))) is None
    )
    assert tried(lambda: read_results_piece(piece, Reading())) is not None


def test_ids_of_two_kinds_are_told_by_the_facts_of_all() -> None:
    content = json.dumps([BOX] * 2 + [BOX | {"image_id": "a"}] * 2).encode()
    found = parts_of(content, len(content) // 4 + 1)
    facts = [part[1] for part in found if isinstance(part, tuple)]
    assert len(facts) == len(found) == 4
    kinds = [one.kinds for one in facts if one.kinds is not None]
    assert set(kinds) == {("i", "i"), ("O", "i")}
    # The bytes join, the ids do not.
    assert seamless([one.span for one in facts], len(content))
    assert not one_list(facts, len(content))


def test_objects_whose_end_is_too_far_away_are_left_to_the_whole_reader() -> None:
    long = json.dumps([BOX, BOX | {"note": "x" * (1 << 25)}, BOX]).encode()
    assert parts_of(long, 1 << 22)[1] is None


def test_the_collector_is_left_as_it_was() -> None:
    Path("a.json").write_text("[")
    assert gc.isenabled()
    with pytest.raises(DataError):
        read_objects("a.json", "predictions", Reading())
    assert gc.isenabled()
    Path("a.json").write_text(json.dumps([BOX]))
    read_objects("a.json", "predictions", Reading())
    assert gc.isenabled()
    gc.disable()
    try:
        read_objects("a.json", "predictions", Reading())
        assert not gc.isenabled()
    finally:
        gc.enable()
