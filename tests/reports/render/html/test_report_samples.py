"""The HTML report of a run of samples."""

from __future__ import annotations

import re
from html import unescape

import pytest
from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.render.html.test_report import _Page
from tests.reports.text_runs import METRICS, MODELS, coverage_gate, text_run, worst
from valor_cli.reports.render.html.report import to_html
from valor_cli.reports.render.html.samples import CARDS, INSIGHTS, PROBLEMS, TEXT
from valor_cli.results import RunResult, ShownText


def _section(run: RunResult, name: str) -> str:
    return to_html(run).split(f'<section aria-labelledby="{name}">')[1].split("</section>")[0]


def _words(html: str) -> list[str]:
    """The texts between tags."""
    return [unescape(text).strip() for text in re.findall(r">([^<]+)<", html) if text.strip()]


def _one(*texts: ShownText, **rest: object) -> RunResult:
    example = worst("bleu_1", "small", 0, texts=texts, **rest)
    return text_run(("small",), examples=(example,))


def test_the_page_is_whole_and_small() -> None:
    text = to_html(text_run())
    page = _Page(text)
    assert not page.open
    assert len(text) < 1_300_000
    names = re.findall(r'<a href="#(\w[\w-]*)">([\w ]+)</a>', text.split("</nav>")[0])
    assert [name for name, _ in names if name not in ("main", "run", "results")] == [
        "samples",
        "problems",
        "insights",
        "coverage",
        "spread",
        "worst-samples",
        "matrix",
    ]
    assert all(f'id="{name}"' in text for name, _ in names)


def test_nothing_of_it_stands_on_pages_of_other_runs(two_models: RunResult) -> None:
    text = to_html(two_models)
    body = text.split("</style>")[1].split("<script>")[0]
    parts = ("problems", "insights", "coverage", "worst-groups", "matrices-of-samples")
    for word in (*parts, "<mark"):
        assert word not in body


def test_results_with_their_coverage_and_further_outputs_folded() -> None:
    text = _section(text_run(), "results")
    first, further = text.split("<details>")
    assert first.count('<th scope="row"') == len(METRICS)
    assert further.count('<th scope="row"') == 9
    assert "9 further outputs of these metrics" in further
    assert '0.667<small class="part">of 97%<span class="vh"> of the samples</span></small>' in first
    assert "A percentage beside a value is the part of the samples" in further
    ranked = _section(text_run([f"m{index}" for index in range(6)]), "results")
    assert 'class="part">of 97%' in ranked


def test_too_few_samples_make_a_run_incomplete() -> None:
    run = text_run(("small",), gates=(coverage_gate("bleu_1", "small", 0.88),))
    text = to_html(run)
    assert "<title>INCOMPLETE · text generation · valor</title>" in text
    assert '<p class="verdict incomplete">' in text


def test_problems_most_severe_first_and_bounded() -> None:
    run = text_run()
    words = _words(_section(run, "problems"))
    assert words[:7] == [
        "Problems",
        "1 high, 1 medium, 1 low, 1 cannot tell",
        "Problems, most severe first",
        "Severity",
        "Kind",
        "Problem",
        "Samples",
    ]
    assert words[7:11] == [
        "high",
        "flip",
        "small: exact_match: faq-007 is right, its copy faq-007-typo is not",
        "faq-007, faq-007-typo",
    ]
    many = replace(run, problems=run.problems * 100, insights=run.insights * 100)
    assert _section(many, "problems").count("<tr>") == PROBLEMS + 1
    assert "The first 100 of 400 problems" in _section(many, "problems")
    assert _section(many, "insights").count("<li>") == INSIGHTS


