"""Read values from the JSON objects of a judge's reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from valor_cli.kernels.replies.json_values import json_values, reply_text

T = TypeVar("T")
Found = TypeVar("Found")

QUOTED = 60
"""Characters of a reply that a message quotes."""
_LISTED = 10
"""Words, or numbers of a scale, that a message lists."""
_TRUTHS = {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}


class Unfit(ValueError):  # noqa: N818  # what it says of the reply
    """A reply that cannot be used; the message goes to the judge and to the user."""


def last_fitting(
    reply: str, keys: Collection[str], read: Callable[[Mapping[str, Any]], T]
) -> T | None:
    """Read the JSON objects that have one of the keys; of those that fit, the one that counts.

    Returns:
        None where no object has such a key.

    Raises:
        Unfit: Objects have one, and none fits; of those that count most, why.
    """
    problem: Unfit | None = None
    for value in json_values(reply):
        if isinstance(value, dict) and any(key in value for key in keys):
            try:
                return read(value)
            except Unfit as unfit:
                problem = problem or unfit
    if problem is not None:
        raise problem
    return None


def json_or(
    keys: Collection[str],
    read: Callable[[Mapping[str, Any]], T],
    what: str,
    in_words: Callable[[str], T | None] = lambda reply: None,
) -> Callable[[str], T]:
    """What reads a reply: by its JSON objects, or by its words where none has one of the keys.

    Args:
        keys, read: As for `last_fitting`.
        what: What is asked for, in messages.
        in_words: Reads the words; None: they do not say it.
    """

    def read_reply(reply: str) -> T:
        found = last_fitting(reply, keys, read)
        if found is None:
            found = in_words(reply)
        if found is None:
            raise nothing_parsed(reply, what)
        return found

    return read_reply


def truth(value: Mapping[str, Any], key: str, place: str) -> bool:
    """A yes or no, 0 or 1, true or false, also as a string."""
    if key not in value:
        raise Unfit(f"{place} has no key {key}")
    said = value[key]
    if isinstance(said, str):
        known = _TRUTHS.get(said.strip().casefold())
    else:
        known = bool(said) if isinstance(said, int | float) and said in (0, 1) else None
    if known is None:
        raise Unfit(f"{place}: {key} is {shown(said)}, and must be 0 or 1")
    return known


def words_of(value: Mapping[str, Any], *keys: str) -> str:
    """The first text under these keys that is not blank; otherwise an empty string."""
    for key in keys:
        said = value.get(key)
        if isinstance(said, str) and said.strip():
            return said.strip()
    return ""


def number_up_to(said: Any, most: int) -> int | None:
    """An integer from 1 up to a limit, also as a string; None for anything else."""
    if isinstance(said, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", said):
        said = int(said)
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    known = isinstance(said, int) and not isinstance(said, bool) and 1 <= said <= most
    return said if known else None


def first_of(
    value: Mapping[str, Any], keys: Sequence[str], read: Callable[[Any], Found | None], what: str
) -> Found:
    """The first usable value under some keys; `what` describes it in messages."""
    there = [key for key in keys if key in value]
    for key in there:
        found = read(value[key])
        if found is not None:
            return found
    key = there[0]
    raise Unfit(f"{key} is {shown(value[key])}, and must be {what}")


def listed(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under a key."""
    if key not in value:
        raise Unfit(f"the key {key} is missing")
    found = value[key]
    if not isinstance(found, list):
        raise Unfit(f"{key} is {shown(found)}, and must be a list")
    return found


def texts(value: Mapping[str, Any], key: str, inner: str) -> tuple[str, ...]:
    """The texts in the list under a key, without blank ones.

    Each may stand in an object, under a key of its own.
    """
    found = []
    for at, item in enumerate(listed(value, key), 1):
        text = item.get(inner) if isinstance(item, dict) else item
        if not isinstance(text, str):
            raise Unfit(f"{key}: number {at} is {shown(item)}, and must be a string")
        found.append(text.strip())
    return tuple(text for text in found if text)


def nothing_parsed(reply: str, what: str) -> Unfit:
    """The error for a reply without any requested value."""
    text = reply_text(reply)
    if text:
        return Unfit(f"found no {what} in {shown(text)}")
    return Unfit(
        "the reply ends in its thought" if reply.strip("\ufeff \t\r\n") else "the reply is empty"
    )


def one_of(choices: Sequence[object]) -> str:
    """Words or numbers for a message, up to a limit."""
    told = [shown(choice) for choice in choices[:_LISTED]]
    return "one of " + ", ".join([*told, "…"] if len(choices) > _LISTED else told)


def shown(said: object) -> str:
    """A value for a message: shortened, on one line, without control characters."""
    if isinstance(said, dict | list):
        return "an object" if isinstance(said, dict) else "a list"
    if said is None or isinstance(said, bool):
        return "null" if said is None else str(said).lower()
    if not isinstance(said, str):
        return str(said) if len(str(said)) <= QUOTED else f"{str(said)[:QUOTED]}…"
    # Enough to have so many characters left, of a text that may be long.
    start = said[: 4 * QUOTED]
    line = "".join(" " if unicodedata.category(one)[0] == "C" else one for one in start)
    line = " ".join(line.split())
    cut = len(said) > len(start) or len(line) > QUOTED
    return f'"{line[:QUOTED]}…"' if cut else f'"{line}"'
