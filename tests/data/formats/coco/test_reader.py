"""COCO files beyond what the corpus has."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.formats.coco.reader import read_objects
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.errors import DataError

Write = Callable[[Any], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_json(document: Any) -> str:
        path = tmp_path / "a.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    return write_json


def detection(image_id: int | str = 1, **changes: Any) -> dict[str, Any]:
    return {"image_id": image_id, "category_id": 3, "bbox": [1, 2.5, 3, 4], "score": 0.5} | changes


def test_the_collector_is_left_as_it_was(write: Write) -> None:
    assert gc.isenabled()
    with pytest.raises(DataError):
        read_objects(write("["), "predictions", Reading())
    assert gc.isenabled()
    path = write([detection()])
    read_objects(path, "predictions", Reading())
    assert gc.isenabled()
    gc.disable()
    try:
        read_objects(path, "predictions", Reading())
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_three_of_ten_thousand_problems_are_listed(write: Write) -> None:
    path = write([detection(score=None)] * 10_000)
    with pytest.raises(DataError) as caught:
        read_objects(path, "predictions", Reading())
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert lines[2] == f"{path}: [2].score: expected a number, found null"
    assert lines[3] == "… and 9,997 more like this"
