"""A large run: 100,000 samples under eight metrics, 80 labels, three models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.report import to_html

from tests.reports.browser.conftest import Opener
from tests.reports.browser.pages import pairs
from tests.reports.text_runs import METRICS, MODELS, text_run
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
    text = to_html(large)
    (pictures / "large.html").write_text(text, encoding="utf-8")
    assert len(text.encode()) < 3_000_000
    with opened(text) as page:
        assert page.locator("#label-table tbody tr").count() == 80
        page.locator("#label-table thead button").nth(1).click()
        page.keyboard.press("/")
        page.keyboard.type("faq-0")
        assert page.locator("#found a").count() > 0
        groups = page.locator("#worst-groups > div")
        assert groups.count() == len(METRICS) * len(MODELS)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
