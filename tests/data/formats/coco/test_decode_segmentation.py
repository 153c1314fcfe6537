"""The fast reading of segmentations, keypoints and LVIS's additions equals the slow one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pycocotools.mask as reference
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.readings import assert_equal
from valor_cli.data.formats.coco import objects as coco_objects
from valor_cli.data.formats.coco.diagnosis import diagnose_objects
from valor_cli.data.formats.coco.reader import decode_objects
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.errors import DataError
from valor_cli.kernels import engine
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON

pytestmark = pytest.mark.skipif(engine.compiled is None, reason="no kernel, no fast reading")

derandomized = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

HEIGHT, WIDTH = 40, 50

requests = st.builds(
    Reading,
    st.sampled_from(["box", "shape"]),
    fields=st.frozensets(st.sampled_from(["some_keypoints", "federated"])),
)
# Tiny numbers are read one by one.
coordinates = (
    st.floats(-1e6, 1e6).map(lambda side: side if abs(side) > 1e-280 else 0.0)
    | st.integers(-9, 99)
    | st.just(LARGEST_COORDINATE)
)
sides = st.floats(0, 1e6).map(lambda side: side if side > 1e-280 else 0.0) | st.integers(0, 99)
boxes = st.tuples(coordinates, coordinates, sides, sides).map(list)


@st.composite
def masks(draw: st.DrawFn) -> dict[str, Any]:
    """Run lengths, compressed by the reference or not."""
    cuts = draw(st.lists(st.integers(0, HEIGHT * WIDTH), max_size=8))
    counts = np.diff([0, *sorted(cuts), HEIGHT * WIDTH]).tolist()
    size = [HEIGHT, WIDTH]
    listed = {"size": size, "counts": counts}
    if draw(st.booleans()):
        return listed
    text = reference.frPyObjects(listed, HEIGHT, WIDTH)["counts"].decode()
    return {"size": size, "counts": text}


@st.composite
def polygons(draw: st.DrawFn) -> list[list[float]]:
    points = st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=6)
    parts = []
    for part in draw(st.lists(points, min_size=1, max_size=3)):
        closed = [*part, part[0]] if draw(st.booleans()) else part
        parts.append([side for point in closed for side in point])
    return parts


def lengths(number: int) -> st.SearchStrategy[list[float]]:
    return st.just([]) | st.lists(coordinates, min_size=3 * number, max_size=3 * number)


@st.composite
def objects(draw: st.DrawFn, **keys: Any) -> list[dict[str, Any]]:
    """Rows that each have a geometry: a box, a segmentation, or both."""
    number = draw(st.integers(1, 3))
    segmentation = masks() | polygons()
    common = {"image_id": st.integers(1, 2), "category_id": st.integers(1, 2)} | keys
    optional = {"keypoints": st.none() | lengths(number), "x": st.integers(0, 9)}
    nothing = st.none() | st.just([])
    row = (
        st.fixed_dictionaries(common | {"segmentation": segmentation}, optional=optional)
        | st.fixed_dictionaries(
            common | {"bbox": boxes}, optional=optional | {"segmentation": nothing}
        )
        | st.fixed_dictionaries(
            common | {"bbox": boxes, "segmentation": segmentation}, optional=optional
        )
    )
    return draw(st.lists(row, max_size=8))


def expected_kind(row: dict[str, Any], wanted: str) -> int:
    shape = row.get("segmentation") or None
    if shape is None or (wanted == "box" and "bbox" in row):
        return BOX
    return MASK if isinstance(shape, dict) else POLYGON


@derandomized
@given(data=st.data())
@pytest.mark.parametrize("chunk", [64, 1 << 18])
def test_results(
    data: st.DataObject, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_objects, "CHUNKS", {"box": chunk, "shape": chunk})
    rows = data.draw(objects(score=sides))
    document: Any = rows
    if data.draw(st.booleans()):
        categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
        document = {"annotations": rows, "categories": categories}
    request = data.draw(requests)
    path = tmp_path / "dt.json"
    path.write_text(json.dumps(document, indent=data.draw(st.sampled_from([None, 1]))))
    source = TextSource(str(path))
    fast = decode_objects(source, "predictions", request)
    parsed = parse_json(source.whole(), str(path))
    slow = diagnose_objects(parsed, source, "predictions", request)
    assert [expected_kind(row, request.wanted) for row in rows] == slow.shapes.kind.tolist()
    # A wrong cut of a list is noticed, and then this file is read slowly.
    if fast is not None or chunk > 64:
        assert_equal(fast, slow)


@derandomized
@given(data=st.data())
def test_ground_truth(data: st.DataObject, tmp_path: Path) -> None:
    rows = data.draw(objects(iscrowd=st.integers(0, 1)))
    for row in rows:
        if data.draw(st.booleans()):
            row["area"] = data.draw(sides)
    keys = st.fixed_dictionaries(
        {},
        optional={
            "height": st.sampled_from([HEIGHT, 0, None]),
            "width": st.sampled_from([WIDTH, 0, None]),
            "neg_category_ids": st.none() | st.lists(st.integers(1, 2), max_size=3),
            "not_exhaustive_category_ids": st.lists(st.integers(1, 2), max_size=2),
        },
    )
    frequency = data.draw(st.sampled_from([{}, {"frequency": "r"}, {"frequency": None}]))
    document = {
        "images": [{"id": image_id} | data.draw(keys) for image_id in (1, 2)],
        "categories": [{"id": 1, "name": "cat"} | frequency, {"id": 2, "name": "x"} | frequency],
        "annotations": rows,
    }
    request = data.draw(requests)
    path = tmp_path / "gt.json"
    path.write_text(json.dumps(document))
    source = TextSource(str(path))
    parsed = parse_json(source.whole(), str(path))
    slow = diagnose_objects(parsed, source, "ground_truth", request)
    assert_equal(decode_objects(source, "ground_truth", request), slow)


numbers = st.integers(-3, 9) | st.sampled_from([1.0, 0.5, True, None, 2**70, "1"])
faulty = (
    st.fixed_dictionaries(
        {
            "size": st.lists(numbers, min_size=1, max_size=3) | st.just([2, 3]),
            "counts": st.lists(numbers, max_size=5)
            | st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=6)
            | st.text(max_size=3),
        }
    )
    | st.lists(st.lists(numbers, max_size=9), max_size=3)
    | st.lists(numbers, max_size=7)
)


@settings(derandomized, max_examples=100)
@given(rows=st.lists(faulty, min_size=1, max_size=3))
def test_what_is_found_fast_in_a_doubtful_file_is_found_slowly(
    rows: list[Any], tmp_path: Path
) -> None:
    row = {"image_id": 1, "category_id": 2, "score": 1}
    path = tmp_path / "dt.json"
    path.write_text(json.dumps([row | {"segmentation": each} for each in rows]))
    source, request = TextSource(str(path)), Reading("shape")
    fast = decode_objects(source, "predictions", request)
    parsed = parse_json(source.whole(), str(path))
    try:
        slow = diagnose_objects(parsed, source, "predictions", request)
    except DataError:
        assert fast is None
    else:
        if fast is not None:
            assert_equal(fast, slow)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@settings(derandomized, max_examples=100)
@given(text=st.text(st.characters(min_codepoint=47, max_codepoint=112), max_size=9))
def test_strings_that_may_be_run_lengths(text: str, tmp_path: Path) -> None:
    """The size is made to fit, so that most strings with legal numbers are a mask."""
    path = tmp_path / "dt.json"
    row = {"image_id": 1, "category_id": 2, "score": 1}
    total = max(_total(text), 1)
    row |= {"segmentation": {"size": [total, 1], "counts": text}}
    path.write_text(json.dumps([row]))
    source, request = TextSource(str(path)), Reading("shape")
    fast = decode_objects(source, "predictions", request)
    parsed = parse_json(source.whole(), str(path))
    try:
        slow = diagnose_objects(parsed, source, "predictions", request)
    except DataError:
        assert fast is None
    else:
        assert_equal(fast, slow)
        decoded = reference.decode({"size": [total, 1], "counts": text.encode()})
        starts = np.concatenate([[0], np.cumsum(slow.shapes.mask.counts)])
        inside = np.zeros(total, np.uint8)
        for begin, end in zip(starts[1:-1:2], starts[2::2], strict=True):
            inside[begin:end] = 1
        assert decoded[:, 0].tolist() == inside.tolist()


def _total(text: str) -> int:
    """What the counts add up to, for strings of numbers of one character."""
    counts: list[int] = []
    for character in text:
        code = ord(character) - 48
        value = code - 32 if code & 16 else code
        counts.append(value + counts[-2] if len(counts) > 2 else value)
    return sum(counts)
