"""Drawings of examples: paths, frames, pictures, bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.drawings import DRAWING, Drawings, path

from valor_cli.reports.digests.errors.outcomes import counted, outcome_of
from valor_cli.results import EmbeddedImages, ExampleObject, ExampleResult, Picture, RunResult

Build = Callable[..., RunResult]

SQUARE = [[10, 10], [30, 10], [30, 30], [10, 30], [10, 10]]
TRIANGLE = [[50, 50], [60, 50], [60, 60]]
HOLE = [[15, 15], [15, 25], [25.04, 25], [15, 15]]


def _example(*objects: ExampleObject, picture: Picture | None = None) -> ExampleResult:
    return ExampleResult(
        "image_scores", "m", None, None, {}, "worst_image", 1, 0.2, picture, objects
    )


def _object(geometry: Mapping[str, Any] | None, **rest: Any) -> ExampleObject:
    fields: dict[str, Any] = {"role": "prediction", "id": 4, "label": "cat", "score": 0.8125}
    fields |= {"outcome": "background"} | rest
    return ExampleObject(geometry=geometry, **fields)


def _polygon(*rings: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def test_paths_worked_by_hand() -> None:
    assert path([SQUARE], 1) == "M10 10h20v20h-20z"
    # 25.04 is 25.0 to a tenth; the last point is the first
    assert path([SQUARE, HOLE], 1) == "M10 10h20v20h-20zM15 15v10h10z"
    assert path([[[0.26, 0], [1.01, 2.04], [0.5, 9]]], 1) == "M0.3 0l0.7 2l-0.5 7z"


def test_rounded_steps_do_not_drift() -> None:
    ring = [[i * 0.1234 * 3, i * 0.0877] for i in range(40)]
    x = y = 0.0
    for kind, step in re.findall(r"([Mlhv])([^Mlhvz]+)", path([ring], 1)):
        numbers = [float(one) for one in step.split()]
        x += numbers[0] if kind != "v" else 0
        y += numbers[-1] if kind != "h" else 0
    assert x == pytest.approx(ring[-1][0], abs=0.051)
    assert y == pytest.approx(ring[-1][1], abs=0.051)


def test_long_rings_are_thinned_within_the_tolerance() -> None:
    ring = [[100 + 90 * math.cos(i / 500), 100 + 90 * math.sin(i / 500)] for i in range(3141)]
    thin = path([ring], 2.0)
    steps = [float(n) for n in re.findall(r"-?[\d.]+", thin[thin.index("l") :])]
    assert len(steps) < 2 * 400
    assert max(map(abs, steps)) < 2.5


def test_a_drawing_names_what_it_shows() -> None:
    shape = {
        "type": "MultiPolygon",
        "coordinates": [[SQUARE, HOLE], [TRIANGLE]],
    }
    svg = Drawings(EmbeddedImages(), 1).draw(
        _example(_object(shape), picture=Picture("a.jpg", 100, 80))
    )
    assert svg is not None
    assert 'viewBox="0.0 0.0 100.0 80.0"' in svg
    assert '<rect class="ground" x="0.0" y="0.0" width="100.0" height="80.0"/>' in svg
    assert 'class="o background"' in svg
    assert "<title>prediction cat 0.812, background (4)</title>" in svg
    assert svg.count("z") - svg.count("size") == 3


def test_without_a_picture_s_size_the_shapes_make_the_frame() -> None:
    svg = Drawings(EmbeddedImages({"a.jpg": b"x"}), 1).draw(
        _example(_object(_polygon(SQUARE)), picture=Picture("a.jpg", None, None))
    )
    assert svg is not None
    assert 'viewBox="9.0 9.0 22.0 22.0"' in svg  # 20 wide, and a twentieth on either side
    assert "<use" not in svg


def test_a_case_is_drawn_from_close_by() -> None:
    example = replace(
        _example(_object(_polygon(SQUARE)), picture=Picture("a.jpg", 600, 400)),
        kind="hallucination",
    )
    svg = Drawings(EmbeddedImages(), 1).draw(example)
    assert svg is not None
    assert 'viewBox="0.0 0.0 200.0 133.3"' in svg  # a third, held inside the picture


def test_a_picture_is_embedded_once() -> None:
    photos = {"a.jpg": b"\xff\xd8one", "b.jpg": b"\xff\xd8two"}
    drawings = Drawings(EmbeddedImages(photos, links={"d.jpg": "images/d%20.jpg"}), 1)
    seen = [Picture(name, 100, 80) for name in ("a.jpg", "b.jpg", "a.jpg", "c.jpg", "d.jpg")]
    drawn = [drawings.draw(_example(picture=picture)) or "" for picture in seen]
    assert [re.findall('href="(.*?)"', svg) for svg in drawn] == [
        ["#p0"],
        ["#p1"],
        ["#p0"],
        [],
        ["#p2"],
    ]
    assert drawings.definitions().count("data:image/jpeg;base64,") == 2
    assert 'href="images/d%20.jpg"' in drawings.definitions()


def test_ink_is_bounded() -> None:
    few = Drawings(EmbeddedImages(), 2000)  # 500 characters each
    example = _example(*[_object(_polygon(SQUARE))] * 9)
    assert [few.draw(example) is None for _ in range(3)] == [False, True, True]
    assert few.draw(replace(example, model="other")) is not None


def test_of_many_objects_the_errors_are_drawn() -> None:
    right = [_object(_polygon(SQUARE), outcome="true_positive")] * 500
    wrong = [_object(_polygon(SQUARE), outcome="duplicate")] * 5
    svg = Drawings(EmbeddedImages(), 1).draw(_example(*right, *wrong))
    assert svg is not None
    assert svg.count('"o duplicate"') == 5
    assert 50 < svg.count('"o true_positive"') < 500
    assert len(svg) < DRAWING + 1000


def test_nothing_to_draw_is_none() -> None:
    empty: dict[str, Any] = {"type": "MultiPolygon", "coordinates": []}
    for geometry in (None, empty, _polygon([]), {"type": "Point", "coordinates": [1, 2]}):
        assert Drawings(EmbeddedImages(), 1).draw(_example(_object(geometry))) is None
    flat = _object(_polygon([[5, 5], [5, 5], [5, 5]]))  # a box of no area
    assert (
        Drawings(EmbeddedImages(), 1).draw(replace(_example(flat), kind="hallucination"))
        is not None
    )


@pytest.mark.parametrize(
    ("role", "outcome", "kind", "name"),
    [
        ("prediction", "", "misclassification", "classification"),
        ("prediction", "", "hallucination", "unmatched"),
        ("prediction", "unmatched_prediction", "unmatched_prediction", "unmatched"),
        ("ground_truth", "", "unmatched_ground_truth", "missed"),
        ("prediction", "", "true_positive", "true_positive"),
        ("prediction", "", "localisation", "localisation"),
        ("prediction", "duplicate", "worst_image", "duplicate"),
        ("ground_truth", "", "misclassification", "found"),
        ("ground_truth", "", "no_prediction", "missed"),
        ("ground_truth", "missed", "worst_image", "missed"),
        ("ground_truth", "ignored", "worst_image", "ignored"),
        ("ground_truth", "localisation", "localisation", "found"),
    ],
)
def test_outcomes(role: Any, outcome: str, kind: str, name: str) -> None:
    thing = _object(None, role=role, outcome=outcome)
    assert outcome_of(thing, kind).name == name
    assert counted(replace(_example(thing, thing), kind=kind)) == {name: 2}
