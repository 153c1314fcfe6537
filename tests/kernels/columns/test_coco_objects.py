"""Boxes of COCO straight into columns: what json reads, or nothing at all."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.engines import computing, guarded, needs_kernel
from valor_cli.kernels.columns.coco_objects import (
    AnnotatedBoxes,
    DetectedBoxes,
    DetectedMasks,
    allocate_boxes,
    allocate_masks,
    annotated_boxes,
    detected_boxes,
    detected_masks,
    member_of,
)

pytestmark = needs_kernel

LARGEST = 1e150
thorough = settings(derandomize=True, deadline=None, max_examples=50)


def detected(text: bytes) -> DetectedBoxes | None:
    """Detections of a text behind which there is no memory."""
    with guarded(text) as view:
        return detected_boxes(view, allocate_boxes(text), LARGEST)


def score_of(number: str) -> float | None:
    """A number as the reader reads it; None: it does not."""
    text = f'[{{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"score":{number}}}]'
    found = detected(text.encode())
    return None if found is None else float(found.score[0])


def bits(number: float) -> bytes:
    return np.float64(number).tobytes()


decimals = st.from_regex(
    r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


@thorough
@given(decimals)
@example("0.1")
@example("-0")
@example("-0e0")
@example("-0.0")
@example("9007199254740993")
@example("9007199254740993.0000000000000000000000001")
@example("18446744073709551615")
@example("99999999999999999999")
@example("0.000000000000000000000000000012345")
@example("1.7976931348623157e308")
@example("5e-324")
@example("2.2250738585072011e-308")
@example("1e22")
@example("1e23")
@example("9007199254740991e22")
@example("0.500000000000000166533453693773481063544750213623046875")
@example("1844674407370955161.5")
@example("1e0001")
def test_every_number_is_the_one_that_python_reads(number: str) -> None:
    found = score_of(number)
    # Whole numbers are read as such: "-0" is 0, "-0.0" is not.
    expected = float(json.loads(number)) if len(number) < 300 else float(number)
    if found is not None:
        assert bits(found) == bits(expected)
    else:
        # Left to the general reader: what is beyond all doubles, or is written at great length.
        assert math.isinf(expected) or "e" in number.lower()


@thorough
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([repr, "{:.17g}".format, "{:.6f}".format, "{:e}".format]),
)
def test_every_double_comes_back(number: float, written: Any) -> None:
    text = written(number)
    found = score_of(text)
    assert found is not None
    assert bits(found) == bits(float(json.loads(text)))


@pytest.mark.parametrize("down", [1, 2, 5, 16, 22, 23, 27])
def test_numbers_next_to_the_middle_of_two_doubles(down: int) -> None:
    # The decimals of 19 digits on both sides of each middle.
    drawn = np.random.default_rng(down)
    for _ in range(50):
        low = float(drawn.integers(1, 2**53)) / 10.0**down
        middle = (low + math.nextafter(low, math.inf)) / 2
        digits = int(middle * 10**down) if middle * 10**down < 1e19 else 10**19 - 1
        for near in range(max(digits - 2, 1), digits + 3):
            text = f"{near}e-{down}"
            assert bits(score_of(text) or 0.0) == bits(float(text)), text


@pytest.mark.parametrize(
    "number",
    ["", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1", "1_0", "Infinity", "NaN", "nan"]
    + ["null", "true", '"1"', "[1]", "1 2", "1e400", "--1", "1.e3", "00", "1.5.5", "1e999999999"],
)
def test_what_is_no_number_of_json_is_left_to_others(number: str) -> None:
    assert score_of(number) is None


SOUND = '{"image_id": 7, "category_id": 3, "bbox": [1.5, 2, 3e1, 4.25], "score": 0.875}'


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("[]", 0),
        (" [ \n] ", 0),
        (f"[{SOUND}]", 1),
        (f"\t[{SOUND} ,\r\n{SOUND}]\n", 2),
        (f'[{SOUND[:-1]}, "segmentation": [[1, 2.5, -3e2]], "iscrowd": 0}}]', 1),
        (f'[{SOUND[:-1]}, "id": null, "size": {{"a": [true, "x\\\\\\"y"]}}}}]', 1),
        (f'[{SOUND[:-1]}, "name": "käse"}}]', 1),
        ('[{"score":1,"bbox":[0,0,0,0],"category_id":-5,"image_id":0}]', 1),
    ],
    ids=["empty", "white", "one", "two", "more keys", "deeper", "no ascii", "other order"],
)
def test_usual_lists_are_read(text: str, rows: int) -> None:
    found = detected(text.encode())
    assert found is not None
    expected = json.loads(text)
    assert len(found.score) == rows == len(expected)
    for name, column in found._asdict().items():
        assert column.tolist() == [row[name] for row in expected]


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "]", "{}", "[{}]", SOUND),
        *(f"[{SOUND}", f"[{SOUND},]", f"[{SOUND}{SOUND}]", f"[{SOUND}] x", f"[{SOUND}]]"),
        *(f"[,{SOUND}]", f"[null, {SOUND}]"),
        f"[{SOUND[:-1]},}}]",
        *(
            f"[{SOUND[:-1]}, {more}}}]"
            for more in (
                *('"score": 0.5', '"x": ', '"x": [1,]', '"x": tru', '"x": "\\u0041"', "x: 1"),
                *('"x": "\\x"', '"x": "\n"', '"\\u0041": 1', '"x": 1e999'),
                f'"x": {"[" * 40}{"]" * 40}',
            )
        ),
        *(
            f"[{SOUND.replace(usual, unusual)}]"
            for usual, unusual in (
                *(("7", "7.0"), ("7", "1234567890123456"), ("7", "-0"), (": 7", ': "7"')),
                *(("3e1", "-3"), ("1.5", "1e151"), (", 4.25", ""), ("4.25", "4.25, 1")),
                *(("0.875", "null"), ("score", "scores"), ("{", "{ \x0b")),
            )
        ),
        "\ufeff[" + SOUND + "]",
    ],
)
def test_unusual_lists_are_left_to_others(text: str) -> None:
    assert detected(text.encode()) is None


rows = st.fixed_dictionaries(
    {
        "image_id": st.integers(-(10**15) + 1, 10**15 - 1),
        "category_id": st.integers(0, 90),
        "bbox": st.lists(st.floats(0, 1e6) | st.integers(0, 10**6), min_size=4, max_size=4),
        "score": st.floats(0, 1) | st.floats(-1e300, 1e300),
    },
    optional={"x": st.recursive(st.none() | st.text(max_size=4), st.lists, max_leaves=4)},
)
lists = st.builds(
    lambda found, indent, gaps: json.dumps(
        found, indent=indent, separators=gaps, ensure_ascii=False
    ),
    st.lists(rows, max_size=4),
    st.sampled_from([None, 0, 2]),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\r\n:")]),
)


def assert_read_as_json_does(text: bytes) -> None:
    """Whatever is read is what json reads; what json refuses is not read."""
    found = detected(text)
    if found is None:
        return
    expected = json.loads(text)
    assert isinstance(expected, list)
    for name, column in found._asdict().items():
        mine = [
            [float(side) for side in row[name]] if name == "bbox" else row[name] for row in expected
        ]
        assert np.array_equal(column, np.array(mine, column.dtype).reshape(column.shape))


@thorough
@given(lists)
def test_lists_are_read_as_json_reads_them(text: str) -> None:
    assert_read_as_json_does(text.encode())


@thorough
@given(lists, st.data())
def test_damaged_lists_are_never_misread(text: str, data: st.DataObject) -> None:
    damaged = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1)) if damaged else 0
        kind = data.draw(st.sampled_from(["flip", "cut", "insert"]))
        if kind == "flip" and damaged:
            damaged[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del damaged[at:]
        else:
            damaged[at:at] = data.draw(
                st.sampled_from([b",", b"}", b"]", b"1", b"\\", b'"', b" ", b"e"])
            )
    try:
        json.loads(damaged, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        # Some texts that are no UTF-8 are only found to be so by who reads the file.
        try:
            damaged.decode()
        except UnicodeDecodeError:
            return
        assert detected(bytes(damaged)) is None
    else:
        assert_read_as_json_does(bytes(damaged))


def test_no_byte_behind_a_text_is_read() -> None:
    text = f'[{SOUND[:-1]}, "x": [true, null, "a\\\\"], "y": -1.5e-3}}, {SOUND}]'.encode()
    for end in range(len(text)):
        assert detected(text[:end]) is None
    assert detected(text) is not None


def test_more_detections_than_there_is_room_for_are_left_to_others() -> None:
    text = f"[{SOUND}, {SOUND}]".encode()
    room = DetectedBoxes(
        np.empty(1, np.int64), np.empty(1, np.int64), np.empty((1, 4)), np.empty(1)
    )
    assert detected_boxes(text, room, LARGEST) is None


ANNOTATION = (
    '{"id": 5, "image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 0.5], "area": 1.25, "iscrowd": 1}'
)


def annotated(text: str) -> AnnotatedBoxes | None:
    with guarded(text.encode()) as view:
        return annotated_boxes(view, LARGEST)


def test_annotations() -> None:
    other = (
        '{"image_id": 8, "category_id": 1, "bbox": [0, 0, 0.5, 3], "id": 6, "keypoints": [1, 2]}'
    )
    found = annotated(f"[{ANNOTATION}, {other}]")
    assert found is not None
    assert found.id is not None
    assert found.id.tolist() == [5, 6]
    assert found.image_id.tolist() == [7, 8]
    assert found.category_id.tolist() == [3, 1]
    assert found.bbox.tolist() == [[1, 2, 3, 0.5], [0, 0, 0.5, 3]]
    # Width times height where there is no area; no crowd where nothing is said of it.
    assert found.area.tolist() == [1.25, 1.5]
    assert found.crowd.tolist() == [True, False]


@pytest.mark.parametrize(
    ("value", "crowd"), [("0", False), ("1", True), ("false", False), ("true", True)]
)
def test_a_crowd_is_a_number_or_a_truth_value(value: str, crowd: bool) -> None:
    found = annotated(f"[{ANNOTATION.replace(': 1}', f': {value}}}')}]")
    assert found is not None
    assert found.crowd.tolist() == [crowd]


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [(": 1}", f": {value}}}") for value in ("2", "-1", "1.0", "null", '"1"', "tru", "01", "10")]
    + [("1.25", value) for value in ("-1", "null", "NaN", '"3"')],
)
def test_unusual_annotations_are_left_to_others(usual: str, unusual: str) -> None:
    assert annotated(f"[{ANNOTATION.replace(usual, unusual)}]") is None


def test_without_ids() -> None:
    without = ANNOTATION.replace('"id": 5, ', "")
    found = annotated(f"[{without}, {without}]")
    assert found is not None
    assert found.id is None
    # Some with and some without are for the general reader to speak of.
    assert annotated(f"[{without}, {ANNOTATION}]") is None
    assert annotated(f"[{ANNOTATION}, {without}]") is None
    none = annotated("[]")
    assert none is not None
    assert len(none.image_id) == 0


def test_members() -> None:
    text = b' {"images": [1, {"a": "}"}], "annotations" : [ {} ] , "x": null}\n'
    at = member_of(text, "annotations")
    assert at is not None
    assert text[at] == b"[ {} ]"
    at = member_of(text, "x")
    assert at is not None
    assert text[at] == b"null"
    assert member_of(text, "categories") is None


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"{}", b"[]", b'{"a": 1', b'{"a": 1} x', b'{"a": 1, "a": 2}', b'{"a": [}']
    + [b'{"a" 1}', b'{"\\u0061": 1}', b'{"a": 1,}', b'{"a": 1 "b": 2}', b"null"]
    + [b"{" + b",".join(b'"k%d": 1' % n for n in range(70)) + b', "a": 1}'],
)
def test_members_of_what_is_unusual(text: bytes) -> None:
    assert member_of(text, "a") is None


def test_without_a_kernel_all_is_left_to_others() -> None:
    with computing(compiled=False):
        assert detected_boxes(b"[]", allocate_boxes(b"[]"), LARGEST) is None
        assert annotated_boxes(b"[]", LARGEST) is None
        assert member_of(b'{"a": 1}', "a") is None


MASK = (
    '{"image_id": 7, "category_id": 3, "segmentation": {"size": [4, 6], "counts": "a\\\\b0"},'
    ' "score": 0.875}'
)
LARGEST_SIDE = 100


def masked(text: str) -> DetectedMasks | None:
    with guarded(text.encode()) as view:
        return detected_masks(view, allocate_masks(view), LARGEST_SIDE)


def test_masks() -> None:
    other = (
        '{"score": 1, "bbox": [0, 0, -1, null], "category_id": 1, "image_id": 8, '
        '"segmentation": {"counts": "", "x": [1], "size": [100, 1]}, "id": "x"}'
    )
    found = masked(f"[{MASK}, {other}]")
    assert found is not None
    assert found.image_id.tolist() == [7, 8]
    assert found.category_id.tolist() == [3, 1]
    assert found.score.tolist() == [0.875, 1]
    assert found.size.tolist() == [[4, 6], [100, 1]]
    # A backslash is written as two, as JSON has it.
    assert found.letters.tobytes() == b"a\\b0"
    assert found.length.tolist() == [4, 0]


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        ("[4, 6]", size)
        for size in ("[0, 6]", "[4, 101]", "[4]", "[4, 6, 1]", "[4.0, 6]", '["4", 6]')
    ]
    + [("b0", letters) for letters in ("\\n", "\\u0041", "é", '\\"', "\\")]
    + [
        ("[4, 6]", '["4", 6]'),
        ('"size"', '"sizes"'),
        ('"counts"', '"count"'),
        ('"counts": ', '"counts": [1, 2], "x": '),
        ('"counts": ', '"counts": "a", "counts": '),
        ("0.875", "null"),
        ('{"size": [4, 6], ', "{"),
        ('"segmentation": {', '"segmentation": [{'),
        ('"segmentation": ', '"segmentation": null, "x": '),
    ],
)
def test_unusual_masks_are_left_to_others(usual: str, unusual: str) -> None:
    assert usual in MASK
    assert masked(f"[{MASK.replace(usual, unusual)}]") is None


def test_no_byte_behind_masks_is_read_and_no_letter_behind_the_room_written() -> None:
    text = f"[{MASK}, {MASK}]"
    for end in range(len(text)):
        assert masked(text[:end]) is None
    room = allocate_masks(text.encode())
    assert detected_masks(text.encode(), room, LARGEST_SIDE) is not None
    assert detected_masks(text.encode(), room._replace(letters=room.letters[:7]), 100) is None
