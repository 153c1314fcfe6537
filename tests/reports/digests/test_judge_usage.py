"""What judges took, in sums and lines."""

from __future__ import annotations

from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, METRICS, judge_run, usage
from valor_cli.reports.digests.judge_usage import stopped, totals, usage_table
from valor_cli.results import RunResult

A, B = "a", "b"
KNOWN = usage(
    "faithfulness", "small", A, calls=1_200, cached=200, failed=0, tokens_in=9_000,
    tokens_out=1_000, cost_usd=0.0123, saved_usd=0.5,
)  # fmt: skip
UNKNOWN = replace(
    KNOWN, model="large", cached=0, failed=7, tokens_in=None, cost_usd=None, saved_usd=None
)


def _run(*rows: object, **rest: object) -> RunResult:
    return judge_run(usage=rows, **rest)


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


def test_lines_by_judge_metric_and_model() -> None:
    found = usage_table(_run(KNOWN, UNKNOWN), 9)
    assert found
    assert [(line.judge, line.metric, line.model) for line in found.lines] == [
        ("a", "faithfulness", "small"),
        ("a", "faithfulness", "large"),
    ]
    first, second = found.lines
    assert (first.calls, first.cached, first.failed) == ("1,200", "200", "–")
    assert (first.tokens_in, first.tokens_out) == ("9,000", "1,000")
    assert (first.cost, first.saved) == ("$0.0123", "$0.50")
    assert (second.cached, second.failed) == ("–", "7")
    assert (second.tokens_in, second.cost, second.saved) == ("unknown", "unknown", "–")
    assert found.total
    assert (found.total.calls, found.total.tokens_in) == ("2,400", "≥ 9,000")
    assert (found.total.cost, found.total.saved) == ("≥ $0.0123", "≥ $0.50")


def test_nobody_asked_no_table_and_one_line_no_total() -> None:
    assert usage_table(_run(), 9) is None
    alone = usage_table(_run(KNOWN), 9)
    assert alone
    assert (len(alone.lines), alone.total) == (1, None)


def test_many_lines_become_fewer_and_the_total_has_all() -> None:
    run = judge_run(judges=JUDGES)  # 3 judges, 4 metrics, 2 models
    sizes = {
        24: (24, True, True),
        23: (12, True, False),
        11: (3, False, False),
        2: (2, False, False),
    }
    for most, expected in sizes.items():
        found = usage_table(run, most)
        assert found
        assert (len(found.lines), found.by_metric, found.by_model) == expected
        assert found.left_out == (1 if most == 2 else 0)
        assert found.total
        assert found.total.calls == f"{sum(row.calls for row in run.run.usage):,}"
    # metrics of a judge alone stay apart, and the models of a run of one are no lines
    one = usage_table(judge_run(), 3, by_metric=False)
    assert one
    assert [line.metric for line in one.lines] == list(METRICS[:3])
    assert (one.by_metric, one.by_model, one.left_out) == (True, False, 1)


def test_judges_stand_together_in_the_order_of_their_first_line() -> None:
    rows = [replace(KNOWN, judge=judge, metric=metric) for metric in "xy" for judge in (B, A)]
    found = usage_table(_run(*rows), 9)
    assert found
    assert [line.judge for line in found.lines] == [B, B, A, A]
    assert found.judges == (B, A)


def test_names_are_cleaned() -> None:
    for word in HOSTILE:
        found = usage_table(_run(replace(KNOWN, judge=word, metric=word, model=word)), 9)
        assert found
        line = found.lines[0]
        for text in (line.judge, line.metric, line.model, *found.judges):
            assert text.isprintable()
            assert "\u202e" not in text
            assert len(text) <= 60


def test_why_not_everything_was_asked() -> None:
    assert stopped(judge_run()) == ""
    run = judge_run(stopped="the budget of 2.00 US dollars is reached")
    # 3 of 120 samples of each of two models were skipped
    assert stopped(run) == (
        "the budget of 2.00 US dollars is reached; the judges got to 234 of 240 samples; "
        "--resume goes on"
    )
    none = [replace(row, statuses={"skipped": 120}) for row in run.coverage if row.model == "large"]
    rest = [row for row in run.coverage if row.model == "small"]
    assert "got to 117 of 240" in stopped(replace(run, coverage=[*rest, *none]))
    # what asks no judge says nothing of how far they got
    other = [replace(row, metric="ter", statuses={"ok": 120}) for row in run.coverage]
    assert "117 of 120" in stopped(replace(run, coverage=[*other, *rest], models=("small",)))
    assert stopped(replace(run, coverage=())) == (
        "the budget of 2.00 US dollars is reached; --resume goes on"
    )
    assert "\x1b" not in stopped(judge_run(stopped="\x1b[31mred\u202e\n"))


def test_runs_without_judges_are_not_told_to_resume() -> None:
    run = judge_run(stopped="interrupted")
    local = replace(run, run=replace(run.run, usage=()), settings={}, coverage=())
    assert stopped(local) == "interrupted; run it again"
    embedding = replace(local, settings={"embedder": "minilm-int8"})
    assert stopped(embedding) == "interrupted; run it again: vectors that were made are kept"
    # It was stopped before the judge was asked.
    assert stopped(replace(local, settings={"judge": "x"})) == "interrupted; --resume goes on"
