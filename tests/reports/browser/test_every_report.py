"""Every report at two widths, light and dark: quiet, accessible, readable with scripts off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reports.browser.conftest import AXE, CONFIGS, Opener
from tests.reports.browser.pages import PAGES
from valor_cli import catalogue

pytestmark = pytest.mark.browser


@pytest.fixture
def report(request: pytest.FixtureRequest, shipped: Callable[[str], Path]) -> Path | str:
    """The page of that name."""
    name = request.param
    return PAGES[name]() if name in PAGES else shipped(name)


def every(report: tuple[str, ...] = (*CONFIGS, *PAGES)) -> Any:
    return pytest.mark.parametrize("report", report, indirect=True)


def violations(page: Any) -> list[str]:
    """What axe finds wrong with the page, of whatever severity, and where."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['target']}" for one in found for node in one["nodes"]]


LOOKS = [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]


@pytest.mark.parametrize(
    ("report", "width", "scheme"),
    [
        (name, *look)
        for name in (*CONFIGS, *PAGES)
        # Configs for further uses of a task have little on their pages that its own has not.
        for look in (LOOKS if name in (*catalogue.task_names(), *PAGES) else LOOKS[:2])
    ],
    indirect=["report"],
)
def test_looks(
    report: Path | str,
    width: int,
    scheme: str,
    opened: Opener,
    pictures: Path,
    request: pytest.FixtureRequest,
) -> None:
    name = request.node.callspec.params["report"]
    with opened(report, width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("CSS.supports('color', 'light-dark(red, blue)')")
        # pictures further down are read in when they are scrolled to
        page.evaluate("document.querySelectorAll('img').forEach((one) => one.loading = 'eager')")
        page.wait_for_function("[...document.images].every((one) => one.complete)")
        page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)
        assert violations(page) == []


FOLDED = "details:not([open]), .vh, .pick, .reader, #counted, defs, title, option"
"""What a summary opens and what only a script works; the curves' numbers stand in their tables."""

HIDDEN = f"""() => [...document.querySelectorAll("main *")].filter(
  (node) => node.textContent.trim() && !node.checkVisibility()
    && !node.closest("{FOLDED}")
).map((node) => node.outerHTML.slice(0, 200))"""
"""What a reader without scripts can neither see nor unfold."""


@every()
def test_readable_without_scripts(report: Path | str, opened: Opener) -> None:
    with opened(report, java_script_enabled=False) as page:
        assert page.evaluate(HIDDEN) == []
        assert page.evaluate("document.querySelectorAll('.chosen').length") == 0


@every(CONFIGS)
def test_prints(report: Path | str, opened: Opener) -> None:
    tools = "[...document.querySelectorAll('nav, select, input, .link')]"
    seen = f"{tools}.filter((node) => node.checkVisibility())"
    with opened(report, 760) as page:
        page.emulate_media(media="print")
        assert page.evaluate(f"{seen}.map((node) => node.outerHTML)") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 760
