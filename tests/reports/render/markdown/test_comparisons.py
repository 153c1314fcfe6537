"""The Markdown report of a run whose models were compared, with a baseline, with found slices."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from valor_cli.reports.render.markdown.report import to_markdown

from tests.reports.conftest import HOSTILE
from tests.reports.found_runs import compared, each_pair, searched, unsure
from tests.reports.markdown_blocks import block, tables_are_whole
from valor_cli.reports.render.markdown import report as markdown
from valor_cli.results import RunResult

Build = Callable[..., RunResult]


def test_the_second_of_two_models_is_judged(two_models: RunResult) -> None:
    rows = [compared("large", "small", 0.134)]
    text = to_markdown(replace(two_models, comparisons=rows))
    first = text.split("<details>")[0]
    assert "|  | small | large | difference | p | large is |" in first
    assert (
        "| coco AP | 0.371 [0.360, 0.380] | **0.505** [0.494, 0.514] | +0.134 [0.114, 0.164] | "
        "0.012 | ✓ better |"
    ) in first
    # what was not compared has its difference, and no verdict
    assert "| coco AP50 | 0.552 [0.541, 0.561] | **0.693** [0.682, 0.702] | +0.141 |  |  |" in first
    assert "p: paired bootstrap (n 100), adjusted by Holm's method" in first
    assert "better or worse below 0.05.</sub>" in first
    turned = replace(rows[0], model="small", other="large", difference=-0.134, verdict="worse")
    turned = replace(turned, interval=(-0.164, -0.114))
    assert to_markdown(replace(two_models, comparisons=[turned])) == text


def test_a_bare_p_value_is_marked(two_models: RunResult) -> None:
    rows = [compared("large", "small", 0.134, p_adjusted=None)]
    text = to_markdown(replace(two_models, comparisons=rows))
    assert r"| 0.004\* | ✓ better |" in text
    assert r"; \* not adjusted.</sub>" in text


def test_why_it_cannot_be_told_is_said_once(two_models: RunResult) -> None:
    few = "100 resamples are too few: it takes 220 to tell"
    rows = [compared("large", "small", 0.03, output=name, reason=few) for name in ("AP", "AP50")]
    rows.append(compared("large", "small", 0.2, output="AP75", reason="of 3 <samples>"))
    rows.append(replace(rows[0], output="APsmall", reason="a < b"))
    text = to_markdown(replace(two_models, comparisons=rows))
    assert text.count("100 resamples are too few") == 1
    assert "below 0.05; cannot tell: 100 resamples are too few: it takes 220 to tell; " in text
    assert "cannot tell: a &lt; b.</sub>" in text
    assert "of 3" not in text  # it could be told


def test_more_models_have_a_table_of_pairs(build: Build) -> None:
    models = ("a", "b", "c")
    run = replace(build(models), comparisons=each_pair(models))
    part = block(to_markdown(run), "Models against each other")
    lines = part.splitlines()
    assert lines[0] == "| value | b against a | c against a | c against b |"
    assert lines[2] == (
        "| coco AP | ✗ worse −0.200, p 0.012 | ✗ worse −0.190, p 0.012 | ✗ worse −0.180, p 0.012 |"
    )
    assert len(lines) == 6  # two values, then a line that says how
    many = [f"m{index}" for index in range(12)]
    part = block(
        to_markdown(replace(build(many), comparisons=each_pair(many))), "Models against each other"
    )
    assert part.splitlines()[0] == "| models | coco AP | coco AP50 |"
    assert len([line for line in part.splitlines() if line.startswith("| m")]) == 1 + 12
    assert "all of them stand in results.json" in part


def test_against_the_baseline(build: Build) -> None:
    run = build(("m",))
    rows = [
        compared("m", "m", 0.134, baseline=True),
        compared("m", "m", -0.2, baseline=True, output="AP50", p_adjusted=0.0001),
        compared("m", "m", None, baseline=True, metric="coco", output="ARlarge", p_adjusted=None),
    ]
    text = to_markdown(replace(run, comparisons=rows))
    part = block(text, "Against the baseline")
    lines = part.splitlines()
    assert lines[0] == "|  | baseline | now | difference | p | now it is |"
    assert lines[2] == "| coco AP | 0.237 | 0.371 | +0.134 [0.114, 0.164] | 0.012 | ✓ better |"
    assert (
        lines[3] == "| coco AP50 | 0.571 | 0.371 | −0.200 [−0.220, −0.170] | &lt;0.001 | ✗ worse |"
    )
    assert block(text, "1 further value against the baseline").splitlines()[2] == (
        "| coco ARlarge | – | – | – | – | ? not tested |"
    )
    renamed = replace(run, comparisons=[replace(rows[0], other="old")])
    part = block(to_markdown(renamed), "Against the baseline")
    assert "| coco AP | m | 0.237 (old) | 0.371 |" in part


def test_found_slices_stand_above_all_slices(two_models: RunResult) -> None:
    run = replace(two_models, searches=[searched("small", "metadata.camera=rear"), searched("b")])
    text = to_markdown(run)
    part = block(text, "Found slices")
    assert (
        "- **metadata.camera=rear**: 0.310 against 0.520 of the rest, n 41, adjusted p 0.001"
        in (part)
    )
    assert "none is worse beyond chance." in part
    assert text.index("### Found slices") < text.index("<summary>Slices (4), worst first")


def test_how_sure_is_said_once(two_models: RunResult) -> None:
    text = to_markdown(unsure(two_models))
    note = (
        "<sub>95% intervals by the bootstrap over images (200 resamples, seed 3); "
        "° rests on fewer than 30 images.</sub>"
    )
    assert text.count(note) == 1
    assert text.count("seed 3") == 1
    assert "| coco AP | 0.371° [0.360, 0.380] |" in text
    assert "°" not in to_markdown(two_models)
    rows = [
        replace(row, caution="small_n") if row.slice or row.label else row
        for row in two_models.metrics
    ]
    text = to_markdown(replace(two_models, metrics=rows))
    # once a line, at its count
    assert "| metadata.weather=fog | 1,204° | 0.198 [" in block(text, "Slices")
    # The note stands where the mark does, and names what is few.
    assert "° rests on fewer than" not in text.split("<details>")[0]
    assert text.count("<sub>° rests on fewer than 30 ") == 2


def test_many_models_stand_in_rows(build: Build) -> None:
    text = to_markdown(build([f"m{index}" for index in range(40)], ("cat",)))
    lines = text.split("<details>")[0].splitlines()
    head = next(line for line in lines if line.startswith("| model |"))
    assert head.count("|") == 2 + 5  # five primary values
    rows = [line for line in lines if line.startswith("| m")][1:]
    assert rows[0].startswith("| m1 | **0.505**")  # best first; m0 has 0.371
    first = [float(row.split(" | ")[1][:5]) for row in rows[1:]]
    assert len(first) == 29
    assert first == sorted(first, reverse=True)
    assert "… and 10 more models." in text
    assert tables_are_whole(text)


def test_the_longest_blocks_give_way(build: Build) -> None:
    models = ("small", "large", "third", "fourth")
    run = build(models, [f"label {index}" for index in range(80)])
    run = replace(run, comparisons=each_pair(models), searches=[searched("small", "a", "b")])
    text = to_markdown(run)
    assert len(text) < 65_536
    assert "Left out for want of room" not in text
    warnings = ["<" * 400] * 15
    text = to_markdown(replace(run, warnings=warnings, task="@" * 5_000))
    assert "Left out for want of room" not in text
    wide = [
        compared("a" * 60, "b" * 60, 0.1, metric=f"{at}" + "@" * 79, baseline=True)
        for at in range(200)
    ]
    run = replace(run, comparisons=wide, models=("a" * 60,), warnings=warnings)
    assert len(to_markdown(run)) < 65_536


def test_what_gives_way_is_named(two_models: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = to_markdown(two_models)
    monkeypatch.setattr(markdown, "ROOM", len(whole) - 100)
    text = to_markdown(two_models)
    assert len(text) < len(whole)
    assert "Left out for want of room: labels. The HTML report has them.\n" in text
    assert "<summary>Labels" not in text
    assert text.startswith("## ✗ FAILED")


def test_gates_are_folded_where_none_failed(build: Build) -> None:
    text = to_markdown(build(("m",), gates="passed"))
    assert "<details><summary>Gates (2 passed)</summary>" in text
    assert (
        "<kbd>✓ coco AP: 0.371 (≥ 0.300)</kbd> <kbd>✓ coco APlarge: 0.489 (≥ 0.400)</kbd>" in text
    )
    failed = build(("m",))
    many = replace(failed, gates=[replace(failed.gates[0], limit=0.4 + at) for at in range(60)])
    text = to_markdown(many)
    assert text.count("| ✗ **failed** |") == 40
    assert "… and 20 more in results.json." in text
    assert text.split("\n")[2].count("<kbd>") == 7
    assert "<kbd>… 54 more</kbd>" in text


def test_hostile_words_stay_words(build: Build) -> None:
    for word in HOSTILE:
        run = build((word, "b"), ("cat",))
        rows = [
            compared("b", word, 0.134),
            compared("b", word, 0.01, output="AP50", reason=f"**{word}**"),
            compared(word, word + "x", 0.2, baseline=True, reason=word, metric=word),
        ]
        text = to_markdown(
            replace(run, comparisons=rows, searches=[searched(word, word), searched("b")])
        )
        html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
        assert "<script" not in html
        assert "<code>" not in html
        assert "<a " not in html
        note = next(line for line in html.splitlines() if "<sub>" in line and "p: paired" in line)
        assert "<strong>" not in note  # Markdown is read behind a tag that is no block
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert tables_are_whole(text)
