"""Pages in a real browser: what moves, data that attacks, a large run, a history, a notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.oracles.nights import night, written
from tests.reports.browser.conftest import Opener
from tests.reports.browser.test_every_report import violations
from tests.reports.catalogue import HOSTILE_RUNS, huge_texts, pairs
from tests.reports.conftest import built_with_findings
from tests.reports.rendered import page as to_html
from tests.reports.text_runs import MODELS, text_run
from valor_cli import evaluate
from valor_cli.pipeline.history import history_of
from valor_cli.reports.render import html
from valor_cli.reports.sections.history import history_report
from valor_cli.reports.writer import write_reports
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser

LABELS = "table.sortable:not(:has(th[colspan]))"
"""The labels by what changed."""


def _column(page: Any, at: int) -> list[str]:
    rows = f"[...document.querySelector('{LABELS}').tBodies[0].rows]"
    return list(
        page.evaluate(f"{rows}.filter((r) => !r.hidden).map((r) => r.cells[{at}].textContent)")
    )


@pytest.mark.parametrize("width", [1280, 390])
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


def test_the_tab_key_reaches_everything_and_leaves_it(opened: Opener) -> None:
    with opened(to_html(built_with_findings(("m",), ("cat", "dog")))) as page:
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


BROKEN = """() => {
  const broken = [];
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  for (const cell of document.querySelectorAll("main table:not(#explorer *) :is(th, .status)")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      for (const word of text.data.matchAll(/[A-Za-z]{2,12}/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((one) => one.top));
        if (lines.size > 1) broken.push(word[0]);
      }
  }
  return broken;
}"""


def test_words_of_headings_stay_whole_on_a_phone(opened: Opener, two_models: RunResult) -> None:
    with opened(to_html(two_models), 390) as page:
        assert page.evaluate(BROKEN) == []


KINDS = [name for name in HOSTILE_RUNS if not name.startswith("alike")]

SEEN = """() => ({
  owned: window.owned ?? null,
  title: document.title,
  names: [...new Set([...document.querySelectorAll("*")].map((one) => one.localName))],
  scripts: document.scripts.length,
  handlers: [...document.querySelectorAll("*")].filter((one) =>
    [...one.attributes].some((name) => name.name.startsWith("on"))).length,
  links: [...document.querySelectorAll("[href], [src]")].map((one) =>
    one.getAttribute("href") ?? one.getAttribute("src")),
  ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
})"""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_hostile_data_runs(opened: Opener, kind: str) -> None:
    text = to_html(HOSTILE_RUNS[kind]())
    with opened(text, 390) as page:
        seen: dict[str, Any] = page.evaluate(SEEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen["owned"] is None
    assert re.fullmatch(
        r"(FAILED|DONE|INCOMPLETE|BETTER|NOTHING TO COMPARE) · .+ · valor", seen["title"]
    )
    assert not {"iframe", "object", "embed", "form", "link", "base"} & set(seen["names"])
    assert seen["scripts"] == text.count("<script")
    assert seen["handlers"] == 0
    assert all(link.startswith("#") for link in seen["links"])
    assert len(set(seen["ids"])) == len(seen["ids"])


def test_texts_of_ten_megabytes_stay_small(opened: Opener) -> None:
    text = to_html(huge_texts())
    assert len(text) < 1_000_000
    with opened(text) as page:
        assert page.evaluate("window.owned ?? null") is None


SAMPLES = 100_000


def test_a_large_run_is_small_and_works(opened: Opener, pictures: Path) -> None:
    """All that a run of texts has, and all that one of labels has."""
    things, texts = built_with_findings(MODELS), text_run(samples=SAMPLES)
    large = replace(
        things,
        metrics=[*things.metrics, *texts.metrics],
        primary=[*things.primary, *texts.primary],
        examples=[*things.examples, *texts.examples],
        samples=[*things.samples, *texts.samples],
        coverage=texts.coverage,
        problems=texts.problems * 50,
        insights=texts.insights * 50,
        comparisons=pairs(MODELS),
    )
    write_reports(large, pictures, ["html"])
    report = pictures / "report.html"
    assert report.stat().st_size < 3_000_000
    with opened(report) as page:
        table = page.locator("table.sortable").first
        table.locator("thead button").nth(1).click()
        assert table.locator("[aria-sort=descending]").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_report_works_in_a_frame(opened: Opener) -> None:
    rows = [
        {"id": at, "label": "cat", "prediction": "dog" if at % 3 else "<script>alert(1)</script>"}
        for at in range(9)
    ]
    result: Any = evaluate(
        task="classification", samples=rows, metrics=["accuracy", "sample_scores"]
    )
    shown = f"<!doctype html><title>cell</title>{result._repr_html_()}"
    with opened(shown) as page:
        frame = page.frame_locator("iframe")
        assert frame.locator("h1").first.inner_text().startswith("Classification")
        frame.get_by_placeholder("Id or text").fill("7")
        frame.get_by_text("1 of 9 samples").wait_for(timeout=5000)
        # Links of the page lead to its parts, and not to the page around it.
        frame.get_by_role("link", name="Run").first.click()
        assert page.frames[1].evaluate("location.hash") == "#run"
        assert frame.locator("h1").count() == 1
        frame.get_by_role("button", name="Dark").click()
        assert frame.locator("html[data-theme=dark]").count() == 1


@pytest.fixture
def history(tmp_path: Path) -> Path:
    nights = [night(at + 9, right, gate=0.4) for at, right in enumerate((10, 11, 11, 3, 11, 5))]
    named = (
        replace(one, run=replace(one.run, commit=f"{at + 1:x}" * 40))
        for at, one in enumerate(nights)
    )
    paths = written(tmp_path / "nightly", *named)
    (Path(paths[0]) / "report.html").write_text("<title>report</title>")
    out = tmp_path / "out"
    out.mkdir()
    page = out / "history.html"
    page.write_text(html.to_html(history_report(history_of(paths), str(out))), encoding="utf-8")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_history_reads_well(
    opened: Opener, history: Path, pictures: Path, width: int, scheme: str
) -> None:
    with opened(history, width, scheme) as page:
        page.screenshot(path=pictures / f"history-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
        assert page.locator("svg.chart circle.bad").count() == 2
        page.get_by_role("link", name="2026-03-09 02:30").click()
        assert page.title() == "report"
