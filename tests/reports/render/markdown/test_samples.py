"""The Markdown report of a run of samples."""

from __future__ import annotations

import re

from msgspec.structs import replace
from valor_cli.reports.render.markdown.report import to_markdown
from valor_cli.reports.render.markdown.samples import ROOM

from tests.reports.conftest import HOSTILE
from tests.reports.markdown_blocks import block
from tests.reports.text_runs import METRICS, text_run, worst
from valor_cli.results import RunResult, ShownText


def _section(run: RunResult, name: str) -> str:
    return block(to_markdown(run), name)


def test_coverage_stands_beside_the_means_that_need_it() -> None:
    text = to_markdown(text_run())
    assert "| exact_match | 0.667 (97%) | 0.727 (97%) | **0.787** |" in text
    assert "| bleu_1 | 0.000 | 0.060 | **0.120** |" in text
    first, further = text.split("<details><summary>9 further values</summary>")
    assert "| pii_leakage pass |" in first
    assert "| pii_leakage fail |" in further
    assert "a percentage beside a value is the part of the samples" in first


def test_problems_insights_and_coverage() -> None:
    run = text_run()
    assert _section(run, "Problems").splitlines() == [
        "1 high, 1 medium, 1 low, 1 cannot tell:",
        "",
        "- **high** · small: exact_match: faq-007 is right, its copy faq-007-typo is not",
        "- **medium** · small: bleu_1: the mean of 0.210 is below 0.5",
        "- **low** · small: text_matching: 24 of 200 have no value",
        "- **cannot tell** · small: rouge_l: its interval has the threshold of 0.5",
    ]
    assert _section(run, "Insights").splitlines()[0] == "- faq-019 is hardest: 0.100 on average"
    table = _section(run, "Coverage").splitlines()
    assert table[0] == (
        "| metric | model | coverage | OK | Parse failure | Missing input | Not applicable |"
    )
    assert table[2] == "| text_matching | small | 94% | 189 | 4 | 7 | – |"
    assert table[-1] == "The other 13 pairs of metric and model have a value of every sample."
    many = replace(run, problems=run.problems * 20, insights=run.insights * 20)
    assert "- … and 65 more in results.json" in _section(many, "Problems")
    assert "- … and 15 more in results.json" in _section(many, "Insights")


def test_worst_samples_with_what_is_marked_in_bold() -> None:
    text = _section(text_run(("small",)), "Worst samples")
    part = block(text, "pii_leakage")
    lines = part.splitlines()
    assert lines[0] == (
        "- **faq-000** · fails · 2 found in the response: PHONE_NUMBER, EMAIL_ADDRESS"
    )
    assert lines[2] == (
        "  - response: It was opened in 1932. Call Ms Doe at <b>••••••••••••</b>, "
        "or write to <b>••••••••••••••••</b>."
    )
    assert len(lines) == 3 * 5


def _quoted(shown: ShownText) -> str:
    run = text_run(("small",), examples=(worst("bleu_1", "small", 0, texts=(shown,)),))
    (line,) = [one for one in to_markdown(run).splitlines() if one.startswith("  - ")]
    return line.removeprefix("  - response: ")


def test_the_first_mark_of_a_long_text_is_shown() -> None:
    text = "a" * 1_000 + " found here " + "b" * 1_000
    found = _quoted(ShownText("response", text, [(1_001, 1_006, "x"), (1_500, 1_502, "y")]))
    assert found.startswith("… aaaa")
    assert "a <b>found</b> here b" in found
    assert found.endswith("b …")
    assert len(found) < 300
    assert _quoted(ShownText("response", "")) == "*empty*"
    assert _quoted(ShownText("response", "cut", left_out=5)) == "cut …"
    # a mark that is cut off, one that is all space, one of hidden characters
    cut = _quoted(ShownText("response", "ab" + "c" * 500, [(2, 502, "x")]))
    assert cut == f"ab<b>{'c' * 238}</b> …"
    assert _quoted(ShownText("response", "a \n b", [(1, 4, "x")])) == "a b"
    assert _quoted(ShownText("response", "a\u202eb", [(1, 2, "x")])) == "a<b>‹U+202E›</b>b"


def test_texts_with_marks_come_before_others() -> None:
    shown = [ShownText(f"retrieved_contexts[{at}]", f"context {at}") for at in range(9)]
    shown[7] = replace(shown[7], marks=[(0, 7, "x")])
    run = text_run(("small",), examples=(worst("bleu_1", "small", 0, texts=shown),))
    lines = [one for one in to_markdown(run).splitlines() if one.startswith("  - ")]
    assert [line.split(":")[0] for line in lines] == [f"  - context {at}" for at in (1, 2, 3, 8)]


def test_worst_samples_are_bounded() -> None:
    models = [f"m{index}" for index in range(12)]
    run = text_run(models)
    long = [ShownText("response", "x" * 2_000, left_out=8_000_000)] * 9
    run = replace(run, examples=[replace(one, texts=long) for one in run.examples])
    text = _section(run, "Worst samples")
    shown = text.count("<details>")
    assert len(text) < ROOM * 1.3
    assert 0 < shown < len(METRICS) * 12
    left = len(METRICS) * 12 - shown
    assert f"Those of {left} more metrics and models stand in results.json." in text
    assert len(to_markdown(run)) < 65_536


def test_hostile_words_stay_words() -> None:
    texts = [
        ShownText(f"references[{at}]", word, [(0, len(word), word)])
        for at, word in enumerate(HOSTILE)
    ]
    names = HOSTILE[:2]
    run = text_run(names)
    examples = [
        worst("bleu_1", name, at, texts=texts[at:], sample_id=word, reason=word)
        for name in names
        for at, word in enumerate(HOSTILE)
    ]
    text = to_markdown(replace(run, examples=examples))
    tags = set(re.findall(r"<(/?[a-z]+)", text))
    own = {"details", "summary", "b", "br", "kbd", "sub"}
    assert {tag.removeprefix("/") for tag in tags} <= own
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not re.search(r"(?<!\w)@(?!&#8203;)", text)
    summaries = re.findall(r"<summary>(.*?)</summary>", text)
    assert any("&lt;script&gt;" in line for line in summaries)
    assert not any("\\" in line for line in summaries)  # Markdown reads none there
