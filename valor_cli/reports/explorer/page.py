"""What a page needs to show an explorer: its script and its style."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "page" / "explorer"

SCRIPTS: Final = (
    "elements",
    "data",
    "filters",
    "counting",
    "search",
    "selection",
    "drawing",
    "text",
    "list",
    "card",
    "panel",
    "threshold",
    "main",
)
"""Modules in the order in which they stand in the page."""


def script() -> str:
    """All modules as one, whose names are its own."""
    modules = [(FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return f'(() => {{\n"use strict";\n{"".join(modules)}}})();\n'


def style() -> str:
    """The style sheet."""
    return (FOLDER / "explorer.css").read_text(encoding="utf-8")
