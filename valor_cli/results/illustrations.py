"""Content that reports show of an example: image and objects, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from valor_cli.results.findings import Number, Parameters, Role, Scalar, Verdict
from valor_cli.results.record import ADDED, Record


class ExampleObject(Record, frozen=True):
    """An object of an example.

    Attributes:
        id: Its id in the file; for a detection without one, its position from 0.
        outcome: Such as "true_positive" or "duplicate"; empty if unknown.
        geometry: As GeoJSON, in pixels; None if it has no extent.
    """

    role: Role
    id: Scalar
    label: str
    score: Number | None
    outcome: str
    geometry: Mapping[str, Any] | None


class Picture(Record, frozen=True):
    """The image of a sample: file as named in the ground truth, width and height in pixels."""

    file: str | None
    width: int | None
    height: int | None


class ShownText(Record, frozen=True):
    """A text of an example for reports: shortened, with secrets masked.

    Attributes:
        field: As in `Mark`, or "judge_replies[0]".
        text: The text as shown.
        marks: (start, end, kind) in `text`, ascending, without overlap.
        left_out: Number of characters that are not shown.
    """

    field: str
    text: str
    marks: Sequence[tuple[int, int, str]] = ()
    left_out: int = 0


class EmbeddedImages(Record, frozen=True):
    """Images of a report, embedded in it or beside it; kept outside the results.

    Attributes:
        photos: JPEG or PNG bytes of the images themselves, by `Picture.file`.
        overlays: Images of one model's predictions, by model and `Picture.file`.
        colours: The colour of each label in the overlays, "#rrggbb".
        links: URLs relative to the report of images that are files, by `Picture.file`.
        overlay_links: The same of overlays, by model and `Picture.file`.
        left_out: Why an image is neither embedded nor linked, by `Picture.file`.
        notes: What the report says of its images: how they are kept, and which are left out.
    """

    photos: Mapping[str, bytes] = {}
    overlays: Mapping[tuple[str, str], bytes] = {}
    colours: Mapping[str, str] = {}
    links: Mapping[str, str] = {}
    overlay_links: Mapping[tuple[str, str], str] = {}
    left_out: Mapping[str, str] = {}
    notes: Sequence[str] = ()


class Illustration(NamedTuple):
    """What reports show of an example: image and objects, or texts."""

    picture: Picture | None = None
    objects: Sequence[ExampleObject] = ()
    texts: Sequence[ShownText] = ()


class ExampleResult(Record, frozen=True):
    """An example of a count, with everything needed to find and draw it."""

    metric: str
    model: str
    label: str | None
    slice: str | None
    parameters: Parameters
    kind: str
    sample_id: Scalar
    value: Number | None
    picture: Picture | None
    objects: Sequence[ExampleObject]
    texts: Annotated[Sequence[ShownText], ADDED] = ()
    reason: Annotated[str | None, ADDED] = None
    verdicts: Annotated[Sequence[Verdict], ADDED] = ()
