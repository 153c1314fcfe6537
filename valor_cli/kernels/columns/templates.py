"""Find the positions in which lines of otherwise identical text differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.fields import AFTER, FieldText, Ints, Words

Bools = NDArray[np.bool_]

_NEW_LINE, _QUOTE, _SPACE = b'\n" '
_WORD: Final = 8
LONGEST: Final = AFTER - _WORD
"""Bytes of a constant text."""


class Template(NamedTuple):
    """Constant texts around slots, shared by all lines.

    Attributes:
        separators: Bytes outside the slots.
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
    """Positions of the slots.

    Attributes:
        lines: How many lines there are.
        line: (n,) those that are like the template, from 0, ascending.
        start, end: (n, slots) where each slot begins and ends.
    """

    lines: int
    line: Ints
    start: Ints
    end: Ints


def template(line: bytes, slots: Sequence[tuple[int, int]], separators: bytes) -> Template | None:
    """Make the template of a line.

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


def spans(text: FieldText, common: Template) -> Spans:
    """The lines that match a template, and their slots.

    Slots hold no quote and no control character.

    Args:
        text: Lines, the last with its line end too.
        common: What they may have in common.
    """
    separators = text.positions(*common.separators, _NEW_LINE)
    lines, more = divmod(len(separators), common.width)
    # As many as the constants of so many lines hold: then slots hold none.
    if (
        not more
        and np.count_nonzero(text.bytes < _SPACE) == lines * common.controls
        and np.count_nonzero(text.bytes == _QUOTE) == lines * common.quotes
    ):
        separators = separators.reshape(lines, common.width)
        begin = np.zeros(lines, np.int64)
        begin[1:] = separators[:-1, -1] + 1
        start, end, alike = _slots(text, separators, begin, common)
        if alike.all():
            return Spans(lines, np.arange(lines), start, end)
    return _some_spans(text, separators.ravel(), common)


def _some_spans(text: FieldText, separators: Ints, common: Template) -> Spans:
    """The same where lines are of several shapes."""
    ends = np.flatnonzero(text.bytes.take(separators) == _NEW_LINE)
    line = np.flatnonzero(np.diff(ends, prepend=-1) == common.width)
    begin = np.zeros(len(ends), np.int64)
    begin[1:] = separators[ends[:-1]] + 1
    if len(line):
        for held, count in (
            (text.bytes < _SPACE, common.controls),
            (text.bytes == _QUOTE, common.quotes),
        ):
            line = line[np.add.reduceat(held, begin, dtype=np.int64)[line] == count]
    own = separators[(ends[line] - common.width + 1)[:, None] + np.arange(common.width)]
    start, end, alike = _slots(text, own, begin[line], common)
    return Spans(len(ends), line[alike], start[alike], end[alike])


def _slots(
    text: FieldText, separators: Ints, begin: Ints, common: Template
) -> tuple[Ints, Ints, Bools]:
    """Where slots begin and end, and of which lines all constants stand around them."""
    number, distance = np.array(common.ends, np.int64).reshape(-1, 2).T
    # Where constants begin: at the line, and at the ends of slots.
    at = np.empty((len(begin), len(number) + 1), np.int64)
    at[:, 0] = begin
    at[:, 1:] = separators[:, number] - distance
    length = np.array([len(constant) for constant in common.constants])
    start, end = (at + length)[:, :-1], at[:, 1:]
    wrong = start > end
    alike = ~wrong.any(axis=1) if wrong.any() else np.ones(len(begin), np.bool_)
    # The same few constants stand between all of many slots.
    places: dict[bytes, list[int]] = {}
    for place, constant in enumerate(common.constants):
        places.setdefault(constant, []).append(place)
    for constant, chosen in places.items():
        differing = _differing(text, at[:, chosen], constant)
        if differing.any():
            alike &= ~differing.any(axis=1)
    return start, end, alike


def _differing(text: FieldText, at: Ints, constant: bytes) -> Words:
    """0 where a constant text is at a position."""
    differing: Words = np.zeros(at.shape, np.uint64)
    for first in range(0, len(constant), _WORD):
        piece = constant[first : first + _WORD]
        word = text.eight(at + first) ^ np.uint64(int.from_bytes(piece, "little"))
        differing |= word << np.uint64(8 * (_WORD - len(piece)))
    return differing
