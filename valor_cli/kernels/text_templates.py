"""Lines that differ in some places alone come in; the positions of these places go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from valor_cli.kernels.text_fields import AFTER, FieldText, Ints, Words

_NEW_LINE, _QUOTE, _SPACE = b'\n" '
_WORD: Final = 8
LONGEST: Final = AFTER - _WORD
"""Bytes of a constant text."""


class Template(NamedTuple):
    """What all lines have in common: constant texts around slots.

    Attributes:
        separators: Bytes that stand in no slot.
        width: How many separators and line ends a line has.
        ends: For each slot, which of these is the next behind it, and how far.
        constants: What stands before the first slot, between slots, and behind the last.
        quotes, controls: How many of these bytes the constants hold.
    """

    separators: tuple[int, ...]
    width: int
    ends: tuple[tuple[int, int], ...]
    constants: tuple[bytes, ...]
    quotes: int
    controls: int


class Spans(NamedTuple):
    """Where slots begin and end: (lines, slots) each."""

    start: Ints
    end: Ints


def template(line: bytes, slots: Sequence[tuple[int, int]], separators: bytes) -> Template | None:
    """The template of a line.

    Args:
        line: With its line end.
        slots: Where each begins and ends: ascending, with something constant between them.
        separators: Bytes of which one stands between any two slots.

    Returns:
        None where that is not so, a slot holds a separator, or a constant text is too long.
    """
    found = [at for at, byte in enumerate(line) if byte in separators or byte == _NEW_LINE]
    following = np.searchsorted(found, [end for _, end in slots])
    before = np.searchsorted(found, [start for start, _ in slots])
    if (following != before).any() or (following[1:] == following[:-1]).any():
        return None
    edges: list[int] = [0, *(edge for slot in slots for edge in slot), len(line)]
    constants = tuple(line[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))
    if max(map(len, constants)) > LONGEST:
        return None
    return Template(
        separators=tuple(separators),
        width=len(found),
        ends=tuple(
            (int(number), found[number] - end)
            for number, (_, end) in zip(following, slots, strict=True)
        ),
        constants=constants,
        quotes=line.count(b'"'),
        controls=sum(byte < _SPACE for byte in line),
    )


def spans(text: FieldText, common: Template) -> Spans | None:
    """Where the slots of all lines are; None if a line differs elsewhere.

    Slots hold no quote and no control character.

    Args:
        text: Lines, the last with its line end too.
        common: What they may have in common.
    """
    separators = text.positions(*common.separators, _NEW_LINE)
    lines, more = divmod(len(separators), common.width)
    # As many as the constants of so many lines hold: then slots hold none.
    if (
        more
        or np.count_nonzero(text.bytes < _SPACE) != lines * common.controls
        or np.count_nonzero(text.bytes == _QUOTE) != lines * common.quotes
    ):
        return None
    separators = separators.reshape(lines, common.width)
    number, distance = np.array(common.ends, np.int64).reshape(-1, 2).T
    # Where constants begin: at the line, and at the ends of slots.
    begin = np.zeros((lines, len(number) + 1), np.int64)
    begin[1:, 0] = separators[:-1, -1] + 1
    begin[:, 1:] = separators[:, number] - distance
    length = np.array([len(constant) for constant in common.constants])
    found = Spans((begin + length)[:, :-1], begin[:, 1:])
    if (found.start > found.end).any():
        return None
    # The same few constants stand between all of many slots.
    places: dict[bytes, list[int]] = {}
    for place, constant in enumerate(common.constants):
        places.setdefault(constant, []).append(place)
    alike = all(_stands(text, begin[:, at].ravel(), one) for one, at in places.items())
    return found if alike else None


def _stands(text: FieldText, at: Ints, constant: bytes) -> bool:
    """Whether a constant text stands at all of these positions."""
    differing: Words = np.zeros(len(at), np.uint64)
    for first in range(0, len(constant), _WORD):
        piece = constant[first : first + _WORD]
        word = text.eight(at + first) ^ np.uint64(int.from_bytes(piece, "little"))
        differing |= word << np.uint64(8 * (_WORD - len(piece)))
    return not differing.any()
