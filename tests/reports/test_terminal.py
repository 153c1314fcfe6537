"""The summary on a screen."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace

import pytest
from rich.console import Console

from valor_cli.reports.terminal import coco_table, summary
from valor_cli.results import RunResult

Build = Callable[..., RunResult]

FILES = ("reports/report.html",)


def _shown(run: RunResult, files: Sequence[str] = FILES, *, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=80, force_terminal=colour, color_system="truecolor" if colour else None
    )
    console.print(summary(run, files))
    return out.getvalue()


def test_a_two_model_run_fits_the_screen(two_models: RunResult) -> None:
    lines = _shown(two_models).rstrip("\n").split("\n")
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert lines[0].rstrip() == "FAILED  1 of 6 gates, 2 not checked"
    assert lines[1] == "object detection · 5,000 images · 36,781 ground truths · 80 labels"
    assert any(line.split()[:3] == ["coco", "AP", "0.371"] and "+0.134" in line for line in lines)
    assert "Report  reports/report.html" in lines[-1]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 30])
def test_any_number_of_models_fits(build: Build, count: int) -> None:
    lines = _shown(build([f"model-{i}" for i in range(count)])).rstrip("\n").split("\n")
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80


def test_best_is_bold(two_models: RunResult) -> None:
    text = _shown(two_models, colour=True)
    assert "\x1b[1m0.505" in text
    assert "\x1b[1m0.371" not in text


def test_no_gates_no_slices_no_values(build: Build) -> None:
    run = build(("m",), (), gates="none", slices=False, intervals=False)
    text = _shown(run)
    assert text.startswith("DONE  no gates set")
    assert "slice" not in text
    assert "No overall values" in _shown(replace(run, metrics=()))


def test_undefined_is_a_dash(two_models: RunResult) -> None:
    row = next(line for line in _shown(two_models).split("\n") if "APsmall" in line)
    assert row.split()[-2:] == ["–", "–"]


def test_hostile_words_stay_words(hostile: RunResult) -> None:
    text = _shown(hostile)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]shout[/bold]" in _shown(replace(hostile, warnings=["[bold]shout[/bold]"]))
    assert max(map(len, text.split("\n"))) <= 80


def test_warnings_are_counted_after_five(two_models: RunResult) -> None:
    text = _shown(replace(two_models, gates=(), warnings=[f"warning {i}" for i in range(40)]))
    assert "warning 0" in text
    assert "warning 5" not in text
    assert "… 35 more" in text or "… 36 more" in text


def test_what_costs_most_and_what_is_confused_most(found: Build) -> None:
    run = found()
    lines = _shown(run).rstrip("\n").split("\n")
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    assert "Most AP is lost to  localisation −0.121, small · background −0.071, large" in lines
    table = run.tables[0]
    counts = {
        (count, row, column)
        for row, line in enumerate(table.matrix)
        for column, count in enumerate(line)
        if row != column
    }
    most, row, column = max(counts, key=lambda cell: (cell[0], -cell[1], -cell[2]))
    pair = f"{table.labels[row]} → {table.labels[column]} {most}×, small"
    assert any(line.startswith(f"Confused most       {pair}") for line in lines)


@pytest.mark.parametrize("count", [1, 6])
def test_findings_of_any_number_of_models_fit(found: Build, count: int) -> None:
    names = [f"model-{i}" for i in range(count)]
    lines = _shown(found(names)).rstrip("\n").split("\n")
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(("Most AP", "Confused most")) for line in lines) == 2


def test_unusual_settings_stand_in_the_scope(two_models: RunResult) -> None:
    run = replace(two_models, settings={"matching": "valor", "geometry": "mask"})
    scope = " ".join(" ".join(_shown(run).split("\n")[1:3]).split())
    assert scope.startswith("object detection · 5,000 images")
    assert "matching: valor · masks" in scope
    assert "matching" not in _shown(two_models)


def test_coco_table_is_pycocotools_own(two_models: RunResult) -> None:
    np = pytest.importorskip("numpy")
    coco = pytest.importorskip("pycocotools.cocoeval")
    rows = {row.output: row for row in two_models.metrics if row.model == "large" and not row.slice}
    run = coco.COCOeval(iouType="bbox")
    run.eval = {"precision": np.ones((10, 101, 1, 4, 3)), "recall": np.ones((10, 1, 4, 3))}
    out = io.StringIO()
    with redirect_stdout(out):
        run.summarize()
    # The layout is pycocotools'; its numbers (1.000 here) are replaced by the run's, in order.
    names = "AP AP50 AP75 APsmall APmedium APlarge AR@1 AR@10 AR@100 ARsmall ARmedium ARlarge"
    values = [-1.0 if (v := rows[name].value) is None else v for name in names.split()]
    lines = out.getvalue().rstrip("\n").split("\n")
    expected = [
        f"{line[: line.rindex('=')]}= {v:0.3f}" for line, v in zip(lines, values, strict=True)
    ]
    blocks = coco_table(two_models).split("\n\n")
    assert blocks[1].split("\n") == ["large", *expected]


def test_coco_table_of_one_model_has_no_title_and_without_coco_nothing(build: Build) -> None:
    run = build(("m",), ())
    assert coco_table(run).startswith(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all")
    assert coco_table(replace(run, metrics=())) == ""
