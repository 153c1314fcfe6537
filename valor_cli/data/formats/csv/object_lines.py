"""Parse rows of an object CSV in bulk; None if any row needs the full checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.csv.object_header import Form, Header
from valor_cli.data.shapes.objects.image_facts import ImageFacts
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.shapes.objects.rows import Codes, Piece
from valor_cli.data.table import Columns
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels.geometry.shapes import Shapes

CROWD: Final = {"": False, "0": False, "1": True, "false": False, "true": True}
"""What a cell of `crowd` may say, in lower case."""

_NUMBERS: Final = frozenset(
    "score x y width height xmin ymin xmax ymax cx cy angle area".split()  # noqa: SIM905
)


class PlainRows:
    """The fast path for rows without missing cells.

    The text is made a JSON list of lists of strings, for the JSON decoder turns them into numbers
    several times faster than the csv module and `float` do.
    """

    __slots__ = ("_decoders", "_facts", "_header", "_images", "_labels", "_predicted", "_rows")

    def __init__(
        self, header: Header, role: Role, labels: Codes, images: Codes, facts: ImageFacts
    ) -> None:
        self._header = header
        self._predicted = role == "predictions"
        self._labels = labels
        self._images = images
        self._facts = facts
        self._rows = _rows_of(header, returns=False)
        self._decoders: dict[bool, msgspec.json.Decoder[Any]] = {
            returns: msgspec.json.Decoder(_rows_of(header, returns=returns), strict=False)
            for returns in (False, True)
        }

    def from_text(self, block: bytes, first: int) -> Piece | None:
        """Parse whole lines without quotes or backslashes; the first has number `first`."""
        returns = b"\r" in block
        text = block.removesuffix(b"\n").replace(self._header.delimiter.encode(), b'","')
        # Single bytes are found many times faster than "\r\n": its first half ends one more field.
        text = text.replace(b"\r", b'","').replace(b"\n", b'"],["')
        try:
            rows = self._decoders[returns].decode(b"".join([b'[["', text, b'"]]']))
        except msgspec.MsgspecError:
            return None
        return self._piece(rows, np.arange(first, first + len(rows)))

    def from_fields(self, records: Sequence[Sequence[str]], lines: Sequence[int]) -> Piece | None:
        """Parse split lines with these line numbers."""
        try:
            rows = msgspec.convert(records, self._rows, strict=False)
        except msgspec.MsgspecError:
            return None
        return self._piece(rows, np.array(lines, np.int64))

    def _piece(self, rows: Sequence[Any], lines: NDArray[np.int64]) -> Piece | None:
        header, n = self._header, len(rows)
        numbers = self._numbers(rows)
        sides = box_columns(numbers[:, : len(header.sides)], header.form)
        if not valid_boxes(sides):
            return None
        columns = {"score": numbers[:, -1]} if self._predicted else self._truth(rows)
        if columns is None or not np.isfinite(columns.get("score", 0.0)).all():
            return None
        image_ids, labels = self._column(rows, "image_id"), self._column(rows, "label")
        image = np.fromiter(map(self._images.__getitem__, image_ids), np.int64, n)
        self._facts.note_rows(image, lines, [self._at(rows, at) for at in self._facts.positions])
        columns |= {
            "image": image,
            "label": np.fromiter(map(self._labels.__getitem__, labels), np.int64, n),
            "line": lines,
            "position": np.full(n, -1),
        }
        rotated = header.form == "rotated_box"
        return Piece(columns, Shapes.rotated_boxes(sides) if rotated else Shapes.boxes(sides))

    def _truth(self, rows: Sequence[Any]) -> Columns | None:
        """The columns of ground truth alone."""
        n = len(rows)
        ids: NDArray[Any] = np.full(n, None, dtype=object)
        area, crowd = np.full(n, np.nan), np.zeros(n, np.bool_)
        if "id" in self._header.at:
            ids[:] = [one or None for one in self._column(rows, "id")]
        if "area" in self._header.at:
            area = np.fromiter(self._column(rows, "area"), np.float64, n)
            if not (np.isfinite(area) & (area >= 0)).all():
                return None
        if "crowd" in self._header.at:
            said = [CROWD.get(one.casefold()) for one in self._column(rows, "crowd")]
            if None in said:
                return None
            crowd = np.array(said, np.bool_)
        return {"id": ids, "area": area, "crowd": crowd}

    def _column(self, rows: Sequence[Any], name: str) -> Any:
        return self._at(rows, self._header.at[name])

    def _at(self, rows: Sequence[Any], position: int) -> Any:
        return map(attrgetter(_field(position)), rows)

    def _numbers(self, rows: Sequence[Any]) -> NDArray[np.float64]:
        """The sides of the boxes and, of predictions, the score."""
        names = [*self._header.sides, *(["score"] if self._predicted else [])]
        fields = attrgetter(*(_field(self._header.at[name]) for name in names))
        k = len(names)
        numbers = np.fromiter(chain.from_iterable(map(fields, rows)), np.float64, k * len(rows))
        return numbers.reshape(-1, k)


def _rows_of(header: Header, *, returns: bool) -> Any:
    """The type of many rows: lists of fields, with an empty last one where lines end in CRLF."""
    kinds: list[Any] = [str] * len(header.names)
    for name, position in header.at.items():
        if name in _NUMBERS:
            kinds[position] = float
        elif name in ("image_id", "label"):
            kinds[position] = Annotated[str, msgspec.Meta(min_length=1)]
    if returns:
        kinds.append(Literal[""])
    fields = [(_field(position), kind) for position, kind in enumerate(kinds)]
    row = msgspec.defstruct("Row", fields, array_like=True, gc=False, forbid_unknown_fields=True)
    return list[row]  # type: ignore[valid-type] # a type made just now


def _field(position: int) -> str:
    return f"c{position}"


def box_columns(sides: NDArray[np.float64], form: Form) -> NDArray[np.float64]:
    """Boxes as left, top, width and height from any form; rotated ones unchanged."""
    if form == "corners":
        with np.errstate(invalid="ignore", over="ignore"):
            sides[:, 2:] -= sides[:, :2]
    return sides


def valid_boxes(sides: NDArray[np.float64]) -> bool:
    """Whether all numbers are finite and within limits, and no size is negative."""
    with np.errstate(invalid="ignore"):
        within = (np.abs(sides) <= LARGEST_COORDINATE).all()
        return bool(within and (sides[:, 2:4] >= 0).all())
