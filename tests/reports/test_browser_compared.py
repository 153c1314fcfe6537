"""The report of a comparison in a real browser, as test_browser.py opens others."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from valor_cli.reports.render.html.compared import compared_html

from tests.oracles.compared import hostile_compared, models_compared, texts_compared
from tests.reports.test_browser import CHROMIUM, opened

DRIVER = Path(__file__).with_name("driver_compared.html")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium: make test-browser"),
]


@pytest.mark.parametrize("width", [1200, 390])
def test_everything_that_moves(tmp_path: Path, width: int) -> None:
    (tmp_path / "compared.html").write_text(compared_html(texts_compared()), encoding="utf-8")
    shutil.copy(DRIVER, tmp_path)
    dom = opened(f"{(tmp_path / DRIVER.name).as_uri()}#{width}", tmp_path / "profile")
    found = re.search(r"<pre>(.*?)</pre>", dom, re.DOTALL)
    assert found
    assert json.loads(unescape(found[1])) == {
        "title": "WORSE · text generation compared · valor",
        "all": [12, "12 samples"],
        "better": [4, "4 of 12 samples"],  # every third one
        "metric": [2, "2 of 12 samples"],  # of those every second one by exact_match
        "sorted": ["faq-001", "faq-003"],  # all by 1.0, in the order of the record
        "unsorted": ["faq-000", "faq-001"],
        "searched": [1, "1 of 12 samples"],
        "none": [0, "0 of 12 samples", True],
        "followed": [12, "12 samples", True],
        "sortedP": [True, "p", "<0.001", "–"],
        "themed": True,
        "unfolded": True,
        "reached": True,
        "named": True,
        "beside": width > 640,
        "spilled": 0,
        "wide": False,
    }


def test_hostile_words_run_nothing(tmp_path: Path) -> None:
    page = tmp_path / "compared.html"
    page.write_text(compared_html(hostile_compared()), encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")  # fails on any message in the console
    assert "<title>BETTER · " in dom
    assert len(re.findall("<article", dom)) == 12


def test_without_scripts_every_sample_stands(tmp_path: Path) -> None:
    text = compared_html(models_compared())
    page = tmp_path / "compared.html"
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    assert len(re.findall(r"<article(?![^>]* hidden)", dom)) == 12
    assert re.search(r'class="chosen-by" hidden', dom)
    assert re.search(r'id="none" hidden', dom)
