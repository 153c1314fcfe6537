"""Sound COCO files with segmentations: which geometry is read, and what its columns hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pycocotools.mask as reference
import pytest

from tests.data.readings import assert_equal
from valor_cli.data.formats.coco.diagnosis import diagnose_objects
from valor_cli.data.formats.coco.reader import decode_objects
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.kernels import engine
from valor_cli.kernels.geometry.shapes import MASK, POLYGON, Masks

REAL = Path(__file__).parents[3] / "real_data" / "detection" / "coco-val2014-100"
SHAPES = Reading("shape")


def both(path: str, request: Reading = SHAPES, *, truth: bool = False) -> ObjectFile:
    """What the fast reading finds, which the slow one finds too."""
    source = TextSource(path)
    document = parse_json(source.whole(), path)
    if truth:
        fast = decode_objects(source, "ground_truth", request)
        slow = diagnose_objects(document, source, "ground_truth", request)
    else:
        fast = decode_objects(source, "predictions", request)
        slow = diagnose_objects(document, source, "predictions", request)
    assert_equal(fast, slow)
    return slow


def runs(masks: Masks) -> list[list[int]]:
    return [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]


@pytest.mark.skipif(engine.compiled is None, reason="no kernel, no fast reading")
def test_masks_of_real_data() -> None:
    path = REAL / "groundtruth.coco.json"
    document = json.loads(path.read_text())
    found = both(str(path), truth=True)
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
