"""The Markdown report."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from valor_cli.reports.render.markdown.report import escaped, to_markdown

from tests.reports.conftest import HOSTILE
from tests.reports.markdown_blocks import block, tables_are_whole
from tests.reports.task_runs import THINGS, classified, renamed, segmented
from valor_cli.results import Picture, RunResult

Build = Callable[..., RunResult]


def test_verdict_table_gates_labels(two_models: RunResult) -> None:
    text = to_markdown(two_models)
    assert text.startswith("## ✗ FAILED · 1 of 6 gates, 2 not checked\n")
    assert "| coco AP | 0.371 [0.360, 0.380] | **0.505** [0.494, 0.514] | +0.134 |" in text
    assert "| ✗ **failed** | coco AP | small | ≥ 0.400 | 0.371 |" in text
    assert "<details><summary>Labels (80)</summary>" in text
    assert text.count("<details>") == text.count("</details>") == 4
    assert to_markdown(two_models) == text


def test_without_gates_and_values(build: Build) -> None:
    run = replace(build(("m",), (), gates="none", slices=False), metrics=())
    assert to_markdown(run).startswith("## ● DONE · no gates set\n")
    assert "### " not in to_markdown(run)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>", "&lt;b&gt;"),
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("_x_ snake_case", r"\_x\_ snake_case"),
        ("[a](b)", r"\[a\](b)"),
        ("&lt;", "&amp;lt;"),
        ("@octocat", "@&#8203;octocat"),
        ("AR@100", "AR@100"),
        ("mAP@0.5: 0.3", "mAP@0.5: 0.3"),
        ("ann@example.com", "ann@&#8203;example.com"),
        ("a@1.example.com", "a@&#8203;1.example.com"),
        ("org/repo#12 #12", r"org/repo\#&#8203;12 \#&#8203;12"),
        ("!12 %12 $12 &12", r"\!&#8203;12 %&#8203;12 \$&#8203;12 &amp;&#8203;12"),
        ("GH-12 gh-12 high-12", "GH-&#8203;12 gh-&#8203;12 high-12"),
        ("0123456789abcdefABCD" * 2, "0123456789abcdefABCD&#8203;0123456789abcdefABCD"),
        ("0123456789abcdefabcd" * 3, "0123456789abcdefabcd" * 3),
        ("https://a.example", "https&#58;//a.example"),
    ],
)
def test_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_hostile_words_make_no_markup_and_break_no_table(hostile: RunResult) -> None:
    text = to_markdown(hostile)
    assert "<script" not in text
    assert "\x1b" not in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in html
    assert "<code>" not in html
    assert "<a " not in html
    assert tables_are_whole(text)


def test_errors_confusions_and_worst_images(found: Build) -> None:
    run = found(("small", "large"), ("cat", "dog"))
    table = replace(run.tables[0], matrix=[[6, 3], [0, 5]], unmatched_ground_truths=[1, 0])
    text = to_markdown(replace(run, tables=(table,)))
    assert "| localisation | 0.121 | 2,420 | 0.064 | 1,280 |" in text
    assert "| all false positives | 0.140 |  | 0.140 |  |" in text
    assert "**small** at iou_threshold=0.5, score_threshold=0.3:" in text
    pair = next(line for line in text.split("\n") if line.startswith("| cat | dog |"))
    assert pair.split(" | ")[2:4] == ["3", "30.0%"]
    worst = block(text, "Worst images").split("\n")
    assert sum(line.startswith("- ") for line in worst[: worst.index("**large**")]) == 5
    assert "- 1 (000000000001.jpg) · F1 0.012 · 1 not found, " in text
    missed = "Missed: found by nothing, and no detection would find it were its label"
    assert missed in block(text, "Average precision lost")


def test_hostile_findings_make_no_markup(found: Build) -> None:
    run = found(HOSTILE[:2], HOSTILE)
    examples = [
        replace(one, sample_id=HOSTILE[index % 12], picture=Picture(HOSTILE[2], 4, 3))
        for index, one in enumerate(run.examples)
    ]
    text = to_markdown(replace(run, examples=examples, settings={HOSTILE[2]: HOSTILE[0]}))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in html
    assert "<code>" not in html
    assert "<a " not in html
    assert tables_are_whole(text)


def test_calibration_has_a_line_and_a_table_for_each_model() -> None:
    text = to_markdown(classified(("forest", "bayes")))
    part = block(text, "Calibration")
    assert "| model | expected calibration error | bins |" in part
    assert "| forest | 0.030 | overconfident in 8 of 12 bins |" in part
    assert part.count("<details><summary>Reliability table") == part.count("</details>") == 2
    assert "| 0.0667 to 0.133 |" not in part  # an empty bin
    assert "| 0.933 to 1 | 605 |" in part  # int(5 + 600)
    keyed = to_markdown(classified(keys=("color", "shape")))
    assert "| model |  | expected calibration error | bins |" in keyed
    assert "Reliability table, bayes · shape</summary>" in keyed


def test_confusions_of_samples_and_of_pixels() -> None:
    text = to_markdown(classified())
    assert "| of its samples | example sample |" in text
    assert "**forest** at score_threshold=0, hardmax=true:" in text
    text = to_markdown(segmented())
    assert "**small**:\n\n| ground truth | taken for | pixels | of its pixels |\n" in text
    assert "| road | car | 12,345,678 |" in text
    assert "At :" not in to_markdown(segmented(("m",)))
    keyed = to_markdown(classified(("m",), keys=("color", "shape")))
    assert [f"At label_key={key}, " in keyed for key in ("color", "shape")] == [True, True]


def test_spread_and_worst_images_of_segmentation() -> None:
    run = segmented(images=40)
    text = to_markdown(run)
    assert "|  | model | lowest | 5% | 25% | median | 75% | highest |" in text
    assert "| mean IoU | small | " in text
    first = run.examples[0]
    image = "frankfurt/frankfurt_000000_000000".replace("_", r"_")
    line = next(line for line in text.split("\n") if line.startswith(f"- {image} "))
    assert f"mean IoU {first.value:.3f} · pixel accuracy " in line
    assert "errors" not in line


def test_hostile_names_of_other_tasks_make_no_markup() -> None:
    for run in (
        classified(HOSTILE[:2], HOSTILE, keys=(HOSTILE[0], HOSTILE[2])),
        renamed(segmented(HOSTILE[:2]), dict(zip(THINGS, HOSTILE, strict=False))),
    ):
        text = to_markdown(run)
        assert "<script" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert tables_are_whole(text)


def test_wide_label_tables_are_cut(found: Build) -> None:
    text = to_markdown(found(("m",)))
    # 17 measures: average_precision at 2, counts 3, precision, recall, 6 kinds, best_f1 4
    assert "… and 8 more columns in results.json." in text


@pytest.mark.slow
def test_a_pull_request_holds_it(found: Build) -> None:
    # GitHub cuts a comment at 65,536 characters.
    text = to_markdown(found(("small", "large"), [f"label {i}" for i in range(1200)]))
    assert len(text) < 65_536
    assert "… and 950 more.\n" in text  # 4,500 cells of 9 measures and 2 models
