"""The summary on a screen."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

import pytest
from msgspec.structs import replace
from rich.console import Console
from rich.measure import Measurement
from valor_cli.reports.render.terminal.report import coco_table, summary

from tests.reports.task_runs import classified, segmented
from valor_cli.results import RunResult

Build = Callable[..., RunResult]

FILES = ("reports/report.html",)


def _shown(
    run: RunResult, files: Sequence[str] = FILES, *, colour: bool = False, width: int = 80
) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None
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
    assert "both models" not in "".join(lines)
    assert any(line.startswith(f"Confused most       {pair}") for line in lines)


@pytest.mark.parametrize("count", [1, 6])
def test_findings_of_any_number_of_models_fit(found: Build, count: int) -> None:
    names = [f"model-{i}" for i in range(count)]
    lines = _shown(found(names)).rstrip("\n").split("\n")
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(("Most AP", "Confused most")) for line in lines) == 2


def _rows(text: str, first: str) -> list[list[str]]:
    """The cells of a table's lines from the one that holds `first` on."""
    lines = text[text.index(first) :].split("\n\n")[0].split("\n")
    return [re.split(r" {2,}", line.strip()) for line in lines]


@pytest.mark.parametrize("width", [40, 50, 60])
def test_a_narrow_terminal_keeps_names_whole(two_models: RunResult, width: int) -> None:
    text = _shown(two_models, width=width)
    assert max(map(len, text.split("\n"))) <= width
    assert _rows(text, "coco AP ")[0] == ["coco AP", "0.371", "0.505", "+0.134"]
    assert "metadata.weather" in text
    assert "[0." not in text
    assert "[0.360, 0.380]" in _shown(two_models, width=70)


def test_a_narrower_one_goes_without_the_difference_and_then_models(build: Build) -> None:
    run = build(("small", "large"), ())
    assert _rows(_shown(run, width=28), "coco AP ")[0] == ["coco AP", "0.371", "0.505"]
    four = build(("a-model-one", "a-model-two", "a-model-three", "d"), (), intervals=False)
    text = _shown(four, width=40)
    assert _rows(text, "coco AP ")[0] == ["coco AP", "0.371", "0.505"]
    assert "  … 2 more models\n" in "\n".join(line.rstrip() for line in text.split("\n"))


def test_long_names_of_models_stand_on_several_lines(build: Build) -> None:
    names = [f"a-detector-of-many-words-{i}" for i in "xy"]
    text = _shown(build(names, ()), width=60)
    assert max(map(len, text.split("\n"))) <= 60
    assert _rows(text, "coco AP ")[0] == ["coco AP", "0.371", "0.505", "+0.134"]
    assert "".join(_shown(build(names, ()), width=60).split()).count("words-x") >= 1


def test_failed_gates_keep_their_reason_on_a_narrow_terminal(two_models: RunResult) -> None:
    text = _shown(two_models, width=44)
    start = text.index("Gate ")
    gates = " ".join(text[start : text.index("\n\n", start)].split())
    assert "✗ coco AP small ≥ 0.400 0.371" in gates
    assert "no ground truth" in gates


def test_a_page_asks_for_no_more_than_its_narrowest_tables(two_models: RunResult) -> None:
    path = "/a/folder/" + "x" * 120 + "/report.html"
    page = summary(two_models, [path])
    person = Console(file=io.StringIO(), width=40, force_terminal=True)
    assert Measurement.get(person, person.options.update(width=1000), page).minimum <= 40
    pipe = Console(file=io.StringIO(), width=100)
    least = Measurement.get(pipe, pipe.options.update(width=1000), page).minimum
    assert least >= len("Report  " + path)
    assert path in _shown(two_models, [path], width=least)


def test_what_is_equal_is_said_once(found: Build) -> None:
    run = found(("small", "large"), ("cat", "dog"))
    rows = [[5, 3], [0, 5]]
    equal = [replace(table, matrix=rows, unmatched_ground_truths=[0, 0]) for table in run.tables]
    assert "Confused most       cat → dog 3×, both models\n" in _shown(replace(run, tables=equal))
    more = replace(equal[1], matrix=[[5, 4], [0, 5]])
    assert "cat → dog 3×, small · 4×, large\n" in _shown(replace(run, tables=(equal[0], more)))
    one = found(("m",), ("cat", "dog"))
    alone = replace(one.tables[0], matrix=rows, unmatched_ground_truths=[0, 0])
    assert "cat → dog 3×\n" in _shown(replace(one, tables=(alone,)))


def test_what_is_confused_most_in_pixels() -> None:
    lines = _shown(segmented()).split("\n")
    assert any(line == "Confused most       road → car 12.3M px, both models" for line in lines)
    assert lines[1] == "semantic segmentation · 260 images · 7 labels · ignore index: 255"
    assert not any("AP" in line for line in lines)


def test_label_keys_are_told_apart() -> None:
    lines = _shown(classified(keys=("color", "shape"), labels=("red", "round"))).split("\n")
    assert [line.split("  ")[0] for line in lines[4:6]] == ["accuracy (color)", "accuracy (shape)"]
    assert lines[1] == "classification · 900 samples · 2 labels"
    assert max(map(len, lines)) <= 80


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
