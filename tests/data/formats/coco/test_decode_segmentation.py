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

from tests.data.readings import assert_equal, check_doubtful, fast_and_slow
from valor_cli.data.formats.coco import objects as coco_objects
from valor_cli.data.formats.coco.objects import UnusualError, detections_listed
from valor_cli.data.formats.coco.reader import decode_objects
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels import engine
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Masks

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
    fast, slow = fast_and_slow(str(path), "predictions", request)
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
    assert_equal(*fast_and_slow(str(path), "ground_truth", request))


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
    check_doubtful(str(path), Reading("shape"))


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
    slow = check_doubtful(str(path), Reading("shape"))
    if slow is None:
        return
    assert_equal(decode_objects(TextSource(str(path)), "predictions", Reading("shape")), slow)
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


REAL = Path(__file__).parents[3] / "real_data" / "detection" / "coco-val2014-100"


def runs(masks: Masks) -> list[list[int]]:
    return [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]


@pytest.mark.skipif(engine.compiled is None, reason="no kernel, no fast reading")
def test_masks_of_real_data() -> None:
    path = REAL / "groundtruth.coco.json"
    document = json.loads(path.read_text())
    fast, found = fast_and_slow(str(path), "ground_truth", Reading("shape"))
    assert_equal(fast, found)
    rows = document["annotations"]
    crowds = [row["segmentation"] for row in rows if row["iscrowd"]]
    assert found.shapes.kind.tolist() == [MASK if row["iscrowd"] else POLYGON for row in rows]
    assert runs(found.shapes.mask) == [crowd["counts"] for crowd in crowds]
    # Shoelace's formula, part by part. COCO's own areas are counted in pixels: near, not equal.
    polygon = found.shapes.polygon
    parts = np.split(polygon.points, polygon.rings[1:-1])
    areas = [
        abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        for x, y in (part.T for part in parts)
    ]
    sums = np.add.reduceat(areas, polygon.objects[:-1])
    given = found.objects["area"][found.shapes.kind == POLYGON]
    assert np.median(np.abs(sums / given - 1)) < 1e-9


def test_closing_a_ring_changes_no_mask_of_the_reference() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        ring = rng.uniform(0, 20, 2 * rng.integers(3, 9)).round(int(rng.integers(0, 3))).tolist()
        masks = reference.frPyObjects([ring, ring + ring[:2]], 20, 20)
        assert masks[0]["counts"] == masks[1]["counts"]


HEIGHT, WIDTH = 30, 40
SHAPES = Reading("shape")


def detection(number: int, **keys: Any) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    cuts = np.sort(rng.integers(0, HEIGHT * WIDTH, 2 * rng.integers(1, 9)))
    counts = np.diff([0, *cuts, HEIGHT * WIDTH]).tolist()
    size = [HEIGHT, WIDTH]
    found = reference.frPyObjects({"counts": counts, "size": size}, HEIGHT, WIDTH)
    return {
        "image_id": number % 3,
        "category_id": 1 + number % 2,
        "segmentation": {"size": size, "counts": found["counts"].decode()},
        "score": number / 100,
    } | keys


def test_many_lists_are_read_as_one(tmp_path: Path) -> None:
    # Beside what is read of them: a box, other keys, white space, an object in the object.
    rows = [detection(n, bbox=[0, 0, 1, 1], extra={"a": {}}) for n in range(100)]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(rows, indent=1))
    fast, expected = fast_and_slow(str(path), "predictions", SHAPES)
    assert_equal(fast, expected)
    text = path.read_bytes()[1:]
    found = detections_listed((text[at : at + 700] for at in range(0, len(text), 700)), SHAPES)
    assert found is not None
    assert found.columns["score"].tolist() == [n / 100 for n in range(100)]
    assert found.shapes.mask.counts.tolist() == expected.shapes.mask.counts.tolist()
    assert found.shapes.mask.starts.tolist() == expected.shapes.mask.starts.tolist()


def of_mask(**keys: Any) -> dict[str, Any]:
    return detection(2, segmentation=detection(2)["segmentation"] | keys)


OTHERS = {
    "a polygon": detection(2, segmentation=[[0, 0, 9, 0, 9, 9]]),
    "no segmentation": detection(2, segmentation=None, bbox=[0, 0, 9, 9]),
    "counts as a list": of_mask(counts=[HEIGHT * WIDTH]),
    "counts that do not add up": of_mask(counts="01"),
    "a character that is none of counts": of_mask(counts="0é"),
    "a character beyond 64 bits": of_mask(counts="\U0001f40d"),
    "a size of 0": of_mask(size=[0, WIDTH], counts=""),
    "a size beyond 64 bits": of_mask(size=[1 << 70, 1]),
    "a huge size": of_mask(size=[1 << 21, 1 << 21]),
    "another type of id": detection(2, image_id="1"),
    "a score that is text": detection(2, score="1"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("chunk", [150, 1 << 18])
def test_anything_else_beside_masks(
    other: dict[str, Any], chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_objects, "CHUNKS", {"shape": chunk})
    for rows in ([detection(0), other, detection(1)], [other, detection(0), detection(1)]):
        path = tmp_path / "found.json"
        path.write_text(json.dumps(rows))
        check_doubtful(str(path), SHAPES)


def test_half_a_list_is_left_to_others() -> None:
    with pytest.raises(UnusualError):
        detections_listed([json.dumps([detection(0)]).encode()[1:-9]], SHAPES)
