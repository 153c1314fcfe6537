"""Problems, insights and coverage in words."""

from __future__ import annotations

from msgspec.structs import replace

from tests.reports.text_runs import parameters, text_run
from valor_cli.reports.digests.coverage import coverage_table
from valor_cli.reports.digests.grids import Covered
from valor_cli.reports.digests.problems import (
    counted,
    ordered_insights,
    shown_insights,
    shown_problems,
)
from valor_cli.results import CoverageResult


def test_most_severe_first_and_named_by_model() -> None:
    found = shown_problems(text_run())
    assert [one.severity for one in found] == ["high", "medium", "low", "cannot tell"]
    assert found[0].message == "small: exact_match: faq-007 is right, its copy faq-007-typo is not"
    assert found[0].samples == "faq-007, faq-007-typo"
    assert counted(found) == "1 high, 1 medium, 1 low, 1 cannot tell"
    assert counted(()) == ""


def test_a_model_is_named_once_and_where_there_are_several() -> None:
    run = text_run()
    said = replace(run.problems[0], message="small has 0.210 of bleu_1")
    assert shown_problems(replace(run, problems=[said]))[0].message == said.message
    alone = text_run(("small",))
    assert shown_problems(alone)[1].message == "bleu_1: the mean of 0.210 is below 0.5"
    many = replace(run.problems[0], sample_ids=[f"s{i}" for i in range(1_003)])
    assert shown_problems(replace(run, problems=[many]))[0].samples == "s0, s1, s2 and 1,000 more"


def test_a_metric_asked_twice_is_told_by_its_parameters() -> None:
    run = text_run(("small",))
    (call,) = [one for one in run.coverage if one.metric == "bleu_1"]
    again = replace(call, parameters={"threshold": 0.9})
    found = shown_problems(replace(run, coverage=(*run.coverage, again)))
    assert found[1].message == "bleu_1: the mean of 0.210 is below 0.5 (threshold=0.5)"


def test_one_insight_of_each_kind_before_the_second_of_any() -> None:
    assert [one.message for one in ordered_insights(text_run().insights)] == [
        "large is best by bleu_1: 0.300",
        "small is worst by bleu_1: 0.210",
        "faq-019 is hardest: 0.100 on average",
        "large is best by rouge_l: 0.400",
    ]


def test_insights_that_the_table_of_models_shows_are_left_out() -> None:
    assert shown_insights(text_run()) == ("faq-019 is hardest: 0.100 on average",)


def _row(metric: str, model: str, **counts: int) -> CoverageResult:
    judged = counts.get("ok", 0)
    of = sum(counts.values()) - counts.get("not_applicable", 0)
    parameter = parameters(metric)
    return CoverageResult(
        metric, model, None, parameter, sum(counts.values()), counts, judged / of if of else None
    )


def test_coverage_worked_by_hand() -> None:
    rows = [
        _row("BLEU-1", "a", ok=200),
        _row("BLEU-1", "b", ok=150, missing_input=50),
        _row("looping", "a", ok=190, not_applicable=10),
        _row("looping", "b", not_applicable=200),
        _row("pii_leakage", "b", ok=199, parse_failure=1),
    ]
    found = coverage_table(replace(text_run(("a", "b")), coverage=rows))
    assert found.statuses == ("OK", "Parse failure", "Missing input", "Not applicable")
    assert [(one.metric, one.model, one.share, one.counts) for one in found.lines] == [
        ("BLEU-1", "b", "75%", (150, 0, 50, 0)),
        ("pii_leakage", "b", "99%", (199, 1, 0, 0)),
        ("looping", "a", "100%", (190, 0, 0, 10)),
        ("looping", "b", "–", (0, 0, 0, 200)),
    ]
    assert found.whole == 1
    assert found.remark == "The other metric and model has a value of every sample."
    whole = coverage_table(replace(text_run(("a",)), coverage=rows[:1]))
    assert (whole.lines, whole.remark) == ((), "Every metric has a value of every sample.")


def test_a_value_of_one_element_finds_the_coverage_of_its_call() -> None:
    run = text_run(("small",))
    row = next(one for one in run.metrics if one.metric == "token_f1")
    (call,) = [one for one in run.coverage if one.metric == "token_f1"]
    listed = replace(call, parameters={"thresholds": (0.5, 0.9)})
    at = replace(row, parameters={"thresholds": 0.9})
    assert Covered([listed]).part(at) == call.coverage == 191 / 200
    twice = Covered([listed, replace(call, parameters={"thresholds": 0.9}, coverage=0.5)])
    assert twice.part(at) == 0.5
    assert twice.part(row) is None  # of two calls it is neither
    signed = replace(row, parameters={"thresholds": 0.9, "signature": "nrefs:1"})
    assert twice.part(signed) == 0.5
    assert Covered([call]).part(replace(row, label="yes")) is None
    assert Covered([replace(call, coverage=1.0)]).part(row) is None
