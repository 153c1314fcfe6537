"""The page of a comparison with many samples: some at a time, all of them found."""

from __future__ import annotations

from typing import Any

import pytest
from valor_cli.reports.render.html.compared import compared_html

from tests.oracles.compared import (
    detection_compared,
    image_change,
    models_compared,
    text_change,
    texts_compared,
)
from tests.reports.browser.conftest import Opener

pytestmark = pytest.mark.browser

SEEN = "[...document.querySelectorAll('article')].filter((one) => one.checkVisibility()).length"
FOCUSED = "document.activeElement.id"


def _texts(count: int) -> str:
    return compared_html(texts_compared(changed=[text_change(at) for at in range(count)]))


def _images() -> str:
    return compared_html(detection_compared(changed=[image_change(at) for at in range(5)]))


def _state(page: Any) -> list[object]:
    button = page.locator("#more")
    told = button.text_content() if button.is_visible() else None
    return [page.evaluate(SEEN), page.locator("#shown").text_content(), told]


def test_more_samples_are_asked_for(opened: Opener) -> None:
    with opened(_texts(45)) as page:
        assert _state(page) == [12, "45 samples, 12 shown", "Show 24 more (of 33)"]
        page.locator("#more").focus()
        page.keyboard.press("Enter")
        assert _state(page) == [36, "45 samples, 36 shown", "Show 9 more"]
        assert page.evaluate(FOCUSED) == "sample-faq-012"
        page.locator("#more").click()
        assert _state(page) == [45, "45 samples", None]
        assert page.evaluate(FOCUSED) == "sample-faq-036"


def test_a_choice_is_made_among_all_samples(opened: Opener) -> None:
    with opened(_texts(40)) as page:
        page.locator("#by-text").fill("faq-039")
        assert _state(page) == [1, "1 of 40 samples", None]
        page.locator("#by-text").fill("")
        page.locator("#more").click()
        # every third one is better; a new choice begins at its first samples
        page.locator("#by-word").select_option("better")
        assert _state(page) == [12, "13 of 40 samples, 12 shown", "Show 1 more"]


@pytest.mark.parametrize("first", [True, False])
def test_a_link_shows_its_sample(opened: Opener, first: bool) -> None:
    with opened(_texts(45), at="#sample-faq-040" if first else "") as page:
        if not first:
            page.locator("#by-word").select_option("worse")
            page.evaluate("location.hash = '#sample-faq-040'")
            page.wait_for_function(f"{FOCUSED} === 'sample-faq-040'")
        assert page.locator("#sample-faq-040").is_visible()
        assert page.evaluate(FOCUSED) == "sample-faq-040"
        assert page.locator("#by-word").input_value() == ""
        assert _state(page)[:2] == [41, "45 samples, 41 shown"]


def test_a_choice_of_a_metric_unfolds_its_value(opened: Opener) -> None:
    changes = texts_compared().changed[1].changes
    many = [type(changes[0])(f"m{at}", "value", {}, 0.1, 0.9 - at / 10, "worse") for at in range(6)]
    page_of = compared_html(texts_compared(changed=[text_change(0, changes=many)]))
    with opened(page_of) as page:
        fold = page.locator(".beside .quietly")
        for metric, unfolded in (("m5", True), ("m1", False)):
            page.locator("#by-metric").select_option(metric)
            assert fold.evaluate("(one) => one.open") is unfolded


@pytest.mark.parametrize("scripts", [True, False])
def test_paper_gets_some_of_many(opened: Opener, scripts: bool) -> None:
    with opened(_texts(45), java_script_enabled=scripts) as page:
        page.emulate_media(media="print")
        assert page.evaluate(SEEN) == 25
        assert page.locator("#paper").inner_text() == "On paper the first 25 of 45 samples."


PLACES = """() => [...document.querySelectorAll(".drawing")].slice(0, 4).map((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return [left, top, width, height].map(Math.round);
})"""


@pytest.mark.parametrize(("width", "rows"), [(1280, 1), (800, 2), (390, 4)])
def test_drawings_are_small_and_stand_beside_each_other(
    opened: Opener, width: int, rows: int
) -> None:
    with opened(_images(), width) as page:
        places = page.evaluate(PLACES)
        assert len({top for _, top, _, _ in places}) == rows
        assert all(wide <= 360 and high <= 280 for _, _, wide, high in places)
        assert min(wide for _, _, wide, _ in places) > 220


def test_answers_stand_beside_each_other(opened: Opener) -> None:
    with opened(compared_html(models_compared())) as page:
        sides = page.locator("article .two").first.locator(".side")
        boxes = [sides.nth(at).bounding_box() for at in range(2)]
        question = page.locator("article .shared").first.bounding_box()
        assert boxes[0]
        assert boxes[1]
        assert question
        assert boxes[0]["y"] == boxes[1]["y"] > question["y"]


def test_arrows_go_through_the_objects_of_a_drawing(opened: Opener) -> None:
    with opened(_images()) as page:
        page.locator(".drawing").first.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.classList.contains('o')")
