"""A COCO file read fast and slowly, and whether two readings hold the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from valor_cli.data.formats.coco.diagnosis import diagnose_objects
from valor_cli.data.formats.coco.reader import decode_objects
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes


def fast_and_slow(path: str, role: Any, reading: Reading) -> tuple[ObjectFile | None, ObjectFile]:
    """What the fast reading finds, if it can be used, and what the slow one does."""
    source = TextSource(path)
    document = parse_json(source.whole(), path)
    fast = decode_objects(source, role, reading)
    return fast, diagnose_objects(document, source, role, reading)


def check_doubtful(path: str, reading: Reading) -> ObjectFile | None:
    """Detections that are found fast are found slowly; None: they have faults, and are not."""
    try:
        fast, slow = fast_and_slow(path, "predictions", reading)
    except DataError:
        assert decode_objects(TextSource(path), "predictions", reading) is None
        return None
    if fast is not None:
        assert_equal(fast, slow)
    return slow


def listed(columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    # Text tells NaN from a number and equals itself, and -0.0 from 0.0.
    return {name: (repr(column.tolist()), column.dtype) for name, column in columns.items()}


def assert_equal(fast: ObjectFile | None, slow: ObjectFile) -> None:
    """Two readings hold the same, to the last bit."""
    assert fast is not None
    for name in ("objects", "images", "categories"):
        left, right = getattr(fast, name), getattr(slow, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert listed(left.columns) == listed(right.columns)
            assert left.place == right.place
    assert listed(arrays_of(fast.shapes)) == listed(arrays_of(slow.shapes))
    assert (fast.metadata, fast.files) == (slow.metadata, slow.files)


def arrays_of(shapes: Shapes) -> dict[str, NDArray[Any]]:
    polygon, mask = shapes.polygon, shapes.mask
    return {
        "kind": shapes.kind,
        "box": shapes.box,
        "points": polygon.points,
        "rings": polygon.rings,
        "parts": polygon.parts,
        "objects": polygon.objects,
        "counts": mask.counts,
        "starts": mask.starts,
        "size": mask.size,
    }