def test_coverage_lists_what_is_left_out() -> None:
    words = _words(_section(text_run(), "coverage"))
    assert words[2:14] == [
        "Metric", "Model", "Coverage", "OK", "Parse failure", "Missing input", "Not applicable",
        "text_", "matching", "small", "94%", "189",
    ]  # fmt: skip
    whole = [replace(row, statuses={"ok": 200}, coverage=1.0) for row in text_run().coverage]
    assert _words(_section(text_run(coverage=whole), "coverage")) == [
        "Coverage",
        "Every metric has a value of every sample.",
    ]


def test_cards_of_each_metric_and_model() -> None:
    text = _section(text_run(), "worst-samples")
    assert text.count("<article") == len(METRICS) * len(MODELS) * CARDS
    groups = re.findall(r'<div data-metric="(\d)" data-model="(\d)">', text)
    assert groups == [(str(a), str(b)) for a in range(len(METRICS)) for b in range(len(MODELS))]
    card = text.split('data-metric="5" data-model="0"')[1].split("</article>")[0]
    assert _words(card)[:7] == [
        "pii_leakage · small",
        "PHONE_NUMBER",
        "EMAIL_ADDRESS",
        "faq-000",
        "fails",
        "2 found in the response: PHONE_NUMBER, EMAIL_ADDRESS",
        "User input",
    ]
    assert '<mark class="k0" title="PHONE_NUMBER">••••••••••••</mark>' in card
    assert card.count("<details") == 1
    assert "Context 2" in card.split("<details")[1]
    assert "… 120,000 characters left out" in card


def test_long_texts_are_folded_unless_something_is_marked() -> None:
    long = "word " * 100
    texts = [ShownText(f"references[{at}]", long) for at in range(2)]
    texts[1] = replace(texts[1], marks=[(0, 4, "x")])
    text = _section(_one(*texts, ShownText("response", "")), "worst-samples")
    assert re.findall(r"<details[^>]*>", text) == [
        '<details class="text">',
        '<details class="text" open>',
    ]
    assert text.count("500 characters") == 2
    assert "<em>empty</em>" in text
    assert 'dir="auto"' in text


def test_room_is_shared_by_metrics_and_models() -> None:
    run = text_run()
    texts = [ShownText("response", "x" * (TEXT // 60))]
    run = replace(run, examples=[replace(one, texts=texts) for one in run.examples])
    text = _section(run, "worst-samples")
    # 60 cards for 24 metrics and models: two of each, then one more of the first 12
    assert [part.count("<article") for part in text.split("data-metric")[1:]] == [3] * 12 + [2] * 12
    assert "180 more are left out to keep this page small" in text


def test_samples_by_metric() -> None:
    text = _section(text_run(samples=150), "matrix")
    assert text.count("<table") == 3
    assert text.count("… and 50 more in samples.jsonl.") == 3
    assert re.search(r'<td class="na" title="no input">missing input</td>', text)
    assert re.search(r'<td class="bar" style="--v:0\.\d+">0\.\d{3}</td>', text)


@pytest.mark.parametrize("word", [*HOSTILE, "a\x00b\x1b[1m", "\ud800", "<mark>", "</p></article>"])
def test_hostile_texts_stay_texts(word: str) -> None:
    texts = (
        ShownText("response", f"a{word}b", [(1, 1 + len(word), word)]),
        ShownText(f"x{word}[0]", word, left_out=10_000_000),
    )
    run = _one(*texts, sample_id=word, reason=word)
    run = replace(
        run,
        problems=[replace(run.problems[0], message=word, sample_ids=[word], metric=word)],
        insights=[replace(run.insights[0], message=word)],
        samples=[
            replace(
                run.samples[0],
                sample_ids=[word],
                columns={"value": [None]},
                undefined=[word],
                statuses=["skipped"],
                details=None,
            )
        ],
    )
    text = to_html(run)
    page = _Page(text)
    assert not page.open
    assert page.count("script") == 2  # the data and ours
    assert page.count("mark") == 2  # in the text and in the legend
    assert page.count("article") == 1
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert not set("\x00\x1b\u202e\ud800") & set(text)
    text.encode()
