"""Reports of runs that asked judges in a real browser, as test_browser.py opens them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, VERDICTS, agreement, judge_run, usage, worst
from tests.reports.test_browser import CHROMIUM, driven
from valor_cli.results import Verdict

DRIVER = Path(__file__).with_name("driver_judges.html")

HEBREW = "שלום עולם, זה טקסט מימין לשמאל with English 123 in it"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium: make test-browser"),
]


@pytest.mark.parametrize("width", [1200, 390])
def test_everything_that_moves(tmp_path: Path, width: int) -> None:
    run = judge_run(judges=JUDGES, stopped="the budget of 2.00 US dollars is reached")
    assert driven(run, tmp_path, width, DRIVER) == {
        "dear": ["$0.0538", "unknown"],
        "total": True,
        "verdicts": 4 * 5,
        "colours": 3,
        "folded": False,
        "unfolded": True,
        "directions": ["ltr"],
        "spilled": 0,
        "wide": False,
    }


@pytest.mark.parametrize("width", [1200, 390])
def test_words_of_every_kind_stay_where_they_belong(tmp_path: Path, width: int) -> None:
    words = (*HOSTILE, HEBREW, "\U000e0041" * 900)
    verdicts = [*VERDICTS, *(Verdict(word, word, None, word) for word in words)]
    run = judge_run(
        judges=JUDGES,
        usage=[usage(word, "small", word) for word in words],
        agreements=[
            agreement("faithfulness", "small", raters=(word, "b", "c"), disagreements=[word])
            for word in words
        ],
        examples=[worst("faithfulness", "small", 0, verdicts=verdicts)],
        stopped="x" * 500,
    )
    seen = driven(run, tmp_path, width, DRIVER)
    assert sorted(seen["directions"]) == ["ltr", "rtl"]
    assert (seen["spilled"], seen["wide"], seen["total"]) == (0, False, True)
