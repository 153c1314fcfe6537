"""Links to single samples, and the search over all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from valor_cli.reports.render.html.report import to_html

from tests.reports.browser.conftest import Opener
from tests.reports.task_runs import classified, overlays, segmented
from tests.reports.text_runs import text_run
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const at = document.activeElement, box = at.getBoundingClientRect();
  return [at.id, at.checkVisibility(), box.top < innerHeight && box.bottom > 0];
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "name",
    [
        "sample-faq-003",  # of the first metric and model, which are shown anyway
        "sample-faq-003.large.pii_leakage",  # a card of a metric and a model not chosen
        "sample-faq-003.medium.values",  # a row of a table that is not chosen
    ],
)
def test_a_link_shows_its_sample(opened: Opener, name: str, width: int) -> None:
    with opened(to_html(text_run()), width, at=f"#{name}") as page:
        assert page.evaluate(FOCUSED) == [name, True, True]
        if "pii_leakage" in name:
            chosen = "[...document.querySelectorAll('#worst-metric, #worst-model')]"
            assert page.evaluate(f"{chosen}.map((one) => one.value)") == ["pii_leakage", "large"]


def test_a_link_opens_the_dialog_of_its_example(opened: Opener) -> None:
    text = to_html(classified())
    names = re.findall(r'id="(sample-[^"]*bayes[^"]*)"', text)
    with opened(text, at=f"#{names[-1]}") as page:
        assert page.evaluate(FOCUSED) == [names[-1], True, True]
        assert page.locator("[popover]:popover-open").count() == 1
        page.keyboard.press("Escape")
        assert page.locator("[popover]:popover-open").count() == 0
        # the same link once more
        page.evaluate(f"location.hash = '#{names[0]}'")
        page.wait_for_function(f"document.activeElement.id === '{names[0]}'")
        # a sample that only dialogs show has no bare name: its first place is meant
        bare = names[-1].split(".")[0]
        page.evaluate(f"location.hash = '#{bare}'")
        page.wait_for_function(f"document.activeElement.id.startsWith('{bare}')")


@pytest.mark.parametrize(
    "at", ["#sample-nothing", "#sample-%E0%A4%A", "#sample-%22%5D%2C*", "#sample-<img onerror=x>"]
)
def test_links_to_nothing_do_nothing(opened: Opener, at: str) -> None:
    with opened(to_html(text_run(("small",))), at=at) as page:
        assert page.evaluate("document.activeElement.tagName") == "BODY"


def _runs() -> dict[str, Callable[[], str]]:
    def image() -> str:
        run = segmented()
        return to_html(run, overlays(run))

    return {
        "texts": lambda: to_html(text_run()),
        "classes": lambda: to_html(classified()),
        "images": image,
    }


@pytest.mark.parametrize("kind", list(_runs()))
def test_every_sample_has_a_link_that_finds_it(opened: Opener, kind: str) -> None:
    with opened(_runs()[kind]()) as page:
        hrefs = "[...document.querySelectorAll('a.link')].map((one) => one.hash.slice(1))"
        links = page.evaluate(hrefs)
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    named = [one for one in ids if one.startswith("sample-")]
    assert set(links) == set(named)
    assert len(links) > 20


def _search(page: Any, text: str) -> tuple[str, list[str]]:
    page.locator("#find").fill(text)
    names = page.locator("#found a").all_inner_texts()
    return page.locator("#found-told").inner_text(), names


def test_search_by_id_and_by_text(opened: Opener) -> None:
    with opened(to_html(text_run())) as page:
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "find"
        told, names = _search(page, "faq-00")
        total = re.search(r"of the (\d+) samples", told)
        assert total

        assert (told, names[0]) == (f"10 of the {total[1]} samples on this page", "faq-000")
        told, _ = _search(page, "HARBOUR  bridge")
        assert told == f"10 of the {total[1]} samples on this page"
        snippet = page.locator("#found li small").first.inner_text()
        assert "When was the harbour bridge opened" in snippet
        told, names = _search(page, "no such thing")
        assert (told, names) == (f"None of the {total[1]} samples on this page", [])
        told, names = _search(page, "faq-")
        assert (len(names), told.endswith("; the first 30")) == (30, True)


def test_search_by_keyboard_alone(opened: Opener) -> None:
    with opened(to_html(text_run())) as page:
        page.keyboard.press("/")
        page.keyboard.type("faq-007")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.textContent") == "faq-007"
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'sample-faq-007'")
        assert page.evaluate(FOCUSED)[1:] == [True, True]
        assert not page.locator("#found").is_visible()
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.value") == ""
        # the key is a character like any other in a field
        page.keyboard.type("a/b")
        assert page.evaluate("document.activeElement.value") == "a/b"


def test_no_field_where_no_sample_is_shown(opened: Opener, two_models: RunResult) -> None:
    with opened(to_html(two_models)) as page:
        assert page.locator("#find").count() == 0
        page.keyboard.press("/")
