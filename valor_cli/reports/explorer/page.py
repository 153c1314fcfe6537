"""What a page needs to show an explorer: its script, its style and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from valor_cli.reports.explorer.data import Explorer

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


def context(explorer: Explorer | None) -> dict[str, Any]:
    """Context of explorer.html.j2, and what the page's policy allows beyond its own script.

    Scripts beside the page are loaded by its own script alone.
    """
    if explorer is None:
        return {"explorer": None, "beside_scripts": ""}
    data = explorer.data.decode()
    return {
        "explorer": Markup(data),  # noqa: S704 - JSON in ASCII, without "<"
        "beside_scripts": " 'strict-dynamic'" if explorer.files else "",
    }
