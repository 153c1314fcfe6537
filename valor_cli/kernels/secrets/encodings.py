"""Find and decode base16 and base64 runs (RFC 4648) in text.

A run has at least 16 characters and must decode to UTF-8 that is mostly printable; words, names
and hashes do not. Wrapped lines are one run. Base64 may be unpadded and use either alphabet;
base16 bytes may be separated ("57 68", "57:68", "0x57").
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Encoding = Literal["base16", "base64"]

ENCODINGS: tuple[Encoding, ...] = ("base16", "base64")
SHORTEST = 16
"""Characters of a run, at least."""
DEEPEST = 3
"""Encodings inside each other that are undone."""
PRINTABLE = 0.9
"""The part of the decoded characters that must be printable; in short runs, all."""
_SHORT = 24
_FOLDERS = 4
"""Names with "/" in front of a run that are tried without."""
_NUMBER = 20
"""Decimal digits that may be a number rather than base 16, below this many."""

_SET = r"A-Za-z0-9+/_\-"
_LINE = re.compile(rf"(?<![{_SET}])[{_SET}]{{{SHORTEST},}}+(={{0,2}})")
_NEXT_LINE = re.compile(rf"(?:\r?\n|\\r\\n|\\n)[ \t>]{{0,8}}([{_SET}]++)(={{0,2}})")
_PIECE = re.compile(rf"[A-Za-z0-9]{{{SHORTEST},}}+")
_HEX = re.compile(r"(?:0x)?((?:[0-9A-Fa-f]{2})++)\Z")
_PARTED_HEX = re.compile(
    r"[0-9A-Fa-f](?<![0-9A-Za-z_][0-9A-Fa-f])[0-9A-Fa-f]"
    r"(?:(?:[ :\-\n]|,[ ]?)[0-9A-Fa-f]{2}(?![0-9A-Za-z_])){7,}+"
    r"|(?:\\x[0-9A-Fa-f]{2}){8,}+|0x[0-9A-Fa-f]{2}(?:[ ,]{1,2}0x[0-9A-Fa-f]{2}){7,}+"
)
_GAPPED = re.compile(r"[ :\-\n,][ ]?(?:[0-9A-Fa-f]{2}[ :\-\n,][ ]?){2}")
"""In each of several bytes that are parted by one character; it begins with one that is rarer."""
_NO_HEX = re.compile(r"0x|[^0-9A-Fa-f]")
_STANDARD = str.maketrans("-_", "+/")


class Encoded(NamedTuple):
    """An encoded run and its decoded text.

    Attributes:
        start, end: Characters of the text, the end not included.
        encodings: What was undone, the outermost first.
        text: What came out.
    """

    start: int
    end: int
    encodings: tuple[Encoding, ...]
    text: str


class _Run(NamedTuple):
    """A run of alphabet characters without a space."""

    start: int
    end: int
    characters: str

    def part(self, first: int, last: int | None) -> _Run:
        """From one character to another of a single line, or to the end."""
        end = self.end if last is None else self.start + last
        return _Run(self.start + first, end, self.characters[first:last])


def encoded_runs(text: str, encodings: Sequence[Encoding] = ENCODINGS) -> list[Encoded]:
    """Encoded runs in text order, each followed by those nested in it, up to `DEEPEST`.

    Args:
        text: Any text.
        encodings: Those of the outermost runs.

    Time grows with the length of the text alone.
    """
    return list(_nested(text, encodings, DEEPEST))


def _nested(text: str, encodings: Sequence[Encoding], depth: int) -> Iterator[Encoded]:
    for run in _outermost(text, encodings):
        yield run
        if depth > 1:
            for inner in _nested(run.text, ENCODINGS, depth - 1):
                yield Encoded(run.start, run.end, run.encodings + inner.encodings, inner.text)


def _outermost(text: str, encodings: Sequence[Encoding]) -> list[Encoded]:
    found: list[Encoded] = []
    for lines in _wrapped(text):
        found += _decoded(lines, encodings)
    if "base16" in encodings and ("0x" in text or "\\x" in text or _GAPPED.search(text)):
        for run in _PARTED_HEX.finditer(text):
            said = _base16(_NO_HEX.sub("", run[0]))
            if said is not None:
                found.append(Encoded(run.start(), run.end(), ("base16",), said))
    return sorted(found)


def _wrapped(text: str) -> Iterator[list[_Run]]:
    """Runs of characters, with the lines that go on with them."""
    at = 0
    for start, end in _long_words(text):
        at = max(at, start)
        while (first := _LINE.search(text, at, end)) is not None:
            lines = [_Run(first.start(), first.end(), first[0].rstrip("="))]
            width = len(lines[0].characters)
            last = first
            while not last[last.lastindex or 0]:
                following = _NEXT_LINE.match(text, last.end())
                if following is None or len(following[1]) > width:
                    break
                last = following
                lines.append(_Run(last.start(1), last.end(), last[1]))
                if len(last[1]) < width:
                    break
            yield lines
            at = last.end()


def _long_words(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each word that may hold a run."""
    end = 0
    for word in text.split():
        if len(word) >= SHORTEST:
            start = text.index(word, end)
            end = start + len(word)
            yield start, end


