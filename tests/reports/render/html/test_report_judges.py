"""The HTML report of a run that asked judges."""

from __future__ import annotations

import re
from html import unescape

import pytest
from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, VERDICTS, agreement, judge_run, usage, worst
from tests.reports.render.html.test_report import _Page
from tests.reports.text_runs import text_run
from valor_cli.reports.render.html.report import AGREEMENTS, PROMPTS, USAGE, to_html
from valor_cli.reports.render.html.samples import TEXT
from valor_cli.reports.render.html.samples import VERDICTS as MOST
from valor_cli.results import PromptUsed, RunResult, Verdict


def _section(run: RunResult, name: str) -> str:
    return to_html(run).split(f'<section aria-labelledby="{name}">')[1].split("</section>")[0]


def _words(html: str) -> list[str]:
    """The texts between tags."""
    return [unescape(text).strip() for text in re.findall(r">([^<]+)<", html) if text.strip()]


def test_the_page_is_whole() -> None:
    text = to_html(judge_run(judges=JUDGES, stopped="interrupted"))
    page = _Page(text)
    assert not page.open
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert '<a href="#judges">Judges</a>' in text
    assert "judges" in ids


def test_nothing_of_it_stands_on_pages_of_other_runs(two_models: RunResult) -> None:
    for run in (two_models, text_run()):
        body = to_html(run).split("</style>")[1].split("<script>")[0]
        for word in ("judges", "Models asked", "verdicts", "stopped"):
            assert word not in body


def test_usage_with_its_total() -> None:
    text = _section(judge_run(judges=JUDGES), "judges")
    table = text.split("</table>")[0]
    assert table.count("<tr>") == 1 + 24 + 1
    words = _words(table)
    assert words[:20] == [
        "Judges",
        "What was asked, and what it took",
        *("Judge", "Metric", "Model", "Calls", "Cached", "Failed", "Tokens in", "Tokens out"),
        *("Cost", "Saved"),
        *("openai/gpt-4o-mini", "faithfulness", "small", "180", "–", "–", "146,160", "17,280"),
    ]
    assert _words(table.split("<tfoot>")[1]) == [
        *("Total", "5,760", "432", "18", "≥ 3,118,080", "≥ 368,640", "≥ $0.6889", "≥ $0.0504"),
    ]
    assert "sums are lower bounds" in text
    assert "lower bounds" not in _section(judge_run(), "judges")


def test_agreements_and_prompts() -> None:
    text = _section(judge_run(judges=JUDGES), "judges")
    words = _words(text.split('class="agreed"')[1])
    at = words.index("Widest apart")
    assert words[at + 1 : at + 10] == [
        *("faithfulness", "small", "judges a, b, c", "a 0.812, b 0.790, c –"),
        *("222", "92%", "Fleiss' kappa 0.610", "0.077", "s3, s9 and 15 more"),
    ]
    assert words[-12:] == [
        *("claims", "1", "0123456789ab", "valor"),
        *("faithfulness_verdicts", "2", "fedcba987654", "valor"),
        *("house_style", "1", "aaaabbbbcccc", "the config"),
    ]


def test_lists_are_bounded() -> None:
    run = judge_run([f"m{at}" for at in range(40)], JUDGES)
    run = replace(run, prompts=run.prompts * 50)
    text = _section(run, "judges")
    assert text.count("<tr>") <= USAGE + AGREEMENTS + PROMPTS + 4
    assert "The first 100 of 160 agreements" in text
    assert "The first 100 of 150 prompts" in text
    many = replace(
        run,
        run=replace(run.run, usage=[usage("x", "m0", f"judge {at}") for at in range(USAGE + 5)]),
    )
    assert "5 more lines stand in results.json; the total has them." in _section(many, "judges")


def test_a_run_that_stopped_says_so_in_the_header() -> None:
    header = to_html(judge_run(stopped="interrupted")).split('<main id="main"')[1]
    assert _words(header.split('class="stopped"')[1])[:2] == [
        "STOPPED",
        "interrupted; the judges got to 234 of 240 samples; --resume goes on",
    ]


def test_verdicts_below_the_texts() -> None:
    text = _section(judge_run(("m",)), "worst-samples")
    card = text.split("</article>")[0]
    shown = card.split('<ul class="verdicts">')[1].split("</ul>")[0]
    assert re.findall(r'<li class="(\w+)">', shown) == [
        *("for", "for", "against", "against", "neither"),
    ]
    assert re.findall(r'role="img" aria-label="(\w+) the sample">(.)<', shown) == [
        *(("for", "✓"), ("for", "✓"), ("against", "✗"), ("against", "✗"), ("neither", "–")),
    ]
    assert _words(shown)[:4] == [
        *("✓", "The harbour bridge was opened on 19 March 1932.", "supported"),
        "· Context 1 says that it was formally opened on that day.",
    ]
    assert "Verdicts: 2 for, 2 against, 1 neither" in card


def test_verdicts_are_bounded() -> None:
    long = [Verdict("x" * 9_000, "no", False, "y" * 9_000)] * (MOST + 5)
    text = _section(
        judge_run(("m",), examples=[worst("faithfulness", "m", 0, verdicts=long)]),
        "worst-samples",
    )
    assert text.count('<li class="against">') == MOST
    assert "… and 5 more</li>" in text
    assert "x" * 301 not in text
    assert "y" * 301 not in text
    # what is shown of verdicts counts as what is shown of texts: 20 × 600 characters a card
    models = [f"m{at}" for at in range(20)]
    run = judge_run(models)
    run = replace(run, examples=[replace(one, texts=(), verdicts=long) for one in run.examples])
    assert _section(run, "worst-samples").count("<article") == TEXT // (MOST * 604)


def test_it_stays_small() -> None:
    run = judge_run([f"m{at}" for at in range(12)], JUDGES)
    run = replace(run, examples=[replace(one, verdicts=VERDICTS * 10) for one in run.examples])
    assert len(to_html(run)) < 3_000_000


@pytest.mark.parametrize("word", [*HOSTILE, "a\x00b\x1b[1m", "\ud800", "<mark>", "</li></ul></p>"])
def test_hostile_words_stay_words(word: str) -> None:
    run = judge_run(
        ("m",),
        usage=[usage(word, "m", judge) for judge in (word, "b")],
        agreements=[
            agreement(word, "m", raters=(word, "b", "c"), disagreements=[word], statistic=word)
        ],
        prompts=(PromptUsed(word, 1, word, own=True),),
        examples=[worst("faithfulness", "m", 0, verdicts=[Verdict(word, word, None, word)])],
        stopped=word,
    )
    text = to_html(replace(run, run=replace(run.run, models_used=(word,))))
    page = _Page(text)
    assert not page.open
    assert page.count("script") == 2  # the data and ours
    assert (page.count("article"), page.count("mark")) == (1, 0)
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert not set("\x00\x1b\u202e\ud800") & set(text)
    assert "x" * 601 not in text
    text.encode()
