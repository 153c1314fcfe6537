"""Charts that are pointed at, zoomed and moved: by mouse, by keyboard, by touch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.reports.browser.conftest import Opener
from tests.reports.rendered import page as to_html
from tests.reports.task_runs import classified, segmented
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser


def _over(page: Any, kind: str) -> tuple[Any, dict[str, float]]:
    """A chart's plotting area, on the screen."""
    over = page.locator(f".plot.{kind}:visible .u-over").first
    over.scroll_into_view_if_needed()
    page.evaluate("document.activeElement.blur()")
    return over, over.bounding_box()


def _shown(page: Any, kind: str) -> tuple[float, ...] | None:
    """From where to where the axes go; None: the whole way."""
    name = page.locator(f".plot.{kind}:visible .live").first.get_attribute("aria-label")
    found = re.search(r"shown are .*? ([\d.]+) to ([\d.]+), .*? ([\d.]+) to ([\d.]+)\. ", name)
    return tuple(map(float, found.groups())) if found else None


def _drag(page: Any, kind: str) -> None:
    """Over the middle of the chart: from 0.25 to 0.75 of both axes."""
    _, box = _over(page, kind)
    at = [(box["x"] + box["width"] * f, box["y"] + box["height"] * f) for f in (0.25, 0.75)]
    page.mouse.move(*at[0])
    page.mouse.down()
    page.mouse.move(*at[1], steps=5)
    page.mouse.up()


def test_pointing_tells_every_model_and_marks_every_chart(opened: Opener) -> None:
    run = classified()
    with opened(to_html(run)) as page:
        _, box = _over(page, "f1")
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
        tip = page.locator(".plot.f1 .tip")
        assert re.match(r"threshold 0\.[45]\d\d", tip.inner_text())
        points = {row.model: row.points for row in run.curves if row.metric == "pr_curve"}
        first = run.curves[[c.metric for c in run.curves].index("pr_curve")]
        wanted = first.points["f1"][list(first.points["score_threshold"]).index(0.5)]
        for model in points:
            assert model in tip.inner_text()
        assert f"{wanted:.3f}" in tip.inner_text()
        rows = page.locator("#stage .reader tbody tr")
        assert [rows.nth(i).locator("td").first.inner_text() for i in range(2)] == ["0.500"] * 2
        # the threshold is that of the other charts, too
        assert page.locator("#counted .reader tbody td").first.inner_text() == "0.500"
        assert page.locator("#roc output").inner_text() == "0.500"
        page.locator("#counted input[type=range]").press("Home")
        assert rows.first.locator("td").first.inner_text() == "0.050"
        assert page.locator("#roc output").inner_text() == "0.050"
        page.mouse.move(5, 5)
        assert not tip.is_visible()


@pytest.mark.parametrize("back", ["Escape", "double click", "button"])
def test_dragging_zooms_and_there_is_a_way_back(opened: Opener, back: str) -> None:
    with opened(to_html(classified())) as page:
        for kind in ("pr", "f1", "roc"):
            assert _shown(page, kind) is None
            _drag(page, kind)
            seen = _shown(page, kind)
            assert seen == pytest.approx((0.25, 0.75, 0.25, 0.75), abs=0.03)
            reset = page.locator(f".plot.{kind}:visible .tools button").first
            assert reset.inner_text() == "Reset zoom"
            if back == "Escape":
                page.locator(f".plot.{kind}:visible .live").press("Escape")
            elif back == "button":
                reset.click()
            else:
                _over(page, kind)[0].dblclick()
            assert _shown(page, kind) is None
            assert not reset.is_visible()


def test_the_keyboard_zooms_and_moves(opened: Opener) -> None:
    with opened(to_html(classified())) as page:
        live = page.locator(".plot.roc .live").first
        live.press("+")
        # 1 / 1.6 of each, and the marked point stays where it was
        across, up = (
            float(page.locator("#roc .reader tbody td").nth(i).inner_text()) for i in (1, 0)
        )
        wanted = (across * 0.375, across * 0.375 + 0.625, up * 0.375, up * 0.375 + 0.625)
        assert _shown(page, "roc") == pytest.approx(wanted, abs=0.002)
        live.press("ArrowRight")
        live.press("ArrowDown")
        # by 0.15 of 0.625
        moved = (wanted[0] + 0.09375, wanted[1] + 0.09375, wanted[2] - 0.09375, wanted[3] - 0.09375)
        assert _shown(page, "roc") == pytest.approx(moved, abs=0.002)
        for _ in range(5):
            live.press("ArrowLeft")  # no further than there is something
        assert (_shown(page, "roc") or ())[:2] == (0.0, 0.625)
        for _ in range(20):
            live.press("+")
        low, high, *_ = _shown(page, "roc") or (0, 0)
        assert high - low == pytest.approx(0.005, abs=0.0011)
        for _ in range(20):
            live.press("-")
        assert _shown(page, "roc") is None


