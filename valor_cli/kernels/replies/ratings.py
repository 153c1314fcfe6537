"""Parse a rating or a one-word answer from the reply of a language model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from valor_cli.kernels.replies.json_values import Span, fenced, objects, reply_text

_MARKS = frozenset("`~>|=^+$\ufeff\u200b\u200c\u200d\u2060")
"""Markdown and white space that Unicode does not count as punctuation or space."""

_MORE = 1_000
"""Characters around a word; Unicode's normal forms take long of long texts made for that."""


def word_in_reply(reply: str, words: Sequence[str]) -> str | None:
    """The word in a reply, ignoring quotes, punctuation, emphasis and case, or None.

    A word inside a sentence is none. A reply that is a code fence is what the fence holds.
    """
    text = reply_text(reply)
    return _first(words, text, *_only_fence(text))


def word_of(value: Any, words: Sequence[str]) -> str | None:
    """The word of a JSON value: a string, or true and false as the given words."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    return _first(words, value) if isinstance(value, str) else None


def _first(words: Sequence[str], *texts: str) -> str | None:
    longest = _MORE + max(map(len, words), default=0)
    for text in texts:
        if len(text) > longest:
            continue
        # As it is written first: some words differ in their punctuation alone ("C", "C++").
        for form in (_folded, _bare):
            said = form(text)
            meant = [word for word in words if form(word) == said] if said else []
            if len(meant) == 1:
                return meant[0]
    return None


def _folded(text: str) -> str:
    """A text without case, and with single spaces between its words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _bare(text: str) -> str:
    """The same without quotes, punctuation and emphasis at its ends."""
    folded = _folded(text)
    start, end = 0, len(folded)
    # "!present" may mean that it is not.
    while start < end and folded[start] != "!" and _around(folded[start]):
        start += 1
    while end > start and _around(folded[end - 1]):
        end -= 1
    return folded[start:end]


def _around(character: str) -> bool:
    return (
        character.isspace()
        or character in _MARKS
        or unicodedata.category(character).startswith("P")
    )


def _only_fence(text: str) -> Iterator[str]:
    fences = fenced(text)
    if len(fences) == 1 and text[:1] in "`~":
        start, end = fences[0]
        if not text[end:].strip("`~ \t\r\n"):
            yield text[start:end]


Number = TypeVar("Number", int, float)

_DIGITS = r"[0-9]++(?:\.[0-9]++)?+"
_NUMBER = re.compile(rf"[+\-−]?{_DIGITS}")
_AROUND = " \t\r\n*_`\"'“”‘’«»()[]{}|,;:!?"
"""What may be at the ends of a number; a point only behind it."""

_LABEL = re.compile(r"(?<![^\W_])(?:rate|rating|score|grade)s?(?![^\W_])", re.IGNORECASE)
_SMALL_WORDS = (
    "of is was be would will should as a an at it this that the my final overall for "
    "response answer text summary context equals"
)
# "Rating (1-5): 4": what is in the brackets is no rating, where one follows.
_LIMITS = r"(?:[\s*_]*+[(\[][^()\[\]\n]{0,60}[)\]](?=[\s*_]*+[:：=\-–—→]))?"
_GAP = (
    rf"(?:[\s:：=*_\"'`()\[\]{{}}|#>→–—“”‘’]|-(?![0-9])|\b(?:{'|'.join(_SMALL_WORDS.split())})\b)"
)
# No part of a longer number, a date, a time, a version, a range, a share.
_ENDS = (
    r"(?![\w%‰]|[.,:][0-9]|-\w|[ \t]*+(?:[-–—]|to\b|or\b)[ \t]*+[0-9]"
    r"|[ \u00a0\u202f][0-9]{3}(?![0-9])"
    r"|\s*+/\s*+(?:[0-9.]++\s*+/|[^\s0-9]))"
)
_BEHIND_LABEL = re.compile(
    rf"{_LIMITS}{_GAP}{{1,30}}(?P<number>[+\-−]?{_DIGITS}){_ENDS}", re.IGNORECASE
)
_BEHIND_KEY = re.compile(rf"[\"']\s*+:\s*+[\"']?(?P<number>[+\-−]?{_DIGITS}){_ENDS}")
_BROKEN_OBJECT = re.compile(r"\{\s*+[\"'][\w ]{1,60}[\"']\s*+:")
_OUT_OF = re.compile(
    rf"(?<![\w.,:/+\-−–$€£#])(?P<number>{_DIGITS})[\s*_`]*+(?:/|out\s++of\b)[\s*_`]*+"
    rf"(?P<most>{_DIGITS})(?![\w%‰]|[.,:/–-][0-9])",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"^[ \t]*+[0-9]++[.)](?=[ \t]++\S)", re.MULTILINE)
