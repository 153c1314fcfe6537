"""The summary of a run of samples on a screen."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from rich.console import Console
from valor_cli.reports.render.terminal.report import SCREEN, summary

from tests.reports.conftest import HOSTILE
from tests.reports.text_runs import MODELS, coverage_gate, text_run
from valor_cli.reports.digests.coverage import PARTIAL
from valor_cli.results import RunResult


def _lines(
    run: RunResult, width: int = 80, *, colour: bool = False, files: Sequence[str] = ("r.html",)
) -> list[str]:
    out = io.StringIO()
    system = "truecolor" if colour else None
    console = Console(file=out, width=width, force_terminal=colour, color_system=system)  # type: ignore[arg-type]
    console.print(summary(run, files))
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


def _wide(run: RunResult) -> RunResult:
    rows = [
        replace(row, interval=(row.value - 0.02, row.value + 0.02))
        for row in run.metrics
        if row.value is not None
    ]
    return replace(run, metrics=rows, problems=run.problems * 9, insights=run.insights * 9)


@pytest.mark.parametrize("models", [1, 2, 3, 4, 12])
@pytest.mark.parametrize("many", [False, True])
def test_it_fits_the_screen(models: int, many: bool) -> None:
    run = text_run([f"model-{index}" for index in range(models)])
    lines = _lines(_wide(run) if many else run)
    # Twelve models are a table of their own.
    assert len(lines) <= (SCREEN if models <= 4 else SCREEN + 6)
    assert max(map(len, lines)) <= 80
    assert "Problems" in "\n".join(lines)
    assert "Insights" in "\n".join(lines)


def test_coverage_stands_beside_the_means_that_need_it() -> None:
    lines = _lines(text_run())
    assert lines[0] == "FAILED  1 of 25 gates"
    rows = [line for line in lines if line.startswith(("bleu_1 ", "exact_match "))]
    assert [row.split() for row in rows] == [
        ["bleu_1", "0.000", "0.060", "0.120"],
        ["exact_match", "0.667", "(97%)", "0.727", "(97%)", "0.787"],
    ]
    # numbers stand below each other
    assert rows[0].index("0.060") == rows[1].index("0.727")
    assert PARTIAL in lines
    whole = text_run(coverage=[replace(row, coverage=1.0) for row in text_run().coverage])
    assert not any("%)" in line for line in _lines(whole))


def test_numbers_line_up_below_a_long_name() -> None:
    lines = _lines(text_run(("a-model-of-a-name", "b")), width=100)
    (head,) = [line for line in lines if line.endswith("difference")]
    (bleu,) = [line for line in lines if line.startswith("bleu_1 ")]
    (exact,) = [line for line in lines if line.startswith("exact_match ")]
    end = head.index("a-model-of-a-name") + len("a-model-of-a-name")
    assert exact[:end].endswith(" 0.667 (97%)")
    assert bleu[:end].endswith(" 0.000      ")
    assert bleu.index("0.000") == exact.index("0.667")


def test_models_stand_side_by_side_with_intervals_too() -> None:
    lines = _lines(_wide(text_run()))
    assert any(line.split()[:2] == ["bleu_1", "0.000"] for line in lines)
    wide = _lines(_wide(text_run()), width=140)
    assert any("0.667 [0.647, 0.687] (97%)" in line for line in wide)


def test_many_models_are_ranked_by_as_many_metrics_as_fit() -> None:
    run = text_run([f"m{index}" for index in range(6)])
    lines = _lines(run, width=110)
    (head,) = [line for line in lines if line.split()[:1] == ["bleu_1"]]
    assert head.split() == [
        "bleu_1", "rouge_l", "exact_match", "token_f1", "edit_similarity", "pii_leakage", "pass"
    ]  # fmt: skip
    at = lines.index(head)
    assert lines[at + 1].startswith("m3 ")  # the first of those that are best
    assert max(map(len, _lines(run, width=50))) <= 50


def test_problems_most_severe_first() -> None:
    lines = _lines(replace(text_run(), warnings=(), gates=()))
    at = lines.index("Problems  1 high, 1 medium, 1 low, 1 cannot tell")
    assert lines[at + 1 : at + 4] == [
        "  high         small: exact_match: faq-007 is right, its copy faq-007-typo is",
        "               not",
        "  medium       small: bleu_1: the mean of 0.210 is below 0.5",
    ]
    more = _lines(replace(text_run(), problems=text_run().problems * 5))
    (told,) = [line for line in more if line.endswith("more in the report")]
    shown = sum(line.startswith(("  high", "  medium")) for line in more)
    assert told == f"  … and {20 - shown} more in the report"


def test_insights_say_what_the_table_does_not() -> None:
    lines = _lines(replace(text_run(), warnings=(), gates=()))
    at = lines.index("Insights")
    assert lines[at + 1 : at + 3] == ["  • faq-019 is hardest: 0.100 on average", ""]


def test_too_few_samples_are_no_failure_of_the_model() -> None:
    run = text_run(("small",), gates=(coverage_gate("bleu_1", "small", 0.88),))
    lines = _lines(run)
    assert lines[0] == "INCOMPLETE  coverage too low in 1 of 1 gate"
    assert any(line.split()[-2:] == ["95%", "88%"] for line in lines)
    assert "\x1b[1;33mINCOMPLETE" in _lines(run, colour=True)[0]


def test_hostile_words_stay_words() -> None:
    run = text_run((HOSTILE[4], *MODELS[1:]))
    problems = [replace(run.problems[0], message=word) for word in HOSTILE]
    insights = [replace(run.insights[0], kind=word, message=word) for word in HOSTILE]
    lines = _lines(replace(run, problems=problems, insights=insights, gates=()))
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, lines)) <= 80
