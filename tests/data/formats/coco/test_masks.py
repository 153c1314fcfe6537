"""Detections that are compressed masks alone: read at once they are as read one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pycocotools.mask as reference
import pytest

from tests.data.readings import assert_equal
from valor_cli.data.formats.coco import objects as coco_objects
from valor_cli.data.formats.coco.diagnosis import diagnose_objects
from valor_cli.data.formats.coco.objects import UnusualError, detections_listed
from valor_cli.data.formats.coco.reader import decode_objects
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError
from valor_cli.kernels import engine

pytestmark = pytest.mark.skipif(engine.compiled is None, reason="no kernel, no fast reading")

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
    fast, slow = TextSource(str(path)), TextSource(str(path))
    document = parse_json(slow.whole(), slow.path)
    expected = diagnose_objects(document, slow, "predictions", SHAPES)
    assert_equal(decode_objects(fast, "predictions", SHAPES), expected)
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
        source = TextSource(str(path))
        fast = decode_objects(source, "predictions", SHAPES)
        document = parse_json(source.whole(), source.path)
        try:
            slow = diagnose_objects(document, source, "predictions", SHAPES)
        except DataError:
            assert fast is None
            continue
        if fast is not None:
            assert_equal(fast, slow)


def test_half_a_list_is_left_to_others() -> None:
    with pytest.raises(UnusualError):
        detections_listed([json.dumps([detection(0)]).encode()[1:-9]], SHAPES)
