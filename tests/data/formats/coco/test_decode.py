"""The fast reading of COCO files equals the slow one, and both equal the standard library's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.readings import assert_equal, fast_and_slow
from valor_cli.data.formats.coco import objects as coco_objects
from valor_cli.data.formats.coco.reader import decode_objects, read_objects
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels import engine

pytestmark = pytest.mark.skipif(engine.compiled is None, reason="no kernel, no fast reading")

BOXES = Reading("box")


derandomized = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# Tiny numbers are read one by one.
sizes = st.floats(0, 1e6) | st.floats(0, LARGEST_COORDINATE)
sides = st.integers(0, 2**70) | sizes.map(lambda side: side if side > 1e-280 else 0.0)
scores = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**64), 2**64)
ids = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 90)
# What could mislead a cut: objects side by side, in a string or for real.
extras = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.just('"},{"') | st.just("}, {\\"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@st.composite
def detections(draw: st.DrawFn) -> list[dict[str, Any]]:
    image_ids = draw(st.sampled_from([ids, st.text(max_size=4)]))
    row = st.fixed_dictionaries(
        {
            "image_id": image_ids,
            "category_id": ids,
            "bbox": st.tuples(sides, sides, sides, sides).map(list),
            "score": scores,
        },
        optional={"x": extras, "segmentation": extras},
    )
    return draw(st.lists(row, max_size=12))


@st.composite
def texts(draw: st.DrawFn, document: Any) -> str:
    """A document with one of many layouts, and some letters of keys escaped."""
    space = draw(st.sampled_from(["", " ", "\n", "\r\n\t"]))
    text = json.dumps(
        document,
        indent=draw(st.sampled_from([None, 0, 3])),
        separators=(space + "," + space, ":" + space),
        ensure_ascii=draw(st.booleans()),
    )
    if draw(st.booleans()):
        text = text.replace('"score"', '"\\u0073core"').replace('"bbox"', '"\\u0062b\\u006fx"')
    return space + text + space


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {
        "image_id": [row["image_id"] for row in rows],
        "category_id": [row["category_id"] for row in rows],
        "score": [float(row["score"]) for row in rows],
    }


def assert_same(found: ObjectFile, rows: list[dict[str, Any]]) -> None:
    listed = {name: column.tolist() for name, column in found.objects.columns.items()}
    assert listed == columns_of(rows)
    boxes = np.array([row["bbox"] for row in rows], dtype=np.float64).reshape(-1, 4)
    assert found.shapes.box.tolist() == boxes.tolist()
    assert (len(found.shapes), found.shapes.kinds) == (len(rows), ("box",) * bool(rows))
    # Equality does not tell -0.0 from 0.0.
    assert np.signbit(found.shapes.box).tolist() == np.signbit(boxes).tolist()


@derandomized
@given(data=st.data())
@pytest.mark.parametrize("chunk", [64, 1 << 18])
def test_results_are_those_of_the_standard_library(
    data: st.DataObject, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_objects, "CHUNKS", {"box": chunk, "shape": chunk})
    text = data.draw(detections().flatmap(texts))
    path = tmp_path / "dt.json"
    path.write_bytes(text.encode())
    rows = json.loads(text)
    fast = read_objects(str(path), "predictions", Reading())
    _, slow = fast_and_slow(str(path), "predictions", BOXES)
    assert_same(fast, rows)
    assert_same(slow, rows)
    assert fast.files == slow.files
    assert fast.objects["image_id"].dtype == slow.objects["image_id"].dtype


image_keys = st.fixed_dictionaries(
    {},
    optional={
        "width": st.none() | st.integers(0, 2**20),
        "height": st.none() | st.integers(0, 2**20),
        "file_name": st.none() | st.text(max_size=3),
    },
)
values = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=5)


@derandomized
@given(data=st.data())
def test_ground_truth_is_that_of_the_slow_reading(data: st.DataObject, tmp_path: Path) -> None:
    image_ids = data.draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    optional = {"area": sides, "iscrowd": st.sampled_from([0, 1, True, False]), "x": extras}
    row = st.fixed_dictionaries(
        {
            "image_id": st.sampled_from(image_ids),
            "category_id": st.sampled_from([1, 2]),
            "bbox": st.tuples(sides, sides, sides, sides).map(list),
        },
        optional=optional,
    )
    document = {
        "images": [
            {"id": image_id, "x": data.draw(values)} | data.draw(image_keys)
            for image_id in image_ids
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": data.draw(st.text())}],
        "annotations": data.draw(st.lists(row, max_size=6)),
    }
    path = tmp_path / "gt.json"
    path.write_bytes(data.draw(texts(document)).encode())
    assert_equal(*fast_and_slow(str(path), "ground_truth", Reading("box", metadata=["x"])))


number_literals = st.from_regex(
    r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,2})?", fullmatch=True
)


@settings(derandomized, max_examples=100)
@given(literal=number_literals)
def test_float_literals_are_read_exactly(literal: str, tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    path.write_text(
        f'[{{"image_id":1,"category_id":2,"bbox":[{literal},0,1,1],"score":{literal}}}]'
    )
    found = decode_objects(TextSource(str(path)), "predictions", BOXES)
    assert found is not None
    expected = float(json.loads(literal))
    assert found.objects["score"].tolist() == [expected]
    assert found.shapes.box[0, 0] == expected


@settings(derandomized, max_examples=100)
@given(value=st.floats(0, LARGEST_COORDINATE / 2), extra=st.integers(0, 40))
def test_long_float_literals_are_read_exactly(value: float, extra: int, tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    # More digits than a float64 has: near halfway between two of them, where rounding is hard.
    literal = f"{(value + np.nextafter(value, np.inf)) / 2:.{extra}e}"
    path.write_text(f'[{{"image_id":1,"category_id":2,"bbox":[0,0,1,{literal}],"score":1}}]')
    found = decode_objects(TextSource(str(path)), "predictions", BOXES)
    assert found is not None
    assert found.shapes.box[0, 3] == json.loads(literal)


def test_numbers_that_are_hard_to_round() -> None:
    literals = [
        "9007199254740993",
        "9007199254740993.0",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4703282292062327208e-324",
        "0.500000000000000166533453693773481063544750213623046875",
        "1.00000000000000011102230246251565404236316680908203125",
        "-0.0",
        "1e-400",
    ]
    rows = ",".join(
        f'{{"image_id":1,"category_id":2,"bbox":[0,0,1,1],"score":{literal}}}'
        for literal in literals
    )
    found = coco_objects.detections_listed([f"{rows}]".encode()], BOXES)
    assert found is not None
    scores = found.columns["score"]
    assert scores.tolist() == [float(json.loads(literal)) for literal in literals]
    assert np.signbit(scores).tolist() == [literal == "-0.0" for literal in literals]


GOOD = '{"image_id":1,"category_id":3,"bbox":[1,2,3,4],"score":0.5}'


@pytest.mark.parametrize(
    "text",
    [
        f"[{GOOD},{GOOD}]",
        f"[{GOOD.replace('1', '9007199254740993', 1)}]",
        f"[{GOOD.replace('1', chr(34) + 'a' + chr(34), 1)}]",
        f'{{"annotations":[{GOOD}],"categories":[{{"id":3,"name":"cat"}}]}}',
        "[]",
    ],
)
def test_sound_files_are_read_fast(text: str, tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    path.write_text(text)
    assert decode_objects(TextSource(str(path)), "predictions", BOXES) is not None


@pytest.mark.parametrize(
    "text",
    [
        f"[{GOOD},{GOOD}",
        f"[{GOOD},{GOOD},]",
        f"[,{GOOD}]",
        f"[{GOOD},\v{GOOD}]",
        f"[{GOOD}]]",
        f"[{GOOD.replace('score', 'sc' + chr(10) + 'ore')},{GOOD}]",
        f"[{GOOD.replace(',', ',' + chr(34) + 'a' + chr(10) + chr(34) + ':1,', 1)}]",
        f"[{GOOD}] []",
        f"[{GOOD.replace('0.5', '1e999')}]",
        f"[{GOOD.replace('[1,2,3,4]', '[1,2,3,4,5]')}]",
        f"[{GOOD.replace('[1,2,3,4]', '[1,2,-3,4]')}]",
        f"[{GOOD.replace('1', '1.5', 1)}]",
        f"[{GOOD},{GOOD.replace('1', chr(34) + 'a' + chr(34), 1)}]",
        f"[{GOOD.replace('1', '9223372036854775808', 1)}]",
    ],
)
@pytest.mark.parametrize("chunk", [8, 70, 1 << 18])
def test_faulty_files_are_left_to_the_slow_reading(
    text: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_objects, "CHUNKS", {"box": chunk, "shape": chunk})
    path = tmp_path / "dt.json"
    path.write_text(text)
    assert decode_objects(TextSource(str(path)), "predictions", BOXES) is None


def test_a_wrong_cut_is_noticed_and_read_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = json.dumps({"x": '"},{"image_id":5}]', "y": [{"image_id": 1}, {"image_id": 2}]})
    text = f"[{GOOD[:-1]},{extra[1:]},{GOOD}]"
    path = tmp_path / "dt.json"
    path.write_text(text)
    for chunk in range(1, len(text) + 1, 3):
        monkeypatch.setattr(coco_objects, "CHUNKS", {"box": chunk, "shape": chunk})
        assert_same(read_objects(str(path), "predictions", Reading()), json.loads(text))
