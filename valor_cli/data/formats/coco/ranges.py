"""Read a byte range of a COCO results list.

Why pieces give the same result as the whole list: a range is cut between what looks like the end
of one object and the start of the next, by a rule that both neighbours apply to the same byte. So
the file is "[", texts separated by commas, and "]". Each text is read as a list of its own. If all
of them are valid, non-empty lists, the file is the list of all their objects, because JSON can be
parsed in one way only. A cut inside a string or a nested object leaves text that is not a list:
the piece is then refused, never a different result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import BinaryIO, Final, NamedTuple

from msgspec import Struct

from valor_cli.data.formats.coco.objects import (
    BOUNDARY,
    CHUNKS,
    KEYPOINTS,
    UnusualError,
    detections_listed,
    expect,
    object_file,
)
from valor_cli.data.formats.coco.reader import collector_paused
from valor_cli.data.partition.pieces import Piece, Span, UnsplittableError, seamless
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource

_OPENING: Final = re.compile(rb"(\xef\xbb\xbf)?[ \t\n\r]*\[")
_NEAR: Final = 1 << 16
_FAR: Final = 1 << 24
"""Bytes in which the end of an object is looked for, at first and at most."""


class ResultsFacts(Struct, frozen=True):
    """What a piece says of its file.

    Attributes:
        span: The bytes that were read: the comma in front of the first object, too.
        objects: How many detections there are: by so many are rows of later pieces further down.
        kinds: What image ids and category ids are, numbers or texts; None without detections.
    """

    span: Span
    objects: int
    kinds: tuple[str, str] | None


def read_results_piece(piece: Piece, reading: Reading) -> tuple[ObjectFile, ResultsFacts]:
    """The detections of a piece.

    A file must be read whole where anything about a range of bytes is unusual, the fault of a
    detection included; where it is no list; and for keypoints, since only the whole list tells how
    many an object has.

    Args:
        piece: A range of the bytes of a file.
        reading: As for `read_objects`.

    Returns:
        The detections, whose positions count from the first of the piece and whose file has no
        sha256; and what the file must know of them.

    Raises:
        DataError: The file cannot be read, or is no UTF-8.
        UnsplittableError: The file must be read whole.
    """
    try:
        expect(not reading.fields & KEYPOINTS)
        first, last, size = _edges(piece)
        text = Span(0, 0) if first == last else Span(first.begin, last.end)
        # The last of the objects is followed by the "]" of the list.
        closing = () if first != last and last.end == size else (b"]",)
        chunks = TextSource(piece.path, text).chunks(CHUNKS[reading.wanted])
        with collector_paused():
            rows = detections_listed(chain(chunks, closing), reading)
    except UnusualError:
        raise UnsplittableError from None
    span, count = Span(first.end, last.end), len(rows.shapes)
    image, category = (rows.columns[name].dtype.kind for name in ("image_id", "category_id"))
    facts = ResultsFacts(span, count, (image, category) if count else None)
    return object_file(TextSource(piece.path, span), rows), facts


def one_list(facts: Sequence[ResultsFacts], size: int) -> bool:
    """Whether the pieces together equal their file; if not, it must be read whole.

    They do not where the file was written to meanwhile, and where ids are numbers in some pieces
    and texts in others.

    Args:
        facts: Of all pieces of a file, in their order.
        size: Bytes of the file: the end of its last piece.
    """
    kinds = {one.kinds for one in facts if one.kinds is not None}
    return len(kinds) <= 1 and seamless([one.span for one in facts], size)


class _Edge(NamedTuple):
    """Where an object ends, and where the next begins."""

    end: int
    begin: int


def _edges(piece: Piece) -> tuple[_Edge, _Edge, int]:
    """The edges of the objects in front of which an object ends in a range; bytes of the file.

    Raises:
        UnusualError: The file is no list, or an edge is too far away.
    """
    with TextSource(piece.path).stored() as raw:
        opening = _OPENING.match(raw.read(_NEAR))
        if piece.end is None or opening is None:
            raise UnusualError
        size = raw.seek(0, 2)
        first = _Edge(0, opening.end())
        if piece.start:
            first = _edge(raw, piece.start, size)
        return first, _edge(raw, piece.end, size), size


def _edge(raw: BinaryIO, at: int, size: int) -> _Edge:
    """Between the first two objects of which the first ends behind a byte; or the end of the file.

    Raises:
        UnusualError: That is too far away.
    """
    length = _NEAR
    while length <= _FAR:
        raw.seek(at)
        text = raw.read(length)
        found = BOUNDARY.search(text)
        if found:
            return _Edge(at + found.start() + 1, at + found.end() - 1)
        if at + len(text) >= size:
            return _Edge(size, size)
        length *= 16
    raise UnusualError
