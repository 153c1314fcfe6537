"""The summary of a run that asked judges on a screen."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace
from rich.console import Console
from valor_cli.reports.render.terminal.judges import judge_lines
from valor_cli.reports.render.terminal.report import SCREEN, summary

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, MODELS, agreement, judge_run, usage
from tests.reports.text_runs import text_run
from valor_cli.reports.digests.judge_usage import usage_table
from valor_cli.results import RunResult


def _lines(run: RunResult, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(summary(run, ("r.html",)))
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


def test_one_judge_by_metric() -> None:
    run = judge_run(("m",))
    lines = _lines(replace(run, coverage=()), width=100)
    at = lines.index("Judge  openai/gpt-4o-mini")
    assert [line.split() for line in lines[at + 1 : at + 7]] == [
        ["calls", "cached", "failed", "tokens", "in", "tokens", "out", "cost", "saved"],
        ["faithfulness", "180", "–", "–", "146,160", "17,280", "$0.0323", "–"],
        ["context_recall", "220", "12", "–", "178,640", "21,120", "$0.0395", "$0.0021"],
        ["nv_answer_accuracy", "260", "24", "3", "211,120", "24,960", "$0.0466", "$0.0042"],
        ["custom_judge", "300", "36", "–", "243,600", "28,800", "$0.0538", "$0.0063"],
        ["total", "960", "72", "3", "779,520", "92,160", "$0.1722", "$0.0126"],
    ]
    assert lines[at + 7] == ""


def test_several_judges_one_line_each() -> None:
    lines = _lines(replace(judge_run(judges=JUDGES), gates=(), agreements=()))
    at = lines.index("Judges  3")
    shown = [line.split() for line in lines[at + 2 : at + 6]]
    assert [row[0] for row in shown] == [*JUDGES, "total"]
    assert shown[2][-2:] == ["unknown", "unknown"]
    assert shown[3][-4:] == ["≥", "$0.6889", "≥", "$0.0504"]


def test_what_says_nothing_takes_no_room() -> None:
    row = usage("faithfulness", "m", "a", cached=0, failed=0)
    lines = _lines(judge_run(("m",), usage=[row]), width=200)
    (head,) = [line for line in lines if line.split()[:1] == ["calls"]]
    assert head.split() == ["calls", "tokens", "in", "tokens", "out", "cost"]
    assert not any(line.startswith("total") for line in lines)
    assert not any(line.startswith("Judge") for line in _lines(text_run()))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_screens_lose_columns_and_no_digits(width: int) -> None:
    run = judge_run(("m",), gates=())
    lines = _lines(run, width)
    assert max(map(len, lines)) <= width
    (total,) = [line.split() for line in lines if line.startswith("total ")]
    assert total[1] == "960"
    assert "$0.1722" in total


def test_agreement_least_first() -> None:
    rows = [
        agreement("faithfulness", "small", agreement=None, n=0, disagreements=()),
        agreement("faithfulness", "large", agreement=None, n=0, disagreements=()),
        agreement("context_recall", "small", agreement=0.95),
        agreement("context_recall", "large", agreement=0.5),
    ]
    run = judge_run(agreements=rows, usage=(), gates=(), models_used=())
    lines = _lines(run, width=130)
    at = lines.index("Judges")
    rest = "of 222 samples (Fleiss' kappa 0.610); widest apart: s3, s9"
    assert lines[at + 1 : at + 5] == [
        f"  • context_recall, large: judges a, b, c agree on 50% {rest}",
        f"  • context_recall, small: judges a, b, c agree on 95% {rest}",
        "  • faithfulness, small: judges a, b, c have no sample in common",
        "  • faithfulness, large: judges a, b, c have no sample in common",
    ]


def test_a_run_that_stopped_says_so_below_the_verdict() -> None:
    run = judge_run(stopped="the budget of 2.00 US dollars is reached", gates=())
    lines = _lines(run, width=120)
    assert lines[0] == "INCOMPLETE  the run was stopped; no gates set"
    assert lines[1] == (
        "STOPPED: the budget of 2.00 US dollars is reached; the judges got to 234 of 240 samples; "
        "--resume goes on"
    )
    assert lines[2] == "text generation · 120 samples"


@pytest.mark.parametrize("models", [1, 2, 4])
@pytest.mark.parametrize("judges", [1, 3])
def test_it_fits_the_screen(models: int, judges: int) -> None:
    names = [f"model-{at}" for at in range(models)]
    full = text_run(names)
    run = judge_run(names, JUDGES[:judges], stopped="the budget of 2.00 US dollars is reached")
    lines = _lines(replace(run, problems=full.problems * 9, insights=full.insights * 9))
    assert len(lines) <= SCREEN + 3  # there is something of every section
    assert max(map(len, lines)) <= 80
    (told,) = [line for line in lines if line.startswith("Judge")]
    assert "calls, " in told


def test_hostile_words_stay_words() -> None:
    for word in HOSTILE:
        used = [usage(word, "small", judge) for judge in (word, "b")]
        rows = [agreement(word, "small", raters=(word, "b", "c"), disagreements=[word])]
        run = judge_run(MODELS, usage=used, agreements=rows, stopped=word)
        text = "\n".join(_lines(run))
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert max(map(len, text.split("\n"))) <= 80


def test_where_there_is_no_room_for_a_table_one_line_tells_all() -> None:
    used = usage_table(judge_run(("m",)), 9)
    (line,) = judge_lines(used, 2, (), 0)
    assert str(line) == (
        "Judge  openai/gpt-4o-mini  960 calls, 72 cached, 3 failed · cost $0.1722, saved $0.0126"
    )
    one = usage("faithfulness", "m", JUDGES[2], calls=1, cached=0)
    (line,) = judge_lines(usage_table(judge_run(usage=[one]), 9), 0, (), 0)
    assert str(line) == "Judge  ollama/llama3.1  1 call · cost unknown"
