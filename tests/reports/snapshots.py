"""The reports of all shipped configs that ask no model: `python -m tests.reports.snapshots` writes.

Of a page an outline is kept: its headings, what it charts, and the first rows of its tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.program import ROOT
from tests.reports.pages import body, plain, rows
from tests.reports.rendered import Rendered
from valor_cli.api import evaluate
from valor_cli.results import RunResult

KEPT = Path(__file__).with_name("snapshots")
NEEDS_MODELS = {"text_generation_models"}
"""Configs that need files of models."""

CONFIGS = tuple(
    path.stem for path in sorted((ROOT / "configs").glob("*.yaml")) if path.stem not in NEEDS_MODELS
)

ROWS = 2
LINES = 220
"""Rows of each table in an outline, and lines of Markdown, that are kept."""

_UNSTEADY = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d)?", "<time>"),
    (r"\b\d+\.\d\d s\b", "<duration>"),
    (r"\b[0-9a-f]{12,64}\b", "<sha256>"),
    (r"\| valor \| [\w.+]+ \|", "| valor | <version> |"),
    (r"^\| (command|config) \|.*$", r"| \1 | <path> |"),
    (re.escape(str(ROOT)), "<root>"),
)


def _steady(text: str) -> str:
    """Without times, hashes and paths, which differ from run to run."""
    for pattern, told in _UNSTEADY:
        text = re.sub(pattern, told, text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _of_markdown(text: str) -> str:
    """The first lines, without the packages of this machine."""
    text = re.sub(r"\n<details><summary>Packages.*?</details>\n", "", text, flags=re.DOTALL)
    lines = text.split("\n")
    more = [f"… {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "\n".join([*lines[:LINES], *more]) + "\n"


def _outline(text: str) -> Iterator[str]:
    """Verdict, headings, tables with their first rows, charts and folded parts, in their order."""
    main = body(text[text.index("<main") :])
    parts = r"<h[123][ >].*?</h[123]>|<table.*?</table>|<figcaption>.*?</figcaption>"
    parts += r"|<summary>.*?</summary>|<p class=\"(?:verdict|scope)[^>]*>.*?</p>|<li>.*?</li>"
    for part in re.findall(parts, main, re.DOTALL):
        if part.startswith("<table"):
            caption = re.search("<caption.*?</caption>", part)
            found = [row for row in rows(part) if row]
            name = plain(caption[0]) if caption else ""
            if name == "Packages":  # those of this machine
                continue
            yield f"[{name}] {len(found)} rows"
            yield from (f"    {' | '.join(row)}" for row in found[: ROWS + 1])
        elif plain(part):
            kind = re.match(r"<(\w+)", part)
            yield f"{'#' if kind and kind[1][0] == 'h' else kind and kind[1]} {plain(part)}"


def told(result: RunResult) -> dict[str, str]:
    """By suffix, what is kept of a run's reports."""
    shown = Rendered(result)
    return {
        "txt": _steady(shown.terminal(width=100)),
        "md": _steady(_of_markdown(shown.markdown)),
        "outline": _steady("\n".join(_outline(shown.page)) + "\n"),
    }


def snapshot(name: str) -> dict[str, str]:
    """What is kept of a shipped config's reports."""
    return told(evaluate(ROOT / "configs" / f"{name}.yaml"))


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for name in CONFIGS:
        for suffix, text in snapshot(name).items():
            (KEPT / f"{name}.{suffix}").write_text(text, encoding="utf-8")
