"""A large run: 100,000 samples under eight metrics, 80 labels, three models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.reports.browser.conftest import Opener
from tests.reports.catalogue import pairs
from tests.reports.text_runs import MODELS, text_run
from valor_cli.reports.writer import write_reports
from valor_cli.results import RunResult

pytestmark = pytest.mark.browser

SAMPLES = 100_000


@pytest.fixture
def large(found: Callable[..., RunResult]) -> RunResult:
    """All that a run of texts has, and all that one of labels has."""
    things = found(MODELS)
    texts = text_run(samples=SAMPLES)
    return replace(
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


def test_it_is_small_and_works(opened: Opener, pictures: Path, large: RunResult) -> None:
    write_reports(large, pictures, ["html"])
    report = pictures / "report.html"
    assert report.stat().st_size < 3_000_000
    with opened(report) as page:
        table = page.locator("table.sortable").first
        table.locator("thead button").nth(1).click()
        assert table.locator("[aria-sort=descending]").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
