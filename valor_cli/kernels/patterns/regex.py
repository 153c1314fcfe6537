r"""Match users' regular expressions in bounded time.

The `regex` package is used because its searches can be stopped. Patterns mean what they mean to
Python's `re` and may use the extensions of `regex` (`\p{L}`, `(?i)` anywhere). Two things follow
`regex`: combining marks are word characters for `\w` and `\b`, and `[[:alpha:]]` is a POSIX class.

Limits are on processor time, so the load of the machine does not change results, but its speed
can: a search that was stopped is evidence neither for nor against a match, and is reported as
such.
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
"""Limit of processor time per pattern and text, in seconds."""

TRIES = 3
"""Texts that a pattern may take too long on before it is spared those as long."""

MOST_GROUPS = 200
"""Maximum nesting of brackets in a pattern; `regex` reads them by recursion."""

LARGEST = 100_000
"""Characters of a pattern once `(ab){3}` is written out as `ababab`, at most: `regex` does that,
and takes some 270 bytes for each."""

_PIECE = re.compile(
    r"""\\[pPN]\{[^}]*+\} | \\. | \[\^?+\]?+(?:[^]\\]|\\.)*+\]"""
    r""" | (?P<aside>\(\?(?:\#[^)]*+|[A-Za-z0-9-]++)\))"""
    r""" | \{(?:(?P<least>\d++)(?:,\d*+)?+|,\d++)\} | [{()]""",
    re.DOTALL | re.VERBOSE,
)
# White space and comments may then stand anywhere, brackets in them too.
_SPACED = re.compile(r"\(\?[A-Za-z0-9]*x")


class PatternError(ValueError):
    """An invalid pattern: why (`message`), and where (`position`, from 0)."""

    def __init__(self, message: str, position: int | None) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" at character {self.position + 1}"
        return f"{self.message}{place}"


class PatternTimeout(Exception):  # noqa: N818 - not an error of the program, nor of the user
    """A search that was stopped or not started; the message says which and why.

    `late` says whether it was stopped for the time that it took.
    """

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


@dataclass(frozen=True, slots=True)
class Pattern:
    """A valid regular expression; equal if its text is."""

    text: str
    _compiled: regex.Pattern[str] = field(compare=False, repr=False)

    def search(self, text: str, limit_s: float = LIMIT_S) -> tuple[int, int] | None:
        """(start, end) of the first match; None if there is none. Raises as `matches`."""
        return next(self.matches(text, limit_s), None)

    @property
    def first_group(self) -> int:
        """The number of the first group; 0, which is all of a match, without groups."""
        return min(self._compiled.groups, 1)

    def matches(
        self, text: str, limit_s: float = LIMIT_S, group: int = 0
    ) -> Iterator[tuple[int, int]]:
        """(start, end) of every non-overlapping match, or of a group of it (-1 if it is not in it).

        Raises:
            PatternTimeout: All together take longer than `limit_s` seconds, or more memory than
                `regex` allows itself, which is 1 GiB.
        """
        try:
            for match in self._compiled.finditer(text, timeout=limit_s):
                yield match.span(group)
        except TimeoutError:
            raise PatternTimeout(f"took longer than {limit_s:g} s", late=True) from None
        except MemoryError:
            raise PatternTimeout("needed too much memory") from None


class Patience:
    """Remembers slow patterns, so that not every text costs the full time limit.

    A pattern that was stopped `tries` times is not begun on texts at least as long as the shortest
    of those that it was stopped on.
    """

    __slots__ = ("_stopped", "limit_s", "tries")

    def __init__(self, limit_s: float = LIMIT_S, tries: int = TRIES) -> None:
        self.limit_s = limit_s
        self.tries = tries
        self._stopped: dict[str, list[int]] = {}

    def search(
        self, pattern: Pattern, text: str, limit_s: float | None = None
    ) -> tuple[int, int] | None:
        """The same as `Pattern.search`, with a shorter limit if `limit_s` is given."""
        return next(self.matches(pattern, text, limit_s), None)

    def matches(
        self, pattern: Pattern, text: str, limit_s: float | None = None, group: int = 0
    ) -> Iterator[tuple[int, int]]:
        """As `Pattern.matches`, but patterns that failed often are skipped.

        Raises:
            PatternTimeout: It takes too long, or did before.
        """
        lengths = self._stopped.get(pattern.text, ())
        if len(lengths) >= self.tries and len(text) >= min(lengths):
            raise PatternTimeout(
                f"was not tried: it took longer than {self.limit_s:g} s, or too much memory, on "
                f"{self.tries} texts, one of them no longer than this one"
            )
        try:
            limit = self.limit_s if limit_s is None else limit_s
            yield from pattern.matches(text, limit, group)
        except PatternTimeout:
            # With less time than half it may be no fault of this one.
            if limit_s is None or 2 * limit_s >= self.limit_s:
                self._stopped.setdefault(pattern.text, []).append(len(text))
            raise


@lru_cache(maxsize=8192)
def parse_pattern(text: str) -> Pattern:
    """Compile a pattern.

    Raises:
        PatternError: It is none, is nested deeper than `MOST_GROUPS`, or longer than `LARGEST`.
    """
    import regex

    _check_size(text)
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
    at = 0
    for match in _PIECE.finditer(text):
        if match[0] == "{":
            pieces += [text[at : match.start()], "\\"]
            at = match.start()
    return "".join([*pieces, text[at:]])


def _check_size(text: str) -> None:
    """See that `regex` can read a pattern, by recursion into groups, and keep it.

    Raises:
        PatternError: It is nested deeper than `MOST_GROUPS`, or written out longer than `LARGEST`.
    """
    sizes, repeated, at = [0], 1, 0
    product = len(text) if _SPACED.search(text) else 0
    for match in _PIECE.finditer(text):
        piece, least = match[0], match["least"]
        if match.start() > at:
            sizes[-1] += match.start() - at
            repeated = 1
        at = match.end()
        if piece == "(":
            sizes.append(0)
        elif piece == ")" and len(sizes) > 1:
            repeated = sizes.pop()
            sizes[-1] += repeated
        elif least is not None:
            times = int(least) if len(least) < 9 else LARGEST + 1
            sizes[-1] += repeated * (times - 1)
            repeated *= times
            product *= max(times, 1)
        elif match["aside"] is None:
            sizes[-1] += 1
            repeated = 1
        if len(sizes) > MOST_GROUPS + 1:
            raise PatternError(f"more than {MOST_GROUPS} groups inside each other", match.start())
        if max(sizes[-1], product) > LARGEST:
            message = f"longer than {LARGEST:,} characters with its repetitions written out"
            raise PatternError(message, match.start())
