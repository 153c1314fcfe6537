"""Comparisons, marks of a small n and found slices in the summary on a screen."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console
from valor_cli.reports.render.terminal.comparisons import pair_lines
from valor_cli.reports.render.terminal.report import summary

from tests.oracles.compared import row
from tests.reports.conftest import HOSTILE
from tests.reports.text_runs import text_run
from valor_cli.reports.render.terminal import comparisons as terminal_comparisons
from valor_cli.results import (
    ComparedVerdict,
    ComparisonResult,
    FoundSlice,
    RunResult,
    SliceSearchResult,
)

CYCLE: tuple[tuple[ComparedVerdict, float], ...] = (
    ("better", 0.0001), ("cannot tell", 0.3), ("worse", 0.012), ("better", 0.04),
)  # fmt: skip


def _against(
    run: RunResult, model: str, other: str, *, baseline: bool = False
) -> list[ComparisonResult]:
    """Every headline value of a model against another's: verdicts in turns of `CYCLE`."""
    found = {(one.metric, one.output, one.model): one for one in run.metrics}
    rows = []
    for at, (metric, output) in enumerate(run.primary):
        own = found[metric, output, model]
        before = (own.value or 0) - 0.02 if baseline else found[metric, output, other].value
        verdict, p = CYCLE[at % 4]
        rest: dict[str, Any] = {
            "output": output, "model": model, "other": other, "baseline": baseline,
            "parameters": own.parameters, "direction": own.direction, "p": p / 8,
            "p_adjusted": p, "verdict": verdict, "interval": (-0.01, 0.05),
        }  # fmt: skip
        rows.append(row(metric, own.value, before, **rest))
    return rows


def _run(models: Sequence[str], *, baseline: bool = False, searched: bool = False) -> RunResult:
    run = text_run(models)
    rows = [one for a, b in combinations(models, 2) for one in _against(run, b, a)]
    if baseline:
        rows += [one for model in models for one in _against(run, model, model, baseline=True)]
    found = (
        FoundSlice("metadata.topic=toll & metadata.lang=de", 24, 0.31, 0.52, 0.0001, 0.003),
        FoundSlice("metadata.topic=bridge", 44, 0.41, 0.52, 0.001, 0.03),
    )
    searches = tuple(
        SliceSearchResult(
            model, "rouge_l", "value", {"threshold": 0.5}, ("metadata.topic",), 34, 20, 0.95, found
        )
        for model in models
    )
    return replace(run, comparisons=rows, searches=searches if searched else ())


