"""The Markdown report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from valor_cli.reports.markdown import escaped, to_markdown
from valor_cli.results import RunResult

Build = Callable[..., RunResult]


def test_verdict_table_gates_labels(two_models: RunResult) -> None:
    text = to_markdown(two_models)
    assert text.startswith("## ✗ FAILED · 1 of 6 gates, 2 not checked\n")
    assert "| coco AP | 0.371 [0.360, 0.380] | **0.505** [0.494, 0.514] | +0.134 |" in text
    assert "| ✗ **failed** | coco AP | small | ≥ 0.400 | 0.371 |" in text
    assert "<details><summary>Labels (80)</summary>" in text
    assert text.count("<details>") == text.count("</details>") == 2
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
    for table in text.split("\n\n"):
        rows = [line for line in table.split("\n") if line.startswith("|")]
        assert len({row.replace("\\|", "").count("|") for row in rows}) <= 1
