"""A result as notebooks show it: the report in a frame of their page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reports.browser.conftest import Opener
from valor_cli import evaluate

pytestmark = pytest.mark.browser


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
