"""The documentation as a reader sees it: pages, their code blocks and their links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")))
)
NOT_RUN = "<!-- not run -->"

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(r"<!-- file: (?P<path>\S+) -->$")
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        not_run: Whether the page says that it is not run.
        path: The file that a reader keeps it in, where the page says so.
    """

    language: str
    text: str
    not_run: bool
    path: str | None

    @property
    def commands(self) -> list[str]:
        """The lines a reader would type, prompt removed."""
        lines = self.text.splitlines()
        return [line.removeprefix("$ ") for line in lines if line.startswith(("$ ", "valor "))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[Block]:
    """The page's blocks in these languages, or in any, in its order."""
    text = text_of(page)
    return [
        _block(found, text[: found.start()].rstrip())
        for found in _FENCE.finditer(text)
        if not languages or found["language"] in languages
    ]


def _block(found: re.Match[str], before: str) -> Block:
    kept = _FILE.search(before)
    path = kept["path"] if kept else None
    return Block(found["language"], dedent(found["text"]), before.endswith(NOT_RUN), path)


def links(page: str) -> list[str]:
    """Where the page points, code left out."""
    prose = _FENCE.sub("", text_of(page))
    return [found["target"] for found in _LINK.finditer(prose)]


@cache
def anchors(text: str) -> set[str]:
    """What a link may name after #: headings as GitHub spells them, repeated ones numbered."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command with `valor` and `python` on the path, and no key in the environment."""
    # Others read pages in environments that have nothing of the program.
    from tests import program

    environment = {name: value for name, value in os.environ.items() if "KEY" not in name}
    if arguments := program.plain(command):
        return program.run(*arguments, cwd=folder, environment=environment)
    programs = folder / ".bin"
    if not programs.exists():
        programs.mkdir()
        for name, what in (("valor", "-m valor_cli"), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {what} "$@"\n')
            (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**environment, "PATH": path, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
