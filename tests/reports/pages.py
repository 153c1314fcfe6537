"""A page, read tag by tag."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with their attributes; every tag that opens has to close in its turn."""

    VOID = frozenset(
        {
            *("meta", "input", "path", "rect", "wbr", "link", "br", "img"),
            *("use", "image", "circle", "line", "polyline"),
        }
    )

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = text
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def values(self, attribute: str) -> list[str]:
        """What an attribute says, wherever it stands."""
        return [str(attrs[attribute]) for _, attrs in self.tags if attribute in attrs]


def body(text: str) -> str:
    """A page without its style and scripts."""
    return re.sub("<(style|script)[ >].*?</\\1>", "", text, flags=re.DOTALL)


def plain(html: str) -> str:
    """What is read of it."""
    tags = re.sub("<[^>]+>", " ", re.sub("<wbr>|</?bdi>", "", html))
    told = unescape(tags)
    return re.sub(r"\s+", " ", told).strip()


def rows(html: str) -> list[list[str]]:
    """The cells of all rows of tables."""
    found = re.findall(r"<tr[ >].*?</tr>", html, re.DOTALL)
    return [[plain(cell) for cell in re.findall(r"<t[dh][ >].*?</t[dh]>", row)] for row in found]
