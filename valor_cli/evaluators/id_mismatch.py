"""Explain why few ids of two inputs match."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

LITTLE: Final = 0.5
"""Where a smaller share of the ids of either side joins, it is said."""

SHOWN: Final = 3
"""Ids, or names, that a message shows."""


class Ids(NamedTuple):
    """The ids of an input.

    Attributes:
        name: What messages call it.
        total: How many there are.
        first: The first of them.
    """

    name: str
    total: int
    first: Sequence[str]


def few_matches_warning(own: Ids, other: Ids, shared: int, mend: str) -> str:
    """What to say where few ids of one input are those of another; nothing where many are.

    Args:
        own, other: The two.
        shared: How many ids both have.
        mend: What to do, beside writing them alike.
    """
    fewer = min(own.total, other.total)
    if not fewer or shared >= LITTLE * fewer:
        return ""
    count = f"only {shared:,}" if shared else "none"
    return (
        f"{own.name}: {count} of {own.total:,} sample ids "
        f"{'is one' if shared in (0, 1) else 'are those'} of {other.name} "
        f"({spellings(own.first, other.first)}), and only what has the same id is compared: {mend}"
    )


def few(names: Sequence[str]) -> str:
    """The first of some names, of which one more than is shown tells that there are more."""
    return ", ".join(names[:SHOWN]) + " …" * (len(names) > SHOWN)


def spellings(own: Sequence[str], other: Sequence[str]) -> str:
    """Ids of both sides that look alike, and how they differ."""
    shown = f"here {_some(own)}; there {_some(other)}"
    for what, form in _FORMS.items():
        if {*map(form, own[:SHOWN])} & {*map(form, other[:SHOWN])}:
            return f"{shown}; they differ in {what}"
    return shown


def _some(ids: Sequence[str]) -> str:
    # Few inputs need it, and it imports what reads CSV.
    from valor_cli.data.column_names import quoted

    return ", ".join(map(quoted, ids[:SHOWN])) + ", …" * (len(ids) > SHOWN)


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def _unpadded(name: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", name)


def _bare(name: str) -> str:
    return _unpadded(os.path.splitext(_base(name.strip().casefold()))[0])


_FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "folders": _base,
    "extensions": lambda name: os.path.splitext(name)[0],
    "zeros in front": _unpadded,
    "capitals": str.casefold,
    "how they are spelled": _bare,
}