def test_counts_have_their_own_height(opened: Opener, found: Callable[..., RunResult]) -> None:
    with opened(to_html(found(("small", "large"), ("cat", "dog")))) as page:
        _, box = _over(page, "truths")
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
        told = page.locator(".plot.truths .tip").first.inner_text()
        assert re.search(r"true positive \d+", told)
        assert "no prediction" in told
        page.locator(".plot.truths .live").first.press("+")
        assert (_shown(page, "truths") or (0,))[-1] > 1


def test_another_label_is_drawn_in_both_and_told(opened: Opener) -> None:
    with opened(to_html(classified())) as page:
        figure = page.locator(".plot.pr").first
        paths = "[...document.querySelector('.plot.pr svg').querySelectorAll('.lines path')]"
        paths += ".map((p) => p.getAttribute('d'))"
        before = page.evaluate(paths), figure.locator(".told").inner_text()
        page.locator("#curve").select_option(index=3)
        assert page.evaluate(paths) != before[0]
        assert figure.locator(".told").inner_text() != before[1]
        assert re.match(r"forest: precision 0\.\d+ at recall 0\.\d+; bayes", before[1])
        assert (
            figure.locator(".live")
            .get_attribute("aria-label")
            .startswith("Precision and recall, 3. ")
        )


def test_spreads_are_pointed_at_too(opened: Opener) -> None:
    with opened(to_html(segmented())) as page:
        _, box = _over(page, "spread")
        page.mouse.move(box["x"] + 3, box["y"] + 60)
        told = page.locator(".plot.spread .tip").first.inner_text()
        assert "small" in told
        assert "large" in told


def test_touch_reads(opened: Opener) -> None:
    with opened(to_html(classified()), 390, has_touch=True) as page:
        over, box = _over(page, "pr")
        over.tap(position={"x": box["width"] / 2, "y": box["height"] / 2})
        assert page.locator(".plot.pr .tip").first.is_visible()
        assert _shown(page, "pr") is None
        page.locator(".plot.pr .tools button").last.tap()
        assert _shown(page, "pr") is not None


def test_colours_follow_the_theme(opened: Opener) -> None:
    ink = """(() => { const canvas = document.querySelector(".plot.f1 canvas");
      const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      [copy.canvas.width, copy.canvas.height] = [canvas.width, canvas.height];
      copy.drawImage(canvas, 0, 0);
      const all = copy.getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let at = 0; at < all.length; at += 4)
        if (all[at + 3] === 255) seen.add(`${all[at]} ${all[at + 1]} ${all[at + 2]}`);
      return [...seen]; })()"""
    with opened(to_html(classified())) as page:
        _over(page, "f1")
        light = page.evaluate(ink)
        assert "0 104 176" in light  # --m0
        page.get_by_role("button", name="Switch to dark colours").click()
        page.wait_for_function(f"{ink}.includes('90 179 240')")
        dark = page.evaluate(ink)
        assert "90 179 240" in dark
        assert "0 104 176" not in dark


def test_print_and_no_script_have_the_svg(opened: Opener) -> None:
    with opened(to_html(classified())) as page:
        svg = page.locator(".plot.pr svg").first
        assert not svg.is_visible()
        page.emulate_media(media="print")
        assert svg.is_visible()
        assert page.locator(".live:visible, .tools:visible").count() == 0
    with opened(to_html(classified()), java_script_enabled=False) as page:
        kinds = page.locator(".plot svg.chart:visible")
        seen = {kinds.nth(i).get_attribute("data-kind") for i in range(kinds.count())}
        assert {"pr", "f1", "roc", "truths", "predictions", "reliability", "matrix"} <= seen


def test_narrow_windows_are_redrawn(opened: Opener) -> None:
    with opened(to_html(classified())) as page:
        _, wide = _over(page, "pr")
        page.set_viewport_size({"width": 390, "height": 800})
        # It is redrawn a moment after.
        for _ in range(300):
            _, narrow = _over(page, "pr")
            if narrow["width"] != wide["width"]:
                break
            page.wait_for_timeout(200)
        assert narrow["width"] != wide["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
