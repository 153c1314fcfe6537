"""COCO panoptic files as objects, and what is said of those that cannot be used."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.oracles.coco_masks import bitmaps
from valor_cli.data.formats.panoptic import reader
from valor_cli.data.formats.panoptic.listing import is_panoptic
from valor_cli.data.formats.panoptic.segments import segment_masks
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.kernels.geometry.masks import from_bitmap

CATEGORIES = [
    {"id": 1, "name": "person", "isthing": 1},
    {"id": 184, "name": "tree", "isthing": 0},
]
# 66051 = 3 + 256 * 2 + 65536 * 1.
IDS = np.array([[66051, 66051, 0, 7], [66051, 0, 0, 7], [7, 7, 7, 7]])


def read_panoptic(path: str, role: Role, **how: Any) -> ObjectFile:
    return reader.read_objects(path, role, Reading(**{"wanted": "shape", **how}))


def png(path: Path, ids: np.ndarray) -> None:
    """An RGB image, channel by channel."""
    channels = [ids % 256, ids // 256 % 256, ids // 65536]
    Image.fromarray(np.stack(channels, -1).astype(np.uint8)).save(path)


def document(**changes: Any) -> dict[str, Any]:
    segments = [
        {"id": 7, "category_id": 184, "iscrowd": 0, "area": 6, "bbox": [0, 0, 4, 3]},
        {"id": 66051, "category_id": 1, "iscrowd": 1, "area": 3, "bbox": [0, 0, 2, 2]},
    ]
    return {
        "images": [
            {"id": 139, "width": 4, "height": 3, "file_name": "139.jpg", "weather": "rain"},
            {"id": 285, "file_name": "285.jpg"},
        ],
        "annotations": [{"image_id": 139, "file_name": "139.png", "segments_info": segments}],
        "categories": CATEGORIES,
    } | changes


def written(folder: Path, content: Any, ids: np.ndarray = IDS) -> str:
    path = folder / "gt.json"
    path.write_text(json.dumps(content))
    (folder / "gt").mkdir()
    png(folder / "gt" / "139.png", ids)
    return str(path)


def test_ground_truth(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    found = read_panoptic(path, "ground_truth", metadata=["weather"])
    columns = {name: column.tolist() for name, column in found.objects.columns.items()}
    assert columns == {
        "id": ["139:7", "139:66051"],
        "image_id": [139, 139],
        "category_id": [184, 1],
        "area": [6.0, 3.0],
        "crowd": [False, True],
    }
    tree, person = bitmaps(found.shapes.mask)
    assert np.array_equal(tree, IDS == 7)
    assert np.array_equal(person, IDS == 66051)
    assert found.images is not None
    assert found.images["id"].tolist() == [139, 285]
    assert found.images["width"].tolist() == [4, 0]
    assert found.images["file_name"].tolist() == ["139.jpg", "285.jpg"]
    assert found.categories is not None
    assert found.categories["isthing"].tolist() == [1, 0]
    assert found.metadata == {"weather": ["rain", None]}
    assert not found.warnings
    assert found.objects.place_of(1) == f"{path}: annotations[0].segments_info"


def test_the_files_that_were_read(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    one, pngs = read_panoptic(path, "ground_truth").files
    content = (tmp_path / "gt.json").read_bytes()
    assert (one.path, one.sha256, one.rows) == (path, hashlib.sha256(content).hexdigest(), 2)
    inner = hashlib.sha256((tmp_path / "gt" / "139.png").read_bytes()).hexdigest()
    listing = f"{inner}  139.png\n".encode()
    assert (pngs.path, pngs.sha256) == (
        str(tmp_path / "gt"),
        hashlib.sha256(listing).hexdigest(),
    )


def test_what_is_a_panoptic_file(tmp_path: Path) -> None:
    path = written(tmp_path, document())
    assert is_panoptic(path)
    other = tmp_path / "coco.json"
    other.write_text('{"annotations": [{"segmentation": []}]}')
    assert not is_panoptic(str(other))
    (tmp_path / "coco").mkdir()
    assert not is_panoptic(str(other))
    assert not is_panoptic("-")


def test_the_key_is_found_where_the_text_is_cut(tmp_path: Path) -> None:
    (tmp_path / "gt").mkdir()
    path = tmp_path / "gt.json"
    for lead in range((1 << 17) - 20, (1 << 17) + 4):
        path.write_text(" " * lead + '{"segments_info": []}')
        assert is_panoptic(str(path))


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_a_map_are_those_of_its_bitmaps(seed: int) -> None:
    rng = random.Random(seed)
    ids = np.array([[rng.choice((0, 5, 900, 16777215)) for _ in range(7)] for _ in range(5)])
    if seed % 2:
        ids = np.repeat(np.repeat(ids, 3, axis=0), 4, axis=1)
    segments = np.array([5, 900, 16777215])
    masks, wrong = segment_masks(ids.astype(np.uint32), segments)
    assert not wrong
    for row, one in enumerate(segments):
        expected = from_bitmap(ids == one)
        own = masks.counts[masks.starts[row] : masks.starts[row + 1]]
        assert own.tolist() == expected.counts.tolist()
        assert masks.size[row].tolist() == list(ids.shape)
