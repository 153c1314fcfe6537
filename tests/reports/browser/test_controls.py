"""What moves, by mouse and by keyboard: tables, choices, cells, sliders, colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.reports.browser.conftest import Opener
from tests.reports.rendered import page as to_html
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser

WIDTHS = pytest.mark.parametrize("width", [1280, 390])


LABELS = "table.sortable:not(:has(th[colspan]))"
"""The labels by what changed."""


def _column(page: Any, at: int) -> list[str]:
    rows = f"[...document.querySelector('{LABELS}').tBodies[0].rows]"
    return list(
        page.evaluate(f"{rows}.filter((r) => !r.hidden).map((r) => r.cells[{at}].textContent)")
    )


@WIDTHS
def test_labels_are_sorted_and_filtered(opened: Opener, two_models: RunResult, width: int) -> None:
    with opened(to_html(two_models), width) as page:
        table = page.locator(LABELS).first
        head = table.locator("thead button").nth(4)  # ground truths
        head.click()
        first = [int(text.replace(",", "")) for text in _column(page, 4)]
        assert first == sorted(first, reverse=True)
        head.press("Enter")
        assert [int(text.replace(",", "")) for text in _column(page, 4)] == sorted(first)
        sorts = table.locator("[aria-sort]:not([aria-sort=none])")
        assert (sorts.count(), sorts.get_attribute("aria-sort")) == (1, "ascending")
        # What is undefined comes last, whatever the direction.
        for _ in range(2):
            table.locator("thead button").nth(1).click()
            assert _column(page, 0)[-1] == "toaster"
        field = page.get_by_label("Filter rows: AP@").first
        field.fill("bear")
        assert sorted(_column(page, 0)) == ["bear", "teddy_bear"]
        assert page.locator(".filter output").first.inner_text() == "2 of 80 rows"
        field.fill("")
        assert len(_column(page, 0)) == 80


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
        assert any('class="scroll' in one for one in seen)
        page.keyboard.press("Shift+Tab")
        assert page.evaluate(reached) is not None


def test_the_skip_link_leads_to_the_results(opened: Opener, two_models: RunResult) -> None:
    with opened(to_html(two_models)) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
