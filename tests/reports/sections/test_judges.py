"""What judges took, how far they say the same, and what they were asked."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, agreement, judge_run, usage
from tests.reports.rendered import texts
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.document import Items, Section, Table
from valor_cli.reports.sections import judges
from valor_cli.results import PromptUsed, RunResult, totals

A, B = "a", "b"
KNOWN = usage(
    "faithfulness", "small", A, calls=1_200, cached=200, failed=0, tokens_in=9_000,
    tokens_out=1_000, cost_usd=0.0123, saved_usd=0.5,
)  # fmt: skip
UNKNOWN = replace(
    KNOWN, model="large", cached=0, failed=7, tokens_in=None, cost_usd=None, saved_usd=None
)
WHO, MEANS, WIDEST, SAMPLES, AGREE, COEFFICIENT, SPREAD = range(2, 9)
"""Columns of the table of agreement."""


def _section(run: RunResult) -> Section:
    found = judges.judges(digest(run))
    assert found
    return found


def _table(run: RunResult, caption: str) -> Table:
    blocks = [one for one in _section(run).blocks if isinstance(one, Table)]
    return next(one for one in blocks if one.caption == caption)


def _usage(*rows: object, **rest: Any) -> Table:
    return _table(judge_run(usage=rows, **rest), "Usage")


def _agreement(**rest: Any) -> tuple[list[str], str]:
    """A row of the table, and the sentence."""
    run = judge_run(agreements=[agreement("faithfulness", "small", **rest)])
    (row,) = texts(_table(run, "Agreement"))
    (items,) = (one for one in _section(run).blocks if isinstance(one, Items))
    return row, items.items[0].text.removeprefix("faithfulness, small: ")


def test_sums_worked_by_hand() -> None:
    whole = totals([KNOWN, KNOWN])
    assert (whole.calls, whole.cached, whole.failed) == (2_400, 400, 0)
    assert (whole.tokens_in, whole.tokens_out) == (18_000, 2_000)
    assert (whole.cost_usd, whole.saved_usd) == (0.0246, 1.0)
    part = totals([KNOWN, UNKNOWN])
    assert (part.calls, part.tokens_in, part.tokens_out) == (2_400, None, 2_000)
    assert part.cost_usd is part.saved_usd is None
    # the sum does not depend on the order
    tenths = [replace(KNOWN, cost_usd=cost) for cost in (0.1, 0.2, 0.3, 1e16, -1e16)]
    assert totals(tenths).cost_usd == totals(tenths[::-1]).cost_usd


def test_usage_by_judge_metric_and_model() -> None:
    table = _usage(KNOWN, UNKNOWN)
    assert [one.name for one in table.columns] == [
        *("judge", "metric", "model"),
        *("calls", "cached", "failed", "tokens in", "tokens out", "cost", "saved"),
    ]
    assert texts(table) == [
        ["a", "faithfulness", "small", "1,200", "200", "–", "9,000", "1,000", "$0.0123", "$0.50"],
        ["a", "faithfulness", "large", "1,200", "–", "7", "unknown", "1,000", "unknown", "–"],
        ["total", "", "", "2,400", "200", "7", "≥ 9,000", "2,000", "≥ $0.0123", "≥ $0.50"],
    ]


def test_one_line_has_no_total() -> None:
    assert len(_usage(KNOWN).rows) == 1


def test_many_lines_become_fewer_and_the_total_has_all(monkeypatch: Any) -> None:
    run = judge_run(judges=JUDGES)  # 3 judges, 4 metrics, 2 models
    sizes = {
        24: (24, ["judge", "metric", "model"]),
        23: (12, ["judge", "metric"]),
        11: (3, ["judge"]),
        2: (2, ["judge"]),
    }
    for most, (lines, keys) in sizes.items():
        monkeypatch.setattr(judges, "USAGE", most)
        table = _table(run, "Usage")
        named = [one.name for one in table.columns if one.kind == "text"]
        assert (len(table.rows), named) == (lines + 1, keys)
        assert table.left_out == (1 if most == 2 else 0)
        total = table.rows[-1][len(keys)].text
        assert total == f"{sum(row.calls for row in run.run.usage):,}"
    # metrics of a judge alone stay apart
    monkeypatch.setattr(judges, "USAGE", 3)
    table = _table(judge_run(), "Usage")
    assert ([one.name for one in table.columns][:2], table.left_out) == (["judge", "metric"], 1)


def test_judges_stand_together_in_the_order_of_their_first_line() -> None:
    rows = [replace(KNOWN, judge=judge, metric=metric) for metric in "xy" for judge in (B, A)]
    assert [row[0] for row in texts(_usage(*rows))] == [B, B, A, A, "total"]
    assert _section(judge_run(usage=rows)).told.startswith("2 judges · 4,800 calls, 800 cached")


def test_judges_agree() -> None:
    row, sentence = _agreement()
    assert row == [
        *("faithfulness", "small", "judges a, b, c", "a 0.812, b 0.790, c –", "s3, s9"),
        *("222", "92%", "Fleiss' kappa 0.610", "0.077"),
    ]
    assert sentence == (
        "judges a, b, c agree on 92% of 222 samples (Fleiss' kappa 0.610); widest apart: s3, s9"
    )


def test_repeats_of_one() -> None:
    row, sentence = _agreement(
        kind="repeats",
        judge="openai/gpt-4o-mini",
        raters=("1", "2"),
        values=(0.5, 0.25),
        n=1,
        agreement=0.0,
        coefficient=None,
        disagreements=(),
        disagreeing=0,
    )
    assert sentence == "2 repeats of openai/gpt-4o-mini agree on 0% of 1 sample"
    assert (row[MEANS], row[WIDEST]) == ("0.500, 0.250", "")


def test_an_agreement_is_never_told_higher_than_it_is() -> None:
    assert _agreement(agreement=0.9999)[0][AGREE] == "99%"
    assert _agreement(agreement=1.0)[0][AGREE] == "100%"


def test_none_in_common() -> None:
    row, sentence = _agreement(n=0, agreement=None, coefficient=None, spread=None, disagreements=())
    assert sentence == "judges a, b, c have no sample in common"
    assert (row[AGREE], row[COEFFICIENT], row[SPREAD]) == ("–", "", "–")


def test_a_metric_asked_twice_is_told_apart() -> None:
    rows = [
        agreement("faithfulness", "small", parameters={"batch_size": size, "judge_retries": None})
        for size in (5, 1)
    ]
    table = _table(judge_run(agreements=rows), "Agreement")
    assert [row[0] for row in texts(table)] == [
        "faithfulness (batch_size=5)",
        "faithfulness (batch_size=1)",
    ]


def test_many_judges_and_samples_are_bounded() -> None:
    names = tuple(f"j{at}" for at in range(12))
    row, sentence = _agreement(
        raters=names, values=(0.5,) * 12, disagreements=range(40), disagreeing=60
    )
    assert row[WHO] == "judges j0, j1, j2, j3, j4, j5, j6, j7 and 4 more"
    assert row[MEANS].count("0.500") == 8
    assert sentence.endswith("widest apart: 0, 1, 2")


def test_prompts() -> None:
    assert texts(_table(judge_run(), "Prompts")) == [
        ["claims", "1", "0123456789ab", "valor"],
        ["faithfulness_verdicts", "2", "fedcba987654", "valor"],
        ["house_style", "1", "aaaabbbbcccc", "the config"],
    ]


def test_words_are_cleaned() -> None:
    for word in HOSTILE:
        row, sentence = _agreement(raters=(word, "b", "c"), disagreements=(word,), statistic=word)
        prompts = _table(judge_run(prompts=(PromptUsed(word, 1, word),)), "Prompts")
        used = _usage(replace(KNOWN, judge=word, metric=word, model=word))
        for text in (*row, sentence, *texts(prompts)[0], *texts(used)[0]):
            assert text.isprintable() or not text
            assert "\u202e" not in text
            assert len(text) < 300
