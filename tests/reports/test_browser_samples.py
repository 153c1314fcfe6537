"""Reports of runs of samples in a real browser, as test_browser.py opens them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.report import to_html

from tests.reports.conftest import HOSTILE
from tests.reports.test_browser import CHROMIUM, driven, opened
from tests.reports.text_runs import METRICS, text_run, worst
from valor_cli.results import ShownText

DRIVER = Path(__file__).with_name("driver_samples.html")

HEBREW = "שלום עולם, זה טקסט מימין לשמאל with English 123 in it"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium: make test-browser"),
]


@pytest.mark.parametrize("width", [1200, 390])
def test_everything_that_moves(tmp_path: Path, width: int) -> None:
    run = text_run()
    # the large model's answers never repeat themselves
    kept = [one for one in run.examples if (one.metric, one.model) != ("looping", "large")]
    assert driven(replace(run, examples=kept), tmp_path, width, DRIVER) == {
        "first": [10, 0, False],
        "marked": [10, 22, False],  # two of each sample, and two in the legend
        "colours": 2,
        "none": [0, 0, True],
        "focused": True,
        "folded": False,
        "unfolded": True,
        "outputs": 9,
        "tables": 1,
        "sorted": [True, True, True],
        "coverage": 11,
        "problems": 4,
        "reached": True,
        "names": ["Metric", "Model", "Model"],
        "directions": ["ltr"],
        "spilled": 0,
        "wide": False,
    }


@pytest.mark.parametrize("width", [1200, 390])
def test_texts_of_every_kind_stay_in_their_cards(tmp_path: Path, width: int) -> None:
    texts = [
        ShownText("user_input", HEBREW, [(5, 9, "word")]),
        ShownText("response", "x" * 5_000, [(at, at + 3, f"kind {at}") for at in range(0, 99, 9)]),
        *(
            ShownText(f"references[{at}]", word, [(0, len(word), word)])
            for at, word in enumerate((*HOSTILE, "\x1b[31m\x00", "\U000e0041" * 900))
        ),
    ]
    examples = [
        worst("bleu_1", "small", at, texts=texts, sample_id=word, reason=word)
        for at, word in enumerate(HOSTILE)
    ]
    seen = driven(text_run(("small",), examples=examples), tmp_path, width, DRIVER)
    assert seen["first"][0] == 10
    assert sorted(seen["directions"]) == ["ltr", "rtl"]
    assert (seen["spilled"], seen["wide"], seen["reached"]) == (0, False, True)


def test_without_scripts_every_card_stands(tmp_path: Path) -> None:
    text = to_html(text_run())
    page = tmp_path / "report.html"
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    groups = re.findall(r'<div data-metric="\d+" data-model="\d+"([^>]*)>', dom)
    assert groups == [""] * 3 * len(METRICS)
    assert len(re.findall(r'<label class="pick"[^>]* hidden', dom)) == 3
    assert re.search(r'id="worst-none"[^>]* hidden', dom)
