"""How many tokens there are and how many a model sees in; the windows that cover them out."""

from __future__ import annotations


def windows(tokens: int, room: int) -> list[slice]:
    """Windows of like size over a text; each but the first repeats a quarter of the one before.

    What a border cuts in two stands whole in a neighbour, unless it is longer than a quarter.

    Args:
        tokens: Of the text.
        room: Tokens of a window, at least 1.

    Returns:
        One window, of all there is, where it fits; the last one may be shorter than the others,
        and never lies within the one before.
    """
    step = room - room // 4
    last = max(0, tokens - room)
    starts = range(0, last + step, step)
    return [slice(start, min(start + room, tokens)) for start in starts]


def rooms(hypothesis: int, premise: int, room: int) -> tuple[int, int]:
    """What a hypothesis and its premise may take of a window that holds both.

    Args:
        hypothesis: Tokens.
        premise: Tokens.
        room: Tokens of both together, at least 2.

    Returns:
        Tokens of a window of the hypothesis and of the premise, each at least 1: all of both
        where they fit, else at most half the room for the hypothesis, the rest for the premise.
    """
    mine = hypothesis if hypothesis + premise <= room else min(hypothesis, room // 2)
    return max(1, mine), max(1, room - mine)
