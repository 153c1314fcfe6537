"""COCO JSON files come in; tables of images, categories, annotations or detections go out."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from valor_cli.readers.coco_decode import decode_ground_truth, decode_results
from valor_cli.readers.coco_diagnosis import diagnose_ground_truth, diagnose_results
from valor_cli.readers.coco_tables import CocoGroundTruth, CocoResults
from valor_cli.readers.files import TextSource
from valor_cli.readers.json_document import parse_json
from valor_cli.readers.table import InvalidRows

__all__ = ["CocoGroundTruth", "CocoResults", "read_ground_truth", "read_results"]


def read_ground_truth(
    path: str, *, metadata: Sequence[str] = (), invalid: InvalidRows = "error"
) -> CocoGroundTruth:
    """COCO ground truth: an object with images, annotations and categories.

    An annotation without `area` has width * height, without `iscrowd` it is no crowd. If no
    annotation has an `id`, ids count from 1 in file order. Other keys are not looked at.

    Args:
        path: The file, plain or gzip, or "-" for standard input.
        metadata: Names to read for every image, from its "metadata" object or else from itself.
        invalid: "skip" leaves out annotations that cannot be used and counts them; faults of
            images and categories are errors always.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id stands
            twice or names nothing; no image has metadata of a name.
    """
    source = TextSource(path)
    with _collector_paused():
        found = decode_ground_truth(source, metadata)
        if found is None:
            document = parse_json(source.whole(), path)
            found = diagnose_ground_truth(document, source, metadata, invalid)
    return found


def read_results(path: str, *, invalid: InvalidRows = "error") -> CocoResults:
    """COCO detections: a results list, or a full COCO dictionary whose annotations have a score.

    An empty list is legal. Image ids, and category ids of a results list, may be any: whether
    they are known is for the ground truth to say.

    Args:
        path: The file, plain or gzip, or "-" for standard input.
        invalid: "skip" leaves out detections that cannot be used and counts them.

    Raises:
        DataError: The file cannot be read or holds no box detections, or a value is wrong.
    """
    source = TextSource(path)
    with _collector_paused():
        found = decode_results(source)
        if found is None:
            found = diagnose_results(parse_json(source.whole(), path), source, invalid)
    return found


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the garbage collector: it would walk millions of live JSON values again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
