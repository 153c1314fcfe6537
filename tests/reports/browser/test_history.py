"""The page of a history in a real browser: what axe says, and how it looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.oracles.nights import night, written
from tests.reports.browser.conftest import Opener
from tests.reports.browser.test_every_report import violations
from valor_cli.pipeline.history import history_of
from valor_cli.reports.render.html import to_html
from valor_cli.reports.sections.history import history_report

pytestmark = pytest.mark.browser

SPILLED = "() => document.documentElement.scrollWidth - window.innerWidth"


@pytest.fixture
def page_of(tmp_path: Path) -> Path:
    rights = (10, 11, 11, 3, 11, 5)
    nights = [night(at + 9, right, gate=0.4) for at, right in enumerate(rights)]
    commits = [f"{at + 1:x}" * 40 for at in range(len(nights))]
    paths = written(tmp_path / "nightly", *(
        replace(one, run=replace(one.run, commit=commit))
        for one, commit in zip(nights, commits, strict=True)
    ))  # fmt: skip
    (Path(paths[0]) / "report.html").write_text("<title>report</title>")
    out = tmp_path / "out"
    out.mkdir()
    page = out / "history.html"
    page.write_text(to_html(history_report(history_of(paths), str(out))), encoding="utf-8")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_reads_well(
    opened: Opener, page_of: Path, pictures: Path, width: int, scheme: str
) -> None:
    with opened(page_of, width, scheme) as page:
        page.screenshot(path=pictures / f"history-{width}-{scheme}.png", full_page=True)
        assert page.evaluate(SPILLED) <= 0
        assert violations(page) == []
        assert page.locator("svg.chart circle.bad").count() == 2
        page.get_by_role("link", name="2026-03-09 02:30").click()
        assert page.title() == "report"
