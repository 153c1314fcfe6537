"""Charts by name: files of their own, what is chosen, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.found_runs import compared
from tests.reports.task_runs import classified, segmented
from tests.reports.text_runs import text_run
from valor_cli.errors import DataError, UnknownNameError
from valor_cli.reports.charts.export import CHARTS, chart_names, render
from valor_cli.results import RunResult

SVG = "{http://www.w3.org/2000/svg}"


def _names(run: RunResult) -> list[str]:
    return [chart.name for chart in chart_names(run)]


def _texts(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def _everything(found: Callable[..., RunResult]) -> list[RunResult]:
    classes = classified()
    rows = [compared("bayes", "forest", -0.11, metric="accuracy")]
    return [replace(classes, comparisons=rows), segmented(), text_run(), found()]


def test_each_chart_is_drawn_of_some_run(found: Callable[..., RunResult]) -> None:
    seen = {name for run in _everything(found) for name in _names(run)}
    assert seen == {chart.name for chart in CHARTS}


def test_charts_are_whole_files_that_fetch_nothing(found: Callable[..., RunResult]) -> None:
    for run in _everything(found):
        for name in _names(run):
            for dark in (False, True):
                svg = render(run, name, dark=dark)
                root = ET.fromstring(svg)  # noqa: S314 - ours
                assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
                heading, told = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
                assert heading
                assert told
                assert not re.search(r"<script|href|url\(|var\(|light-dark|color-mix", svg)
                assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", svg)
                assert svg == render(run, name, dark=dark)


def test_hostile_words_stay_words() -> None:
    run = classified(HOSTILE[:3], HOSTILE, (HOSTILE[0], HOSTILE[4]))
    run = replace(run, task=HOSTILE[0])
    for name in _names(run):
        svg = render(run, name)
        ET.fromstring(svg)  # noqa: S314 - ours
        assert not re.search("<script|\x1b|\u202e|x{300}", svg)


def test_a_label_a_model_and_a_metric_are_chosen() -> None:
    run = classified()
    assert _texts(render(run, "pr_curve", label="3"))[0] == "Precision and recall, 3"
    assert "bayes" not in _texts(render(run, "pr_curve", model="forest"))
    assert _texts(render(run, "confusion_matrix", model="bayes"))[0] == "Confusion, bayes"
    only = _texts(render(run, "leaderboard", metric="cohen_kappa"))
    assert [text for text in only if "↑" in text] == ["Cohen's kappa ↑"]


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("pr_curv", {}, "unknown 'pr_curv' (did you mean 'pr_curve'?)"),
        ("pr_curve", {"label": "33"}, "label: unknown '33' (did you mean '3'?)"),
        ("leaderboard", {"model": "florest"}, "(did you mean 'forest'?)"),
        ("leaderboard", {"metric": "acuracy"}, "(did you mean 'accuracy'?)"),
        ("confusion_matrix", {"model": "\x1b[31mx"}, "model: unknown"),
    ],
)
def test_unknown_names_are_refused(name: str, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        render(classified(), name, **asked)
    assert message in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_what_is_missing_is_said() -> None:
    with pytest.raises(DataError, match="it needs receiver operating characteristics"):
        render(segmented(), "roc_curve")


def test_the_distribution_of_images_without_values_is_a_line() -> None:
    run = segmented()
    assert "Samples by image_scores mean IoU" in _texts(render(run, "distribution"))
    saved = replace(run, samples=())  # what results.json alone has
    assert _texts(render(saved, "distribution"))[0] == "Mean IoU by image, lowest first"


def test_thresholds_and_counts_of_many_are_bounded(found: Callable[..., RunResult]) -> None:
    run = found(tuple(f"m{i}" for i in range(8)), ("cat", "dog"))
    svg = render(run, "counts")
    assert svg.count('<g class="areas">') == 2 * 4
    assert "4 of 8 models." in _texts(svg)
    rows = [compared("b", "a", 0.1, metric=f"metric_{i}") for i in range(40)]
    many = replace(classified(("b", "a")), comparisons=rows)
    assert "24 of 40 comparisons." in _texts(render(many, "comparison"))
