"""The parts of a Markdown report."""

from __future__ import annotations

import re


def block(text: str, summary: str) -> str:
    """What a folded block holds, blocks inside it included; a section if it is not folded."""
    if f"<details><summary>{summary}" not in text:
        section = text.split(f"### {summary}\n\n")[1].split("\n\n### ")[0]
        return section.split("\n\n<details><summary>")[0]
    start = text.index(f"<details><summary>{summary}")
    depth = 0
    for found in re.finditer(r"<(/?)details>", text[start:]):
        depth += -1 if found[1] else 1
        if not depth:
            inside = text[start : start + found.start()]
            return inside.partition("</summary>\n\n")[2].rstrip()
    raise AssertionError(f"{summary} is not closed")


def tables_are_whole(text: str) -> bool:
    """Whether every row of each table has as many cells as its head."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = table.splitlines()
        if len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) != 1:
            return False
    return True
