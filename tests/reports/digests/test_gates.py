"""Gates in words, those of coverage among them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tests.reports.judge_runs import judge_run
from tests.reports.text_runs import coverage_gate, gates, text_run
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.digests.gates import stopped, verdict
from valor_cli.results import TOO_LOW, GateResult


def _told(held: Sequence[GateResult]) -> list[tuple[str, ...]]:
    told = digest(text_run(("small",), gates=tuple(held)))
    return [(one.status, one.subject, one.rule, one.value, one.reason) for one in told.gates]


def test_a_coverage_that_fails_makes_a_run_incomplete() -> None:
    low, high = coverage_gate("bleu_1", "small", 0.9), coverage_gate("rouge_l", "small", 1.0)
    found = verdict([low, high])
    assert (found.word, found.detail) == ("INCOMPLETE", "coverage too low in 1 of 2 gates")
    unknown = replace(low, value=None, status="not checked", reason="not applicable to any sample")
    assert verdict([low, unknown]).detail == "coverage too low in 1 of 2 gates, 1 not checked"
    assert verdict([unknown]).word == "INCOMPLETE"
    failed = verdict([], incomplete="judges did not always reply: run again")
    assert (failed.word, failed.detail) == (
        "INCOMPLETE",
        "judges did not always reply: run again; no gates set",
    )
    assert verdict([high], incomplete="judges did not always reply: run again").detail == (
        "judges did not always reply: run again; 1 gate, none failed"
    )
    unchecked = verdict([high, unknown])
    assert (unchecked.word, unchecked.detail) == ("INCOMPLETE", "1 of 2 gates not checked")
    worse = gates(("small",))[0]
    assert (verdict([low, worse]).word, verdict([low, worse]).detail) == (
        "INCOMPLETE",
        "coverage too low in 1 of 2 gates; 1 failed",
    )


def test_a_coverage_is_told_in_percent() -> None:
    low, high = coverage_gate("bleu_1", "small", 0.9496), coverage_gate("rouge_l", "small", 1.0)
    assert _told([high, low]) == [
        ("failed", "coverage of BLEU-1", "≥ 95%", "94%", ""),
        ("passed", "coverage of ROUGE-L", "≥ 95%", "100%", ""),
    ]


def test_coverages_that_pass_stand_in_one_line() -> None:
    value, *covered = gates(("small",))
    lower = replace(covered[3], value=0.951)
    low = coverage_gate("bleu_1", "small", 0.5)
    assert _told([*covered[1:3], lower, low, value]) == [
        ("failed", "coverage of BLEU-1", "≥ 95%", "50%", ""),
        ("failed", "ROUGE-L", "≥ 0.500", "0.333", ""),
        ("passed", "coverage, 3 gates", "≥ 95.0%", "95.1%", "the lowest of them"),
    ]


def test_a_model_that_is_not_there_is_told_before_the_coverage_it_costs() -> None:
    low = coverage_gate("bleu_1", "small", 0.9)
    absent = "the model of bleu_1 is not on this machine"
    assert verdict([low], incomplete=absent).detail == f"{absent}; coverage too low in 1 of 1 gate"
    assert verdict([low], incomplete=TOO_LOW).detail == "coverage too low in 1 of 1 gate"


def test_of_being_no_worse_the_p_value_is_told() -> None:
    kept, low = coverage_gate("rouge_l", "small", 0.04), coverage_gate("rouge_l", "small", 0.5)
    worse = replace(
        kept, output="f1", rule="not_worse", limit=0.05, reason="-0.1 against the baseline"
    )
    fine = replace(low, output="f1", rule="not_worse", limit=0.05, status="passed")
    assert _told([worse, fine]) == [
        ("failed", "ROUGE-L F1", "not worse, p ≥ 0.050", "p 0.040", "-0.1 against the baseline"),
        ("passed", "ROUGE-L F1", "not worse, p ≥ 0.050", "p 0.500", ""),
    ]


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
