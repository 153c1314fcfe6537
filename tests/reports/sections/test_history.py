"""What the reports of a history show, in each medium."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree
from msgspec.structs import replace

from tests.oracles.nights import COMMIT, night, written
from tests.reports.pages import Page
from valor_cli.pipeline.history import history_of
from valor_cli.reports.document import Cell, Chart, Charts, Document, Table
from valor_cli.reports.render.html import to_html
from valor_cli.reports.render.markdown import to_markdown
from valor_cli.reports.sections.history import history_report, shown_runs
from valor_cli.results import RunResult
from valor_cli.results.history import History

HOSTILE = '<script>alert("x")</script> | a@b #1 ](javascript:x) \x1b[31m'


THREE = [night(at, right, gate=0.5) for at, right in ((1, 12), (2, 3), (3, 8))]


def history(folder: Path, *nights: RunResult) -> History:
    return history_of(written(folder, *nights))


def report(folder: Path, *nights: RunResult) -> Document:
    return history_report(history(folder, *nights))


def trend(folder: Path, *nights: RunResult) -> dict[str, Cell]:
    """The cells of the one value, by heading."""
    (table,) = report(folder, *nights).sections[0].blocks
    assert isinstance(table, Table)
    (row,) = table.rows
    return {column.name: cell for column, cell in zip(table.columns, row, strict=True)}


def chart(folder: Path, *nights: RunResult) -> Chart:
    sections = report(folder, *nights).sections
    (block,) = next(one.blocks for one in sections if one.anchor == "trends")
    assert isinstance(block, Charts)
    (one,) = block.charts
    return one


def test_a_trend_in_words(tmp_path: Path) -> None:
    one = trend(tmp_path, *THREE)
    assert one["trend"].text == "█▁▅"
    assert (one["now"].text, one["gate"].text) == ("0.667", "≥ 0.500 ✓")
    # From three to eight right of twelve: 2 / 2^5 = 0.0625; from all twelve to eight: 2 / 2^4.
    assert (one["since last"].text, one["since last"].small) == ("+0.417", "~ cannot tell")
    assert one["since first"].text == "−0.333"
    assert one["first bad run"].text == "03-02"
    assert one["first bad run"].title == "gate failed, worse than the run before (p 0.004)"


@pytest.mark.parametrize(
    ("starts", "ticks"),
    [
        (["2026-03-01T02:30", "2026-03-02T02:30"], ["03-01", "03-02"]),
        (["2025-12-31T02:30", "2026-01-01T02:30"], ["2025-12-31", "2026-01-01"]),
        (["2026-03-01T02:30", "2026-03-01T04:30"], ["02:30", "04:30"]),
        (
            ["2026-03-01T02:30", "2026-03-01T04:30", "2026-03-02T02:30"],
            ["03-01 02:30", "03-01 04:30", "03-02 02:30"],
        ),
    ],
)
def test_times_on_an_axis(tmp_path: Path, starts: list[str], ticks: list[str]) -> None:
    one = night(1, 6)
    nights = [replace(one, run=replace(one.run, started_at=f"{start}:00")) for start in starts]
    runs = shown_runs(history(tmp_path, *nights).runs, None)
    assert [run.tick for run in runs] == [(tick, f"night-{at}") for at, tick in enumerate(ticks)]


def test_a_commit_is_on_the_axis(tmp_path: Path) -> None:
    one = night(1, 6)
    made = history(tmp_path, replace(one, run=replace(one.run, commit=COMMIT)))
    assert shown_runs(made.runs, None)[0].tick == ("03-01", COMMIT[:7])


@pytest.mark.parametrize(
    ("rights", "kept", "told"),
    [
        ((6, 9), True, "2 runs: no gates set, no value tested worse"),
        (
            (9, 0),
            False,
            "2 runs: no gates set, nothing was tested; 1 value fell and was not tested",
        ),
        ((9,), True, "1 run: no gates set, nothing was tested"),
    ],
)
def test_no_bad_run_is_no_promise(
    tmp_path: Path, rights: tuple[int, ...], kept: bool, told: str
) -> None:
    paths = written(tmp_path, *(night(at + 1, right) for at, right in enumerate(rights)))
    for path in () if kept else paths:
        (Path(path) / "samples.jsonl").unlink()
    made = history_report(history_of(paths))
    assert (made.word, made.detail) == ("NO BAD RUN", told)
    assert made.symbol == ("✓" if kept and len(rights) > 1 else "●")


def test_a_chart(tmp_path: Path) -> None:
    """Shares of 0.25 to 1 are drawn on an axis from 0.2 to 1, in steps of 0.2."""
    drawing = chart(tmp_path, *THREE)
    svg = etree.fromstring(f"<svg>{drawing.svg}</svg>")
    ticks = [text.text for text in svg.iterfind(".//text")][:5]
    assert ticks == ["0.2", "0.4", "0.6", "0.8", "1.0"]
    marks = list(svg.iterfind(".//circle"))
    # 136 units high from 8: 1 at the top, 1/4 at 15/16 and 2/3 at 5/12 of it.
    wanted = pytest.approx([8, 8 + 136 * 15 / 16, 8 + 136 * 5 / 12], abs=0.06)
    assert [float(mark.get("cy")) for mark in marks] == wanted
    assert [mark.get("class") for mark in marks] == ["point", "point bad", "point"]
    assert "gate ≥ 0.500" in "".join(svg.itertext())
    assert "worse than the run before" in drawing.told


def test_a_chart_of_one_value_and_of_gaps(tmp_path: Path) -> None:
    without = night(2, 6)
    without = replace(without, metrics=without.metrics[1:])
    for nights in ([night(1, 0)], [night(1, 6), without, night(3, 6)]):
        svg = etree.fromstring(f"<svg>{chart(tmp_path, *nights).svg}</svg>")
        (line,) = (p.get("d") for p in svg.iterfind(".//path") if p.get("class") == "trend")
        # The pen is lifted where a run has no value.
        assert line.count("M") == len(list(svg.iterfind(".//circle")))


def test_a_page_links_to_the_reports_of_the_runs(tmp_path: Path) -> None:
    paths = written(tmp_path / "nightly", night(1, 6), night(2, 6))
    (Path(paths[0]) / "report.html").write_text("")
    page = Page(to_html(history_report(history_of(paths), str(tmp_path / "out"))))
    there = {link for link in page.values("href") if not link.startswith("#")}
    assert there == {"../nightly/night-0/report.html"}


def test_what_data_say_is_text(tmp_path: Path) -> None:
    nights = [night(at, 12 - 6 * at, model=HOSTILE, warnings=(HOSTILE,)) for at in (0, 1)]
    made = history(tmp_path, *(
        replace(one, run=replace(one.run, started_at=f"2026-03-0{at + 1}T00:00:00", commit=HOSTILE),
                metrics=(*one.metrics, *(replace(row, label=HOSTILE) for row in one.metrics[1:])))
        for at, one in enumerate(nights)
    ))  # fmt: skip
    page = to_html(history_report(made))
    found = Page(page)
    assert {tag for tag, _ in found.tags}.isdisjoint({"img", "iframe"})
    assert found.count("script") == 1
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert "\x1b" not in page
    text = to_markdown(history_report(made))
    assert "<script" not in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} <= {6, 7, 8, 9}


def test_a_long_history_is_bounded(tmp_path: Path) -> None:
    nights = [night(1 + at % 28, at % 12) for at in range(90)]
    made = history_of(written(tmp_path, *nights), as_given=True)
    assert len(to_html(history_report(made))) < 200_000
    assert len(to_markdown(history_report(made))) < 20_000
