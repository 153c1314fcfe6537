"""The HTML report in a real browser, from disk, with every host unresolvable."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.report import to_html

from tests.reports.conftest import HOSTILE, LABELS
from valor_cli.reports.charts.curves import COUNTS
from valor_cli.results import EmbeddedImages, RunResult

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --virtual-time-budget=8000 "
    "--enable-logging=stderr --allow-file-access-from-files"
)

DRIVER = Path(__file__).with_name("driver.html")
ERRORS = Path(__file__).with_name("driver_errors.html")

# One grey pixel: a browser goes by the content, whatever type the data: URL names.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)
PICTURES = EmbeddedImages({"000000000000.jpg": base64.b64decode(PIXEL)})

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium: make test-browser"),
]


def opened(page: str, profile: Path) -> str:
    """The page's DOM after its script ran; fails on any message in the console."""
    command = [
        str(CHROMIUM),
        *OPTIONS.split(),
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={profile}",
        "--window-size=1280,900",
        "--dump-dom",
        page,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert "CONSOLE" not in done.stderr, re.findall(r".*CONSOLE.*", done.stderr)
    return done.stdout


def driven(
    run: RunResult,
    folder: Path,
    width: int,
    driver: Path = DRIVER,
    pictures: EmbeddedImages = PICTURES,
) -> dict[str, Any]:
    """What a driver found of the report at that width."""
    (folder / "report.html").write_text(to_html(run, pictures), encoding="utf-8")
    shutil.copy(driver, folder)
    dom = opened(f"{(folder / driver.name).as_uri()}#{width}", folder / "profile")
    found = re.search(r"<pre>(.*?)</pre>", dom, re.DOTALL)
    assert found
    return dict(json.loads(unescape(found[1])))


@pytest.mark.parametrize("width", [1000, 390])
def test_everything_that_moves(two_models: RunResult, tmp_path: Path, width: int) -> None:
    found = driven(two_models, tmp_path, width)
    rows = [row for row in two_models.metrics if row.label]
    most = max(rows, key=lambda row: row.n or 0).label
    assert found["title"] == "FAILED · object detection · valor"
    assert found["rows"] == 80
    assert found["sorted"] == ["ascending", "airplane"]
    assert found["most"] == ["descending", most]
    assert found["last"] == "toaster"  # undefined sorts last, whichever the direction
    assert found["filtered"] == [["bear", "teddy_bear"], "2 of 80 labels"]
    assert found["redrawn"]
    assert found["caption"] == "Precision and recall, motorcycle"
    assert found["point"].startswith("small0.500")
    assert found["moved"]
    assert found["marks"] == 4
    assert found["themed"]
    assert found["charts"] == 6
    assert not found["wide"]


@pytest.mark.parametrize("width", [1000, 390])
def test_errors_open_and_answer_the_keyboard(
    found: Callable[..., RunResult], tmp_path: Path, width: int
) -> None:
    run = found()
    seen = driven(run, tmp_path, width, ERRORS)
    counts = seen.pop("counts")
    lines = [
        one.points
        for one in run.curves
        if one.metric == "detailed_pr_curve" and one.label == LABELS[2]
    ]
    for at, threshold, name in ((5, "0.300", "first"), (0, "0.050", "moved")):
        assert counts[name] == [
            [threshold, *(str(line[column][at]) for column in COUNTS[1:])] for line in lines
        ]
    assert counts["last"] == ["0.950"] * 2
    # of each model two charts of three areas: 19 thresholds there and back
    assert counts["areas"] == [38] * 12
    # 88 right predictions and three quarters as many wrong ones: 154
    assert counts["levels"] == ["0", "50", "100", "150", "200"]
    assert seen == {
        "matrices": 1,
        "changed": True,
        "cards": 24,
        "shown": 0,
        "open": True,
        "inside": "Close",
        "drawn": 3,
        "named": True,
        "closed": 0,
        "back": True,
        "kind": ["2,420", 3],
        "quiet": 0,
        "arrow": True,
        "around": True,
        "views": 1,
        "filtered": [2, "2 of 80 labels"],
        "spilled": 0,
        "wide": False,
        "pictures": 1,
    }


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_headings_stay_in_their_columns(
    found: Callable[..., RunResult], tmp_path: Path, width: int
) -> None:
    assert driven(found(("m",)), tmp_path, width, ERRORS)["spilled"] == 0


def test_hostile_findings_do_not_run(found: Callable[..., RunResult], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(to_html(found(HOSTILE[:2], HOSTILE)), encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    title = re.search(r"<title>(.*?)</title>", dom)
    assert title
    assert title[1].startswith("FAILED · ")
    assert dom.count('class="matrix"') == 2


def test_without_scripts_every_matrix_and_card_stands(
    found: Callable[..., RunResult], tmp_path: Path
) -> None:
    text = to_html(found())
    page = tmp_path / "report.html"
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    assert not re.search(
        r'<div id="(matrices|gallery|tables-of-samples|label-views)"[^>]*class="chosen"', dom
    )
    assert len(re.findall(r'<label class="pick"[^>]* hidden', dom)) == 5


def test_a_null_score_reads_as_a_dash(build: Callable[..., RunResult], tmp_path: Path) -> None:
    run = build(("small",), curve="recall")
    curves = tuple(
        replace(curve, points={**curve.points, "score": [0.9, 0.5, *[None] * 99]})
        for curve in run.curves
    )
    found = driven(replace(run, curves=curves), tmp_path, 1000)
    assert re.fullmatch(r"small–0\.\d{3}0\.090–", found["point"])  # threshold, …, recall, F1
    assert found["moved"]
    assert found["marks"] == 1
    assert found["charts"] == 3


def test_hostile_words_do_not_run(hostile: RunResult, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(to_html(hostile), encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    title = re.search(r"<title>(.*?)</title>", dom)
    assert title
    assert title[1].startswith("FAILED · ")
    assert not driven(hostile, tmp_path, 390)["wide"]
    rows = dom.split('id="label-table"')[1].split("</table>")[0]
    assert rows.count('<th scope="row"') == 12


def test_without_scripts_the_first_charts_stand(two_models: RunResult, tmp_path: Path) -> None:
    text = to_html(two_models)
    page = tmp_path / "report.html"
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    dom = opened(page.as_uri(), tmp_path / "profile")
    assert dom.count('role="img"') == 6
    assert not re.search(r'<div id="more"[^>]* hidden', dom)
    assert len(re.findall(r'<path class="m[01]" data-model="[01]" d="M[\d. L]+"', dom)) >= 12
