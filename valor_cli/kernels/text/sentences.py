"""Split text into sentences: markup by rules, prose by sentencex.

A list item begins a sentence, which includes its marker ("2.", "-"). A heading, a table row and a
fenced code block are one sentence each. Horizontal rules ("---", also in tables) are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SPLITTER = "valor-2"
"""What splits texts, as results name it; another name where the same text has other sentences."""

PIECE = 5_000
"""Characters split at once, at most: the work grows as the square of unmatched quotation marks."""

_ENDS = ("\n\n", "\n", ". ", " ")

_QUOTED = r"[ \t]*(?:>[> \t]*)?"
_FENCE = re.compile(rf"{_QUOTED}(?P<mark>`{{3,}}|~{{3,}})")
_RULE = re.compile(r"[ \t>|]*[-=*_:](?:[-=*_:|+ \t]*[-=*_:|+])?[ \t]*")
_ALONE = re.compile(
    rf"{_QUOTED}(?:\#{{1,6}}[ \t]+\S|\|.*\|[ \t]*$"
    r"|(?P<bold>\*\*|__)[^*_\n]+(?:(?P=bold):?|:(?P=bold))[ \t]*$)"
)
_ITEM = re.compile(
    rf"{_QUOTED}(?:[-*+•‣◦▪●○∙·–—]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivx]{{1,5}})[.)])[ \t]+(?=\S)"
)
_NUMBER = re.compile(r"\(?(\d{1,3})[.)]")
_TAIL = re.compile(r"(?:^|(?P<ahead>\S)\s+)(?P<mark>\(?(?P<number>\d{1,3})[.)])$")
_CLOSING = re.compile(r"[*_\"')\]”’»]+(?=\s|$)")
_WORD_END = re.compile(
    r"(?:(?:^|(?<=[.!?]\s))(?:OK|Ok|No)|\b(?:ok|no|me|may|art|ill))\.(?=\s+[\"'“‘(]?[A-Z][a-z])"
)
"""English words that are abbreviations too, which sentencex never ends a sentence with."""


def split_sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Sentences of a text, stripped.

    Longer texts are cut into pieces of at most `PIECE` characters first: at the last blank line
    of the piece, else at its last line, sentence or word.

    Args:
        text: Any text.
        language: Its ISO 639 code; one that sentencex does not know is split as English.

    Returns:
        (start, end) of each, in order, none empty.
    """
    # A lone surrogate, which no UTF-8 has, would be refused.
    safe = text.encode("utf-8", "replace").decode()
    found: list[tuple[int, int]] = []
    for start, body, end in _blocks(safe):
        if body == end:
            found += _stripped(safe, start, end)
            continue
        mark = safe[start:body].lstrip()
        counted = _NUMBER.match(mark)
        own = _of_prose(safe, body, end, language, int(counted[1]) if counted else 0)
        if own and mark:
            # The marker of a list item belongs to what it marks.
            own[0] = (body - len(mark), own[0][1])
        found += own
    return found


def _blocks(text: str) -> Iterator[tuple[int, int, int]]:
    """(start, body, end) of parts that no sentence goes beyond.

    What stands before the body is the marker of a list item; a part without a body is one sentence.
    """
    start = body = at = 0
    fence = ""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        first, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        mark = _FENCE.match(bare)
        if fence:
            if mark and mark["mark"].startswith(fence) and not bare[mark.end() :].strip():
                yield start, at, at
                start, body, fence = at, at, ""
        elif mark and "`" not in bare[mark.end() :]:
            yield start, body, first
            start, fence = first, mark["mark"]
        elif len(bare.strip()) > 2 and _RULE.fullmatch(bare):
            yield start, body, first
            start = body = at
        elif _ALONE.match(bare):
            yield start, body, first
            yield first, at, at
            start = body = at
        elif item := _ITEM.match(bare):
            yield start, body, first
            start, body = first, first + item.end()
    if fence:
        # A fence that nothing closes.
        yield start, at, at
    else:
        yield start, body, at


def _of_prose(text: str, start: int, end: int, language: str, number: int) -> list[tuple[int, int]]:
    """The sentences of a part that is neither heading, nor table, nor code.

    `number` is that of the list item it is of, 0 where there is none.
    """
    found = _with_markers(text, _segments(text, start, end, language), number)
    if language == "en" and _WORD_END.search(text, start, end):
        return [one for span in found for one in _by_words(text, *span)]
    return found


def _segments(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """What sentencex finds, with quotation marks and markup at the end of what they close."""
    from sentencex import segment  # type: ignore[import-untyped]

    found: list[tuple[int, int]] = []
    for first, stop in _pieces(text, start, end):
        at = first
        for sentence in segment(language, text[first:stop]):
            kept = sentence.strip()
            if not kept:
                continue
            begin = text.index(kept, at)
            at = begin + len(kept)
            closes = found and begin == found[-1][1]
            if closes and (closing := _CLOSING.match(kept)):
                found[-1] = (found[-1][0], begin + closing.end())
                begin = at - len(kept[closing.end() :].lstrip())
            if begin < at:
                found.append((begin, at))
    return found


def _with_markers(
    text: str, spans: Sequence[tuple[int, int]], number: int
) -> list[tuple[int, int]]:
    """Sentences of which none ends with, or is, the marker of the next: "2." within a line."""
    found: list[tuple[int, int]] = []
    waiting, cut, inline = -1, False, 0
    for start, end in spans:
        begin, waiting = (start if waiting < 0 else waiting), -1
        numeral = text[end - 1] in ".)" and text[end - 2 : end - 1].isdigit()
        tail = _TAIL.search(text[max(start, end - 30) : end]) if numeral else None
        if tail:
            counted, mark = int(tail["number"]), end - len(tail["mark"])
            cut = mark > start
            if not cut and (counted in (1, number + 1, inline + 1) or _begins_line(text, mark)):
                waiting, inline = begin, counted
            elif cut and (
                (inline and counted == inline + 1) or (counted == 1 and tail["ahead"] == ":")
            ):
                found.append((begin, begin + len(text[begin:mark].rstrip())))
                waiting, inline = mark, counted
        if waiting < 0:
            found.append((begin, end))
    if waiting >= 0 and cut:
        found[-1] = (found[-1][0], spans[-1][1])
    elif waiting >= 0:
        found.append((waiting, spans[-1][1]))
    return found


def _begins_line(text: str, at: int) -> bool:
    return text[max(0, at - 20) : at].rstrip(" \t>")[-1:] in ("", "\n")


def _by_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence of sentencex, cut behind words that it takes for abbreviations."""
    said = text[start:end]
    begin = 0
    for match in _WORD_END.finditer(said):
        yield start + begin, start + match.end()
        begin = match.end() + len(said[match.end() :]) - len(said[match.end() :].lstrip())
    yield start + begin, end


def _stripped(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The stripped span; None if blank."""
    kept = text[start:end].strip()
    if not kept:
        return []
    begin = text.index(kept, start)
    return [(begin, begin + len(kept))]


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where a part of a text is cut so that no piece is longer than `PIECE`."""
    while end - start > PIECE:
        stop = start + PIECE
        cuts = (text.rfind(one, start, stop) + len(one) for one in _ENDS if one in text[start:stop])
        cut = next(cuts, stop)
        yield start, cut
        start = cut
    yield start, end