def _shown(run: RunResult, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(summary(run, ["reports/report.html"]))
    return out.getvalue()


def _cells(text: str, first: str) -> list[str]:
    line = next(line for line in text.split("\n") if line.startswith(first))
    return re.split(r" {2,}", line.strip())


def test_the_second_of_two_models_is_judged_beside_the_difference() -> None:
    text = _shown(_run(("small", "large")), 80)
    assert _cells(text, "   ")[-2:] == ["difference", "large is"]
    assert _cells(text, "bleu_1") == ["bleu_1", "0.000", "0.060", "+0.060", "✓ better <0.001"]
    assert _cells(text, "rouge_l")[-1] == "~ cannot tell 0.300"
    assert _cells(text, "exact_match")[-1] == "✗ worse 0.012"
    assert "p by Holm's method over the headline values" in text
    assert max(map(len, text.split("\n"))) <= 80


def test_a_comparison_of_the_first_against_the_second_is_turned() -> None:
    run = text_run(("small", "large"))
    text = _shown(replace(run, comparisons=_against(run, "small", "large")))
    assert _cells(text, "bleu_1")[-1] == "✗ worse <0.001"  # the small one is better


@pytest.mark.parametrize(("width", "ends"), [(72, "✗ worse"), (60, "+0.060"), (46, "0.727 (97%)")])
def test_a_narrow_terminal_drops_the_p_value_then_the_verdict(width: int, ends: str) -> None:
    text = _shown(_run(("small", "large")), width)
    assert _cells(text, "exact_match")[-1] == ends
    assert max(map(len, text.split("\n"))) <= width


def test_of_more_models_the_clearest_pairs_come_first() -> None:
    run = text_run(("a", "b", "c"))
    # by `CYCLE` 4 of 8 are better and 2 worse; of c against b nothing is clear
    rows = [*_against(run, "b", "a"), *_against(run, "c", "a"), *_against(run, "c", "b")]
    rows = [
        replace(one, verdict="cannot tell" if one.other == "b" else one.verdict) for one in rows
    ]
    rows = [
        replace(one, verdict="better") if (one.model, one.verdict) == ("c", "worse") else one
        for one in rows
    ]
    assert pair_lines(replace(run, comparisons=rows)) == [
        "c better than a on 6 of 8 headline values",
        "b better than a on 4 of 8 headline values, worse on 2",
        "no clear difference: b – c",
    ]
    text = _shown(replace(run, comparisons=rows))
    assert "  c better than a on 6 of 8 headline values\n" in text
    assert pair_lines(replace(_run(("a", "b")))) == []


def test_against_a_baseline_the_worse_come_first() -> None:
    text = _shown(_run(("small",), baseline=True))
    assert "Against the baseline  2 worse, 4 better, 2 cannot tell\n" in text
    block = text[text.index("Against the baseline") :]
    assert _cells(block, "exact_match") == [
        "exact_match", "0.647", "0.667", "+0.020 [−0.010, 0.050]", "0.012", "✗ worse", "200",
    ]  # fmt: skip
    many = _shown(_run(("small", "large"), baseline=True), 80)
    assert re.search(r"exact_match +large +0\.707 +0\.727 +\+0\.020 \[", many)


def test_slices_that_were_found() -> None:
    text = _shown(_run(("small",), searched=True))
    assert "Worst slices found  2 of 34 parts searched\n" in text
    assert _cells(text, "metadata.topic=toll") == [
        "metadata.topic=toll & metadata.lang=de", "rouge_l", "0.310", "0.520", "0.003", "24",
    ]  # fmt: skip
    run = _run(("small",), searched=True)
    empty = replace(run, searches=[replace(one, found=()) for one in run.searches])
    assert "No slice found that is worse than the rest (34 parts searched)\n" in _shown(empty)
    # of two models the worst of each before the second worst of any
    both = _shown(_run(("small", "large"), searched=True))
    assert both.index("rouge_l  small") < both.index("de  large")
    assert "parts searched" not in _shown(text_run(("small",)))


def test_few_samples_are_marked_and_the_mark_is_explained() -> None:
    run = text_run(("small",))
    few = [
        replace(one, caution="small_n", n=24) if one.metric == "rouge_l" else one
        for one in run.metrics
    ]
    text = _shown(replace(run, metrics=few))
    assert _cells(text, "rouge_l") == ["rouge_l", "0.333°"]
    assert _cells(text, "bleu_1") == ["bleu_1", "0.000"]
    assert "° rests on fewer than 30 samples\n" in text
    assert "°" not in _shown(run)


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("models", [("a",), ("a", "b"), tuple(f"model-{at}" for at in range(9))])
def test_all_of_it_at_once_is_bounded(models: Sequence[str], width: int) -> None:
    lines = _shown(_run(models, baseline=True, searched=True), width).rstrip("\n").split("\n")
    assert max(map(len, lines)) <= width
    assert len(lines) <= 56


def test_hostile_names_stay_words() -> None:
    models = HOSTILE[:3]
    run = _run(models, baseline=True, searched=True)
    searches = [
        replace(one, found=[replace(part, slice=word) for part, word in zip(one.found, HOSTILE,
                                                                            strict=False)])
        for one in run.searches
    ]  # fmt: skip
    rows = [replace(one, slice=HOSTILE[4], reason=HOSTILE[4]) for one in run.comparisons]
    text = _shown(replace(run, searches=searches, comparisons=[*run.comparisons, *rows]))
    assert not re.search("[\x1b\u202e]", text)


def test_every_row_is_looked_at_for_its_own_pair_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [f"m{at:02}" for at in range(20)]
    run = text_run(tuple(models))
    rows = [one for other, own in combinations(models, 2) for one in _against(run, own, other)]
    seen: list[int] = []
    count = terminal_comparisons._wins

    def counted(rows: Sequence[ComparisonResult], model: str, other: str) -> int:
        seen.append(len(rows))
        return count(rows, model, other)

    monkeypatch.setattr(terminal_comparisons, "_wins", counted)
    assert pair_lines(replace(run, comparisons=rows))
    assert 0 < sum(seen) <= 2 * len(rows)
