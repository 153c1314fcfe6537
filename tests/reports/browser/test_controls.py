"""What moves, by mouse and by keyboard: tables, choices, cells, sliders, colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from valor_cli.reports.render.html.report import to_html

from tests.reports.browser.conftest import Opener
from tests.reports.task_runs import classified
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser

WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def _column(page: Any, table: str, at: int) -> list[str]:
    rows = f"[...document.querySelector('{table}').tBodies[0].rows]"
    return list(
        page.evaluate(f"{rows}.filter((r) => !r.hidden).map((r) => r.cells[{at}].textContent)")
    )


@WIDTHS
def test_labels_are_sorted_and_filtered(opened: Opener, two_models: RunResult, width: int) -> None:
    with opened(to_html(two_models), width) as page:
        table = "#label-table"
        head = page.locator(f"{table} thead button").nth(1)  # ground truths
        head.click()
        first = [int(text.replace(",", "")) for text in _column(page, table, 1)]
        assert first == sorted(first, reverse=True)
        head.press("Enter")
        again = [int(text.replace(",", "")) for text in _column(page, table, 1)]
        assert again == sorted(again)
        sorts = page.locator(f"{table} [aria-sort]:not([aria-sort=none])")
        assert (sorts.count(), sorts.get_attribute("aria-sort")) == (1, "ascending")
        field = page.locator(".filter input")
        field.fill("bear")
        assert _column(page, table, 0) == ["teddy_bear", "bear"] or set(
            _column(page, table, 0)
        ) == {"bear", "teddy_bear"}
        assert page.locator("output.count").inner_text() == "2 of 80 labels"
        field.fill("")
        assert page.locator("output.count").inner_text() == "80 labels"


@WIDTHS
def test_cells_open_their_examples(opened: Opener, width: int) -> None:
    with opened(to_html(classified()), width) as page:
        cell = page.locator(".matrix .wrong button:visible").first
        told = cell.get_attribute("aria-label")
        assert cell.get_attribute("aria-haspopup") == "dialog"
        cell.focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        assert told.startswith(dialog.get_attribute("aria-label"))
        assert page.evaluate("document.activeElement.textContent") == "Close"
        page.keyboard.press("Tab")  # on to the first link inside
        assert page.evaluate("!!document.activeElement.closest('[popover]')")
        page.keyboard.press("Escape")
        assert dialog.count() == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == told
        cell.click()
        assert dialog.count() == 1
        page.mouse.click(2, 2)  # beside it
        assert dialog.count() == 0


def test_colours_are_chosen_and_kept(opened: Opener, two_models: RunResult) -> None:
    with opened(to_html(two_models)) as page:
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        button = page.get_by_role("button", name="Switch to dark colours")
        button.click()
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        assert page.evaluate(ground) == dark
        page.get_by_role("button", name="Switch to light colours").press("Enter")
        assert page.evaluate(ground) == light


def test_the_tab_key_reaches_everything_and_leaves_it(
    opened: Opener, found: Callable[..., RunResult]
) -> None:
    with opened(to_html(found(("m",), ("cat", "dog")))) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        reached = (
            "document.activeElement === document.body ? null : document.activeElement.outerHTML"
        )
        seen = []
        for _ in range(400):
            page.keyboard.press("Tab")
            now = page.evaluate(reached)
            if now is None:
                break
            seen.append(now)
        else:
            raise AssertionError("the end of the page is not reached")
        assert any('type="range"' in one for one in seen)
        assert any("popovertarget" in one for one in seen)
        page.keyboard.press("Shift+Tab")
        assert page.evaluate(reached) is not None


def test_the_skip_link_leads_to_the_results(opened: Opener, two_models: RunResult) -> None:
    with opened(to_html(two_models)) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
