"""Read COCO JSON: ground truth and detections."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

from valor_cli.data.formats.coco.decode import decode_ground_truth, decode_results
from valor_cli.data.formats.coco.tables import Request
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import InvalidRows


def read_objects(path: str, role: Role, reading: Reading) -> ObjectFile:
    """The objects of a COCO file; see `read_ground_truth` and `read_results`.

    Raises:
        DataError: As these do.
    """
    wanted, fields, invalid = reading.wanted, reading.fields, reading.invalid
    if role == "predictions":
        return read_results(path, wanted=wanted, fields=fields, invalid=invalid)
    return read_ground_truth(
        path, metadata=reading.metadata, wanted=wanted, fields=fields, invalid=invalid
    )


def read_ground_truth(
    path: str,
    *,
    metadata: Sequence[str] = (),
    wanted: Wanted = "box",
    fields: Set[str] = frozenset(),
    invalid: InvalidRows = "error",
) -> ObjectFile:
    """Read COCO ground truth: an object with images, annotations and categories.

    An annotation without `iscrowd` is no crowd; one without `area` has width * height if it is a
    box, else NaN. If no annotation has an `id`, ids count from 1 in file order. A segmentation is
    a list of polygons, or run lengths of the size of the image. Other keys are not looked at.

    Args:
        path: The file, plain, gzip or zstd, or "-" for standard input.
        metadata: Names to read for every image, from its "metadata" object or else from itself.
        wanted: "box" takes bbox, and the segmentation of annotations without; "shape" the other
            way about. What is not taken is not looked at.
        fields: "keypoints" adds that column, with zeros for annotations without; "federated" adds
            LVIS's `negative` and `not_exhaustive` of images and `frequency` of categories. What
            the file does not have becomes no column.
        invalid: "skip" leaves out annotations that cannot be used and counts them; faults of
            images and categories are errors always.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id is duplicate
            or unknown; no image has metadata of a name.
    """
    source, request = TextSource(path), Request(wanted, fields)
    with collector_paused():
        found = decode_ground_truth(source, metadata, request)
        if found is None:
            from valor_cli.data.formats.coco.diagnosis import diagnose_ground_truth
            from valor_cli.data.formats.json.document import parse_json

            document = parse_json(source.whole(), path)
            found = diagnose_ground_truth(document, source, metadata, request, invalid)
    return found


def read_results(
    path: str,
    *,
    wanted: Wanted = "box",
    fields: Set[str] = frozenset(),
    invalid: InvalidRows = "error",
) -> ObjectFile:
    """Read COCO detections: a results list, or a COCO dictionary whose annotations have scores.

    An empty list is legal. Image ids, and category ids of a results list, may be any, and run
    lengths of any size: whether they fit is for the ground truth to say.

    Args:
        path: The file, plain, gzip or zstd, or "-" for standard input.
        wanted: As for `read_ground_truth`.
        fields: "keypoints" adds that column, which every detection needs where one has them;
            "some_keypoints" has zeros for those without. The box of a detection that has nothing
            else is then the extent of its keypoints, as in pycocotools.
        invalid: "skip" leaves out detections that cannot be used and counts them.

    Raises:
        DataError: The file cannot be read or holds no detections, or a value is wrong.
    """
    source, request = TextSource(path), Request(wanted, fields)
    with collector_paused():
        found = decode_results(source, request)
        if found is None:
            from valor_cli.data.formats.coco.diagnosis import diagnose_results
            from valor_cli.data.formats.json.document import parse_json

            document = parse_json(source.whole(), path)
            found = diagnose_results(document, source, request, invalid)
    return found


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which would scan millions of live JSON values repeatedly."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
