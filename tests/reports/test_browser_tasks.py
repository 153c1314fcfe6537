"""Reports of classification and segmentation in a real browser, as test_browser.py opens them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.report import to_html

from tests.reports.conftest import HOSTILE
from tests.reports.task_runs import THINGS, classified, overlays, renamed, segmented
from tests.reports.test_browser import CHROMIUM, driven, opened
from valor_cli.reports.charts.curves import COUNTS, ROC
from valor_cli.results import RunResult

DRIVER = Path(__file__).with_name("driver_tasks.html")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium: make test-browser"),
]


def _roc(run: RunResult, model: str, label: str) -> tuple[dict[str, list[float | None]], float]:
    row = next(
        one
        for one in run.metrics
        if (one.metric, one.model, one.label) == ("roc_auc", model, label)
    )
    curve = next(
        one for one in run.curves if (one.metric, one.model, one.label) == ("roc_auc", model, label)
    )
    assert row.value is not None
    return {name: list(curve.points[name]) for name in ROC}, row.value


@pytest.mark.parametrize("width", [1200, 390])
def test_classification(tmp_path: Path, width: int) -> None:
    run = classified()
    seen = driven(run, tmp_path, width, DRIVER)
    roc = seen.pop("roc")
    forest, forest_area = _roc(run, "forest", "1")
    bayes, bayes_area = _roc(run, "bayes", "1")

    def told(index: int) -> list[str]:
        cells = []
        for curve, area in ((forest, forest_area), (bayes, bayes_area)):
            for value in (curve[ROC[2]][index], curve[ROC[1]][index], area):
                assert value is not None
                cells.append(f"{value:.3f}")
        return cells

    assert roc["none"] == ["above all scores", *told(0)]
    assert roc["all"] == [f"{forest['score'][40]:.3f}", *told(40)]
    assert roc["point"] == [f"{forest['score'][20]:.3f}", *told(20)]
    assert roc["said"] == "threshold above all scores"
    assert {name: roc[name] for name in ("redrawn", "caption", "lines", "ideal", "marks")} == {
        "redrawn": True,
        "caption": "ROC, 1",
        "lines": 2,
        "ideal": 1,
        "marks": 2,
    }
    assert roc["corner"] == "above all scores"
    counted = next(one for one in run.curves if "fn_no_predictions" in one.points).points
    # no score is above all scores: the highest threshold there is
    assert seen.pop("counts") == [["0.950", *(str(counted[name][-1]) for name in COUNTS[1:-1])]] * 2
    assert seen == {
        "reasons": [
            "Model",
            "Threshold",
            "Truepositives",
            "Not foundmisclassification",
            "Not foundno prediction",
            "False positivemisclassification",
        ],
        "areas": 10,  # of each model three of the ground truths and two of the predictions
        "diagrams": 2,
        "bins": 16,
        "dialog": [True, True, 3],
        "inside": True,
        "back": True,
        "wide": False,
    }


def test_label_keys_have_a_calibration_each(tmp_path: Path) -> None:
    seen = driven(classified(keys=("color", "shape")), tmp_path, 1000, DRIVER)
    assert (seen["diagrams"], seen["chosen"], seen["wide"]) == (2, 2, False)


def test_roc_without_other_curves(tmp_path: Path) -> None:
    run = classified()
    run = replace(run, curves=[one for one in run.curves if one.metric == "roc_auc"])
    seen = driven(run, tmp_path, 1000, DRIVER)
    assert seen["roc"]["redrawn"]
    assert seen["roc"]["marks"] == 2


@pytest.mark.parametrize("width", [1200, 390])
def test_segmentation(tmp_path: Path, width: int) -> None:
    run = segmented()
    seen = driven(run, tmp_path, width, DRIVER, overlays(run))
    assert seen == {
        "diagrams": 0,
        "enlarged": ["true", True, "false", True],
        "pictures": 12,
        "worst": ["frankfurt/frankfurt_000000_000000", 1, 100],
        # fewest errors first, at the second press
        "sorted": "frankfurt/frankfurt_000000_000099",
        "wide": False,
    }


def test_hostile_names_do_not_run(tmp_path: Path) -> None:
    runs = (
        classified(HOSTILE[:2], HOSTILE, (HOSTILE[0], HOSTILE[2])),
        renamed(segmented(HOSTILE[:2]), dict(zip(THINGS, HOSTILE, strict=False))),
    )
    for number, run in enumerate(runs):
        page = tmp_path / f"{number}.html"
        page.write_text(to_html(run), encoding="utf-8")
        dom = opened(page.as_uri(), tmp_path / "profile")
        title = re.search(r"<title>(.*?)</title>", dom)
        assert title
        assert title[1].startswith("DONE · ")


def test_without_scripts_every_diagram_stands(tmp_path: Path) -> None:
    text = to_html(classified(keys=("color", "shape")))
    page = tmp_path / "report.html"
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    assert not re.search(r'<div id="calibrations"[^>]*class="chosen"', dom)
    assert dom.count('aria-label="Reliability of ') == 4
    # the first three labels have their charts
    assert len(re.findall(r'aria-label="ROC, \d \(color\)"', dom)) == 3
