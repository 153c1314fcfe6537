"""Count the pages of a PDF.

The number is that of the document's page tree: the `/Count` of the `/Pages` that the catalog of
the last trailer names (ISO 32000-1, 7.7). Objects are located by scanning the file and its object
streams; of several versions of one the last counts. Nothing is rendered or evaluated.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

MOST_INFLATED = 1 << 26
"""Bytes of object streams that are decompressed, at most."""

_HEAD = 1024
"""The first bytes, of which `%PDF-` stands somewhere."""

_TOKEN = re.compile(
    rb"(?<!\d)(\d{1,10})\s{1,8}\d{1,5}\s{1,8}obj\b|endobj|(?<!end)stream(?=\r?\n)|trailer|startxref"
)
_ROOT = re.compile(rb"/Root\s{1,8}(\d{1,10})\s{1,8}\d{1,5}\s{1,8}R")
_PAGES = re.compile(rb"/Pages\s{1,8}(\d{1,10})\s{1,8}\d{1,5}\s{1,8}R")
_COUNT = re.compile(rb"/Count\s{1,8}(\d{1,10})(?:\s{1,8}\d{1,5}\s{1,8}(R))?")
_NUMBER = re.compile(rb"\d{1,10}")


def is_pdf(data: bytes) -> bool:
    """Whether the bytes are a PDF."""
    return b"%PDF-" in data[:_HEAD]


def page_count(data: bytes) -> int | None:
    """Number of pages; None if the page tree is invalid."""
    objects: dict[int, bytes] = {}
    root = None
    for number, content in _objects(data):
        if number is not None and content:
            objects[number] = content
        if found := _ROOT.search(content):
            root = int(found[1])
    catalog = None if root is None else objects.get(root)
    pages = None if catalog is None else _PAGES.search(catalog)
    tree = None if pages is None else objects.get(int(pages[1]))
    count = None if tree is None else _COUNT.search(tree)
    if count is None:
        return None
    if count[2] is None:
        return int(count[1])
    known = _NUMBER.search(objects.get(int(count[1]), b""))
    return None if known is None else int(known[0])


def _objects(data: bytes) -> Iterator[tuple[int | None, bytes]]:
    """Every object with its number, and every trailer without, in the order of the file."""
    number: int | None = None
    start: int | None = None
    at, left = 0, MOST_INFLATED
    while token := _TOKEN.search(data, at):
        at = token.end()
        if token[1] is not None or token[0] == b"trailer":
            number, start = None if token[1] is None else int(token[1]), at
            continue
        content = b"" if start is None else data[start : token.start()]
        yield number, content
        start = None
        if token[0] == b"stream":
            end = data.find(b"endstream", at)
            end = len(data) if end < 0 else end
            if b"/ObjStm" in content:
                inflated = _inflated(content, data[at:end].lstrip(b"\r\n"), left)
                left -= len(inflated)
                yield from _packed(content, inflated)
            at = end + len(b"endstream")


def _inflated(content: bytes, stream: bytes, most: int) -> bytes:
    """The bytes of an object stream; none where it is coded in another way, or damaged."""
    if b"/Filter" not in content:
        return stream
    if b"/FlateDecode" not in content or most <= 0:
        return b""
    try:
        return zlib.decompressobj().decompress(stream, most)
    except zlib.error:
        return b""


def _packed(content: bytes, stream: bytes) -> Iterator[tuple[int, bytes]]:
    """The objects of an object stream, which begins with the numbers and places of all."""
    first = re.search(rb"/First\s{1,8}(\d{1,10})", content)
    if first is None:
        return
    base = int(first[1])
    numbers = [int(one) for one in _NUMBER.findall(stream[:base])]
    places = [base + place for place in numbers[1::2]]
    for number, start, end in zip(numbers[::2], places, [*places[1:], len(stream)], strict=False):
        yield number, stream[start:end]
