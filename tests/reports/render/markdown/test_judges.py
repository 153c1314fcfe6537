"""The Markdown report of a run that asked judges."""

from __future__ import annotations

import re

from msgspec.structs import replace
from valor_cli.reports.render.markdown.judges import LINES
from valor_cli.reports.render.markdown.judges import VERDICTS as MOST
from valor_cli.reports.render.markdown.report import to_markdown

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, VERDICTS, agreement, judge_run, usage, worst
from tests.reports.markdown_blocks import block, tables_are_whole
from tests.reports.text_runs import text_run
from valor_cli.results import PromptUsed, RunResult, Verdict


def _section(run: RunResult, name: str) -> str:
    return block(to_markdown(run), name)


def test_usage_agreements_and_prompts() -> None:
    lines = _section(judge_run(judges=JUDGES[:2]), "Judges").splitlines()
    assert lines[0] == (
        "| judge | metric | model | calls | cached | failed | tokens in | tokens out | cost | "
        "saved |"
    )
    assert lines[1] == "|:--|:--|:--|--:|--:|--:|--:|--:|--:|--:|"
    assert lines[2] == (
        "| openai/gpt-4o-mini | faithfulness | small | 180 | – | – | 146,160 | 17,280 | "
        r"\$0.0323 | – |"
    )
    assert lines[18] == (
        r"| **total** |  |  | 3,840 | 288 | 12 | 3,118,080 | 368,640 | \$0.6889 | \$0.0504 |"
    )
    assert (
        "| faithfulness | small | judges a, b, c | a 0.812, b 0.790, c – | s3, s9 | 222 | 92% | "
        "Fleiss' kappa 0.610 | 0.077 |"
    ) in lines
    assert "| faithfulness_verdicts | 2 | fedcba987654 | valor |" in lines
    assert "| house_style | 1 | aaaabbbbcccc | the config |" in lines


def test_nothing_of_it_stands_in_other_reports(two_models: RunResult) -> None:
    for run in (two_models, text_run()):
        text = to_markdown(run)
        assert "### Judges" not in text
        assert "STOPPED" not in text
        assert "models asked" not in text


def test_a_run_that_stopped_says_so_below_the_verdict() -> None:
    text = to_markdown(judge_run(stopped="the budget of 2.00 US dollars is reached"))
    assert text.splitlines()[2] == (
        "**STOPPED**: the budget of 2.00 US dollars is reached; the judges got to 234 of 240 "
        "samples; --resume goes on"
    )
    assert "| models asked | openai/gpt-4o-mini |" in text


def test_verdicts_below_the_texts() -> None:
    text = _section(judge_run(("m",)), "Worst samples")
    sample = text.split("- **faq-000**")[1].split("- **faq-001**")[0].splitlines()
    assert [line.split(" ")[3] for line in sample[4:]] == ["✓", "✓", "✗", "✗", "–"]
    assert sample[7] == (
        "  - ✗ **not supported**: The toll of the harbour bridge is paid in both directions. – "
        "Context 1 says that the toll is levied on southbound traffic only."
    )
    assert sample[8] == "  - – **not a claim**: I hope that this helps."
    many = worst("faithfulness", "m", 0, verdicts=VERDICTS * 4)
    text = _section(judge_run(("m",), examples=(many,)), "Worst samples")
    assert text.count("**supported**") == 0  # eight speak against it
    assert text.count("✗ **not supported**") == MOST
    assert "  - … and 15 more verdicts" in text
    whole = worst("faithfulness", "m", 0, verdicts=[Verdict("", "absent", True)])
    assert "  - ✓ **absent**\n" in to_markdown(judge_run(("m",), examples=(whole,)))


def test_it_stays_small() -> None:
    models = [f"m{index}" for index in range(12)]
    run = judge_run(models, JUDGES)
    long = [Verdict("x" * 9_000, "no", False, "y" * 9_000)] * 500
    run = replace(run, examples=[replace(one, verdicts=long) for one in run.examples])
    run = replace(run, prompts=run.prompts * 40)
    text = to_markdown(run)
    assert len(text) < 65_536
    assert f"… and {12 * 4 - LINES} more in results.json." in text
    assert f"… and {120 - LINES} more in results.json." in text


def test_hostile_words_stay_words() -> None:
    for word in (*HOSTILE, "**bold** [a](http://b) ![i](j) <img src=x> # h\n\n# h", "$$x$$ ~~s~~"):
        run = judge_run(
            ("m",),
            usage=[usage(word, "m", judge) for judge in (word, "b")],
            agreements=[agreement(word, "m", raters=(word, "b", "c"), disagreements=[word])],
            prompts=(PromptUsed(word, 1, word, own=True),),
            examples=[worst("faithfulness", "m", 0, verdicts=[Verdict(word, word, False, word)])],
            stopped=word,
        )
        text = to_markdown(replace(run, run=replace(run.run, models_used=(word,))))
        tags = set(re.findall(r"<(/?[a-z]+)", text))
        own = {"details", "summary", "br", "kbd", "sub"}
        assert {tag.removeprefix("/") for tag in tags} <= own
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "](" not in text.replace(r"\](", "").replace(r"\]\(", "")
        assert "http://" not in text
        assert not re.search(r"(?<!\w)@(?!&#8203;)", text)
        # one line each: no cell and no list item is torn, none has a pipe of its own
        assert tables_are_whole(block(text, "Judges"))
        assert len(re.findall(r"^  - ✗ ", text, re.MULTILINE)) == 1
