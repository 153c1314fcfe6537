"""The documentation as a reader sees it: pages, their code blocks and their links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    str(path.relative_to(ROOT)) for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
)
NOT_RUN = "<!-- not run -->"

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and whether the page says that it is not run."""

    language: str
    text: str
    not_run: bool

    @property
    def commands(self) -> list[str]:
        """The lines a reader would type, prompt removed."""
        lines = self.text.splitlines()
        return [line.removeprefix("$ ") for line in lines if line.startswith(("$ ", "valor "))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[Block]:
    """The page's blocks in these languages, in its order."""
    text = text_of(page)
    return [
        Block(
            found["language"],
            dedent(found["text"]),
            text[: found.start()].rstrip().endswith(NOT_RUN),
        )
        for found in _FENCE.finditer(text)
        if found["language"] in languages
    ]


def links(page: str) -> list[str]:
    """Where the page points, code left out."""
    prose = _FENCE.sub("", text_of(page))
    return [found["target"] for found in _LINK.finditer(prose)]


def anchors(text: str) -> set[str]:
    """What a link may name after #: headings as GitHub spells them, repeated ones numbered."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names
