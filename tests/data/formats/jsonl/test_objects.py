"""JSONL of objects beyond what the corpus has: many blocks, and files of pixels."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

CAT = {"label": "cat", "box": [1, 2, 3, 4], "score": 0.5}


def write(*lines: Any) -> str:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    Path("a.jsonl").write_text(text + "\n")
    return "a.jsonl"


def image(*objects: Any, **more: Any) -> dict[str, Any]:
    return {"image_id": 1, **more, "objects": list(objects)}


def error(*lines: Any, role: Any = "predictions", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_objects(write(*lines), role, Reading(**options))
    return str(caught.value)


def test_blocks_are_cut_between_lines() -> None:
    rows = [{"image_id": f"i{at}", "objects": [CAT] * 200} for at in range(60)]
    Path("a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = read_objects("a.jsonl.gz", "predictions", Reading())
    assert found.objects["image_id"].tolist() == [f"i{at}" for at in range(60) for _ in range(200)]
    assert found.objects.place_of(200 * 59) == "a.jsonl.gz:60"


def test_a_mask_is_a_png_by_its_content() -> None:
    # The pixels of a JPEG are not those that were saved.
    Image.new("L", (3, 2), 1).save("a.jpg")
    Path("a.jpg").rename("a.png")
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "objects[0].mask: a.png: expected a PNG; this is another kind of file" in message


def test_a_png_of_too_many_pixels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (50, 50)).save("a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    message = error(image({"label": "cat", "mask": "a.png"}), role="ground_truth")
    assert "a.png: the image has more than 89,478,485 pixels" in message
