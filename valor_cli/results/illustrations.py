"""Content that reports show of an example: image and objects, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from valor_cli.results.findings import Number, Parameters, Role, Scalar, Verdict
from valor_cli.results.record import ADDED, Record


class ExampleObject(Record, frozen=True):
    """An object of an example.

    Attributes:
        id: As in its file; the position in it, from 0, for a detection without one.
        outcome: What became of it, such as "true_positive" or "duplicate"; empty if unsaid.
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
        text: The characters.
        marks: (start, end, kind) in `text`, ascending, none inside another.
        left_out: Characters of the whole text that are not shown.
    """

    field: str
    text: str
    marks: Sequence[tuple[int, int, str]] = ()
    left_out: int = 0


class EmbeddedImages(Record, frozen=True):
    """Images embedded in a report, kept outside the results.

    Attributes:
        photos: JPEG or PNG bytes of the images themselves, by `Picture.file`.
        overlays: The same, of what one model made of an image, by model and `Picture.file`.
        colours: What stands for a label in the overlays, "#rrggbb".
    """

    photos: Mapping[str, bytes] = {}
    overlays: Mapping[tuple[str, str], bytes] = {}
    colours: Mapping[str, str] = {}


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
