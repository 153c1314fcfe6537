"""Pages of PDFs, of several writers and by hand."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path

import pytest
from PIL import Image

from valor_cli.evaluators.structure import pdf_pages
from valor_cli.evaluators.structure.pdf_pages import is_pdf, page_count

DATA = Path("tests/real_data/text/artifacts")


@pytest.mark.parametrize("pages", [1, 2, 9])
def test_pages_of_pillow(pages: int) -> None:
    picture, file = Image.new("L", (8, 8)), io.BytesIO()
    picture.save(file, "pdf", save_all=True, append_images=[picture] * (pages - 1))
    assert is_pdf(file.getvalue())
    assert page_count(file.getvalue()) == pages


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("seven_pages_in_object_streams", 7),
        ("eight_pages_after_an_update", 8),
        # Its page tree lies in a stream that only the password opens.
        ("encrypted_object_streams", None),
    ],
)
def test_pages_of_other_writers(name: str, pages: int | None) -> None:
    data = (DATA / f"{name}.pdf").read_bytes()
    assert is_pdf(data)
    assert page_count(data) == pages


CATALOG = b"1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n"
TREE = b"2 0 obj\n<</Type /Pages /Kids [] /Count 3>>\nendobj\n"
TRAILER = b"trailer\n<</Size 3 /Root 1 0 R>>\nstartxref\n0\n%%EOF"


def test_by_hand() -> None:
    assert page_count(b"%PDF-1.4\n" + CATALOG + TREE + TRAILER) == 3
    # A later version of an object is the one that counts.
    later = b"2 0 obj <</Type /Pages /Count 4>> endobj\n"
    assert page_count(CATALOG + TREE + TRAILER + later + TRAILER) == 4
    # The number may be an object of its own.
    apart = b"2 0 obj <</Type /Pages /Count 7 0 R>> endobj 7 0 obj 12 endobj\n"
    assert page_count(CATALOG + apart + TRAILER) == 12
    # What stands in the stream of a page is no object.
    stream = b"5 0 obj <</Length 9>> stream\n" + later + b"endstream endobj\n"
    assert page_count(CATALOG + TREE + stream + TRAILER) == 3


def test_an_object_stream_by_hand() -> None:
    one, two = b"<</Type /Catalog /Pages 2 0 R>> ", b"<</Type /Pages /Count 5>>"
    head = b"1 0 2 %d " % len(one)
    for coded, filters in (
        (head + one + two, b""),
        (zlib.compress(head + one + two), b"/Filter /FlateDecode"),
    ):
        described = b"9 0 obj <</Type /ObjStm /N 2 /First %d %s>> stream\r\n" % (len(head), filters)
        assert page_count(described + coded + b"\nendstream endobj " + TRAILER) == 5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7",
        CATALOG + TREE,
        TREE + TRAILER,
        CATALOG + TRAILER,
        CATALOG + b"2 0 obj <</Type /Pages>> endobj " + TRAILER,
        b"1 0 obj <</ObjStm /First 9 /Filter /FlateDecode>> stream\nno zlib\nendstream" + TRAILER,
        b"1 0 obj <</ObjStm /Filter /FlateDecode>> stream\n",
    ],
)
def test_what_cannot_be_told(data: bytes) -> None:
    assert page_count(data) is None


def test_a_stream_that_grows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_pages, "MOST_INFLATED", 1000)
    inflated = []
    inflate = pdf_pages._inflated

    def counted(content: bytes, stream: bytes, most: int) -> bytes:
        found = inflate(content, stream, most)
        inflated.append(len(found))
        return found

    monkeypatch.setattr(pdf_pages, "_inflated", counted)
    bomb = zlib.compress(b" " * 1_000_000)
    one = b"9 0 obj <</Type /ObjStm /First 9 /Filter /FlateDecode>> stream\n" + bomb
    assert page_count((one + b"\nendstream endobj\n") * 5 + TRAILER) is None
    assert sum(inflated) <= 1000


def test_patterns_are_bounded() -> None:
    # A bounded number of characters can follow each place, so the search is linear.
    patterns = [one.pattern for one in vars(pdf_pages).values() if isinstance(one, re.Pattern)]
    assert len(patterns) == 5
    assert not any(b"*" in one or b"+" in one for one in patterns)


@pytest.mark.parametrize("unit", [b"1 0 obj ", b"trailer ", b"stream\n", b"1 ", b"endobj "])
def test_long_nothing(unit: bytes) -> None:
    # Every byte is looked at a bounded number of times: contents do not overlap.
    data = unit * 20_000
    assert sum(len(content) for _, content in pdf_pages._objects(data)) <= len(data)
    assert page_count(data) is None
