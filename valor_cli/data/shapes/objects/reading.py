"""`Reading`, the options of every object reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from valor_cli.data.shapes.objects.known_images import KnownImages
from valor_cli.data.shapes.objects.object_file import SplitName, Wanted
from valor_cli.data.table import InvalidRows


class Reading(Struct, frozen=True):
    """Read options shared by all inputs of a run.

    Attributes:
        wanted: Which geometry to take of an object that says several.
        metadata: Names to read for every image of the ground truth.
        fields: What else to read of COCO files: "keypoints" or "some_keypoints", "federated".
        invalid: What to do with objects that cannot be used.
        names: Of YOLO classes: in order, or by class.
        images: Folder of image files, for the sizes that YOLO needs.
        columns: Standard name to the file's own, for CSV.
        split: Of a YOLO data set; None for the first of val, test and train.
        known: The images of the ground truth, for the sizes that predictions in YOLO need.
        class_names: Names of the ground truth's YOLO classes, for predictions without names.
    """

    wanted: Wanted = "box"
    metadata: Sequence[str] = ()
    fields: frozenset[str] = frozenset()
    invalid: InvalidRows = "error"
    names: Sequence[str] | Mapping[int, str] = ()
    images: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    split: SplitName | None = None
    known: KnownImages | None = None
    class_names: Mapping[int, str] | None = None