_SPACED = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})++(?!\w)")


def rating_of(value: Any, scale: Collection[int]) -> int | None:
    """The rating in a JSON value: a number of the scale, also as a string (4.0 = 4)."""
    number = _number_of(value)
    return None if number is None else _in_scale(number, scale)


def fraction_of(value: Any) -> float | None:
    """The number from 0 to 1 in a JSON value, also as a string."""
    number = _number_of(value)
    return number if number is not None and 0 <= number <= 1 else None


def rating_in_words(reply: str, scale: Collection[int]) -> int | None:
    """The rating in a reply without JSON, or None.

    It is the whole text; else the last whole number after a label (rate, rating, score, grade);
    else N in "N out of M" or "N/M", the last where M is the end of the scale, else the last; else
    the only number of the scale that stands alone. Where a label has numbers and the last is not
    of the scale, or an "out of" has none of it, the reply means another scale, and nothing else is
    looked at.
    Inside of an object, numbers count only for a key that is a label.
    """
    text = reply_text(reply)
    whole = _parse_number(text)
    if whole is not None:
        return _in_scale(whole, scale)
    apart = _objects(text)
    labelled = list(_labelled(text, apart))
    if labelled:
        return _last([_in_scale(number, scale) for number in labelled if number.is_integer()][-1:])
    prose = _without_spans(text, apart)
    shares = [(float(one["number"]), float(one["most"])) for one in _OUT_OF.finditer(prose)]
    if shares:
        top = max(scale, default=0)
        same = [_in_scale(number, scale) for number, most in shares if most == top]
        ratings = [_in_scale(number, scale) for number, _ in shares]
        return _last(same) if any(one is not None for one in same) else _last(ratings)
    alone = {_in_scale(number, scale) for number in _alone(prose)} - {None}
    return alone.pop() if len(alone) == 1 else None


def fraction_in_words(reply: str) -> float | None:
    """The number from 0 to 1 in a reply: the whole text, or the last after a label."""
    text = reply_text(reply)
    whole = _parse_number(text)
    found = [whole] if whole is not None else _labelled(text, _objects(text))
    return _last([number if 0 <= number <= 1 else None for number in found])


def _in_scale(number: float, scale: Collection[int]) -> int | None:
    return int(number) if number.is_integer() and int(number) in scale else None


def _last(numbers: Sequence[Number | None]) -> Number | None:
    return next((one for one in reversed(numbers) if one is not None), None)


def _number_of(value: Any) -> float | None:
    if isinstance(value, str):
        return _read(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _read(text: str) -> float | None:
    return float(text.replace("−", "-")) if _NUMBER.fullmatch(text) else None


def _parse_number(text: str) -> float | None:
    """The number if the whole text is one."""
    return _read(text.lstrip(_AROUND + "#").rstrip(_AROUND + "."))


def _objects(text: str) -> list[Span]:
    """Where the objects of a text are; one that is broken goes to the end."""
    found = objects(text)
    broken = _BROKEN_OBJECT.search(_without_spans(text, found))
    return found if broken is None else [*found, Span(broken.start(), len(text))]


def _without_spans(text: str, apart: list[Span]) -> str:
    """The text with the given spans blanked out."""
    parts, at = [], 0
    for start, end in sorted(apart):
        if end > at:
            parts += [text[at:start], " " * (end - max(at, start))]
            at = end
    return "".join([*parts, text[at:]])


def _labelled(text: str, apart: list[Span]) -> Iterator[float]:
    """The numbers that follow a label: a word, or inside of an object a key."""
    prose = _without_spans(text, apart)
    for label in _LABEL.finditer(text):
        is_prose = prose.startswith(label[0], label.start())
        behind = (
            _BEHIND_LABEL.match(prose, label.end())
            if is_prose
            else _BEHIND_KEY.match(text, label.end())
        )
        number = None if behind is None else _read(behind["number"])
        # An object that breaks off behind a digit may have been about to say another.
        whole = behind is not None and (is_prose or text[behind.end("number") :].strip(" .") != "")
        if number is not None and whole:
            yield number


def _alone(text: str) -> Iterator[float]:
    """The single numbers that are not items of a list."""
    text = _SPACED.sub(" ", text)
    if len(_LIST_MARK.findall(text)) > 1:
        text = _LIST_MARK.sub(" ", text)
    for word in text.split():
        number = _read(word.lstrip(_AROUND).rstrip(_AROUND + "."))
        if number is not None:
            yield number
