"""Columns of a tape and rows read one by one give the same objects, or the same messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.corpus.reader import changed, objects_said
from valor_cli.data.inputs.objects import Reading, read_objects
from valor_cli.errors import DataError
from valor_cli.kernels import engine

numbers = st.integers(-2, 9) | st.sampled_from([0.5, 1e151, 2**70, "1", None, True, -0.0])
sides = st.integers(0, 9) | st.sampled_from([0.25, 7.0])
rings = st.lists(sides, min_size=6, max_size=6) | st.just([0, 0, 4, 0, 4, 4, 0, 0])
masks = st.fixed_dictionaries(
    {
        "size": st.just([2, 3]) | st.lists(numbers, max_size=3),
        "counts": st.sampled_from(["6", "222", "15", "é", [6], [1, 5], [2, -1, 5], [1.5, 4.5], 3]),
    }
)
wrong = st.lists(numbers, max_size=6) | numbers
geometries = st.fixed_dictionaries(
    {},
    optional={
        "box": st.lists(sides, min_size=4, max_size=4) | wrong,
        "bbox": st.lists(sides, min_size=4, max_size=4),
        "rotated_box": st.lists(sides, min_size=5, max_size=5) | wrong,
        "polygon": st.lists(rings, min_size=1, max_size=2) | st.lists(wrong, max_size=2) | wrong,
        "mask": masks | wrong,
        "segmentation": masks | st.lists(rings, max_size=2) | st.just({"type": "Polygon"}),
    },
)
objects = st.builds(
    lambda one, geometry: one | geometry,
    st.fixed_dictionaries(
        {"label": st.sampled_from(["cat", "dog", "", 3, None]), "score": numbers},
        optional={
            "Class": st.just("owl"),
            "id": st.integers(0, 3) | st.sampled_from(["a", 1.0, 2**60, None]),
            "crowd": st.sampled_from([0, 1, True, 2, 1.0, None, "1"]),
            "area": numbers,
        },
    ),
    geometries,
)
lines = st.fixed_dictionaries(
    {
        "image_id": st.integers(0, 3) | st.sampled_from(["a", "b", 1.0, 2**60, 2**64, None]),
        "objects": st.lists(objects, max_size=3),
    },
    optional={
        "width": st.sampled_from([3, 3.0, 0, None, -1]),
        "height": st.sampled_from([2, None, True]),
        "file_name": st.sampled_from(["a.jpg", None, 3]),
        "metadata": st.dictionaries(st.sampled_from("mn"), numbers, max_size=2) | st.none(),
        "m": numbers,
        "detections": st.lists(numbers | st.just({}), max_size=1),
    },
)


def outcome(path: str, role: Any, **options: Any) -> object:
    try:
        return objects_said(read_objects(path, role, Reading(**options)))
    except DataError as error:
        return str(error)


@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(lines, min_size=1, max_size=4),
    options=st.fixed_dictionaries(
        {
            "role": st.sampled_from(["ground_truth", "predictions"]),
            "wanted": st.sampled_from(["box", "shape"]),
            "invalid": st.sampled_from(["error", "skip"]),
            "metadata": st.sampled_from([(), ("m",)]),
        }
    ),
)
def test_lines_of_json(rows: list[Any], options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    by_columns = outcome(str(path), **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "compiled", None)
        one_by_one = outcome(str(path), **options)
    assert by_columns == one_by_one


def test_every_case_without_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "compiled", None)
    assert [case["name"] for case, _ in changed("objects", tmp_path)] == []