def _decoded(lines: list[_Run], encodings: Sequence[Encoding]) -> Iterator[Encoded]:
    """Decode lines together, otherwise one by one, otherwise in parts."""
    for run in _together(lines):
        whole = _one(run, encodings)
        if whole is not None:
            yield whole
            return
    for line in lines:
        whole = _one(line, encodings) if len(lines) > 1 else None
        if whole is not None:
            yield whole
            continue
        for piece in _PIECE.finditer(line.characters):
            if len(piece[0]) < len(line.characters):
                part = _one(line.part(*piece.span()), encodings)
                if part is not None:
                    yield part


def _together(lines: list[_Run]) -> Iterator[_Run]:
    """All lines; without the last, which may be a word; without folders in front ("data/SGVs…")."""
    first, last = lines[0], lines[-1]
    whole = _Run(first.start, last.end, "".join(line.characters for line in lines))
    yield whole
    if len(lines) > 2:
        most = whole.characters[: -len(last.characters)]
        yield _Run(first.start, lines[-2].end, most)
    at = first.characters.find("/")
    for _ in range(_FOLDERS):
        if at >= 0:
            yield whole.part(at + 1, None)
            at = first.characters.find("/", at + 1)


def _one(run: _Run, encodings: Sequence[Encoding]) -> Encoded | None:
    """Decode one run, as base16 if possible, otherwise base64."""
    if len(run.characters) < SHORTEST:
        return None
    digits = _HEX.match(run.characters) if "base16" in encodings else None
    said = _base16(digits[1]) if digits else None
    if said is not None:
        return Encoded(run.start, run.end, ("base16",), said)
    said = _base64(run.characters) if "base64" in encodings else None
    return None if said is None else Encoded(run.start, run.end, ("base64",), said)


def _base16(digits: str) -> str | None:
    if len(digits) < SHORTEST or (len(digits) < _NUMBER and digits.isdecimal()):
        return None
    return _readable(bytes.fromhex(digits))


def _base64(characters: str) -> str | None:
    # One character over whole groups of four says nothing: the end was cut off.
    if characters.isdecimal():
        return None
    whole = characters[: len(characters) - (len(characters) % 4 == 1)].translate(_STANDARD)
    return _readable(base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _readable(raw: bytes) -> str | None:
    """The text that bytes are, if they are one."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        # The last character may be cut off.
        if error.start < max(1, len(raw) - 3) or error.reason != "unexpected end of data":
            return None
        text = raw[: error.start].decode()
    printable = sum(each.isprintable() or each in "\n\r\t" for each in text)
    wanted = len(text) * (PRINTABLE if len(raw) >= _SHORT else 1)
    return text if printable >= wanted else None
