"""Regular expressions of users in; where they match, in bounded time, out.

The `regex` package searches, for it can be stopped. Patterns mean what they mean to Python's `re`,
and may have what `regex` knows beyond that (`\\p{L}`, `(?i)` anywhere). Two things are as `regex`
has them: to `\\w` and `\\b` combining marks are parts of words, and `[[:alpha:]]` is a POSIX class.

Time is the processor's, so a busy machine does not change what is found. A slower machine can: a
search that is stopped is no evidence either way, and is told as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

LIMIT_S = 1.0
"""Seconds of processor time that a pattern may take on one text."""

TRIES = 3
"""Texts that a pattern may take too long on before it is spared those as long."""

MOST_GROUPS = 200
"""Brackets that may stand open in a pattern at one place; `regex` reads them by recursion."""

LARGEST = 100_000
"""Characters of a pattern with `(ab){3}` written out as `ababab`, as `regex` does: 30 MB of them."""

_PIECE = re.compile(
    r"""\\[pPN]\{[^}]*+\} | \\. | \[\^?+\]?+(?:[^]\\]|\\.)*+\]"""
    r""" | \{(?P<least>\d*+)(?:,\d*+)?+(?<![{,])\} | [{()]""",
    re.DOTALL | re.VERBOSE,
)


class PatternError(ValueError):
    """A pattern that cannot be used: why (`message`), and where in it (`position`, from 0)."""

    def __init__(self, message: str, position: int | None) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" at character {self.position + 1}"
        return f"{self.message}{place}"


class PatternTimeout(Exception):  # noqa: N818 - not an error of the program, nor of the user
    """A search that was stopped, or not begun; the text says which, of what, and why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that was found to be one; equal where its text is."""

    text: str
    _compiled: regex.Pattern[str] = field(compare=False, repr=False)

    def search(self, text: str, limit_s: float = LIMIT_S) -> tuple[int, int] | None:
        """(start, end) of the first match; None: there is none.

        Raises:
            PatternTimeout: It takes longer than `limit_s` seconds.
        """
        return next(self.matches(text, limit_s), None)

    def matches(self, text: str, limit_s: float = LIMIT_S) -> Iterator[tuple[int, int]]:
        """(start, end) of every match, none reaching into another.

        Raises:
            PatternTimeout: All together take longer than `limit_s` seconds.
        """
        try:
            for match in self._compiled.finditer(text, timeout=limit_s):
                yield match.span()
        except TimeoutError:
            raise PatternTimeout(f"took longer than {limit_s:g} s") from None


class Patience:
    """What was learnt of patterns that take too long, so that not every text costs the limit.

    A pattern that was stopped `tries` times is not begun on texts at least as long as the shortest
    of those that it was stopped on.
    """

    __slots__ = ("_stopped", "limit_s", "tries")

    def __init__(self, limit_s: float = LIMIT_S, tries: int = TRIES) -> None:
        self.limit_s = limit_s
        self.tries = tries
        self._stopped: dict[str, list[int]] = {}

    def search(self, pattern: Pattern, text: str) -> tuple[int, int] | None:
        """As `Pattern.search`."""
        return next(self.matches(pattern, text), None)

    def matches(self, pattern: Pattern, text: str) -> Iterator[tuple[int, int]]:
        """As `Pattern.matches`; a pattern is spared where it has already failed often enough.

        Raises:
            PatternTimeout: It takes too long, or did before.
        """
        lengths = self._stopped.get(pattern.text, ())
        if len(lengths) >= self.tries and len(text) >= min(lengths):
            raise PatternTimeout(
                f"was not tried: it took longer than {self.limit_s:g} s on {self.tries} texts, "
                "one of them no longer than this one"
            )
        try:
            yield from pattern.matches(text, self.limit_s)
        except PatternTimeout:
            self._stopped.setdefault(pattern.text, []).append(len(text))
            raise


@lru_cache(maxsize=8192)
def parse_pattern(text: str) -> Pattern:
    """The pattern that a text is.

    Raises:
        PatternError: It is none, or is nested deeper than `MOST_GROUPS`.
    """
    import regex

    plain = _plain_braces(text)
    try:
        # `regex` keeps what it compiled; the cache here is enough.
        return Pattern(text, regex.compile(plain, regex.V0, cache_pattern=False))
    except regex.error as error:
        place: int | None = getattr(error, "pos", None)
        escapes = 0 if place is None else len(plain) - len(text)
        raise PatternError(
            getattr(error, "msg", str(error)), None if place is None else max(0, place - escapes)
        ) from None
    except (OverflowError, MemoryError, RecursionError):
        raise PatternError("the pattern is too large", None) from None


def _plain_braces(text: str) -> str:
    """The pattern with each `{` escaped that `re` takes for itself; to `regex` `x{e}` is fuzzy."""
    pieces: list[str] = []
    depth = at = 0
    for match in _PIECE.finditer(text):
        piece = match.group()
        depth += (piece == "(") - (piece == ")")
        if depth > MOST_GROUPS:
            raise PatternError(f"more than {MOST_GROUPS} groups inside each other", match.start())
        if piece == "{":
            pieces += [text[at : match.start()], "\\"]
            at = match.start()
    return "".join([*pieces, text[at:]])
