"""Problems, insights and coverage in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.reports.found_runs import compared
from tests.reports.rendered import texts
from tests.reports.text_runs import parameters, text_run
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.document import Item, Items, Note, Section, Table
from valor_cli.reports.sections import findings, run_details
from valor_cli.results import CoverageResult, RunResult


def _items(section: Section | None) -> list[Item]:
    assert section
    (block,) = section.blocks
    assert isinstance(block, Items)
    return list(block.items)


def _problems(run: RunResult) -> list[Item]:
    return _items(findings.problems(digest(run)))


def test_most_severe_first_and_named_by_model() -> None:
    found = _problems(text_run())
    assert [one.label for one in found] == ["high", "medium", "low", "cannot tell"]
    assert found[0].text == "small: exact_match: faq-007 is right, its copy faq-007-typo is not"
    assert [name for name, _ in found[0].links] == ["faq-007", "faq-007-typo"]
    section = findings.problems(digest(text_run()))
    assert section
    assert section.told == "1 high, 1 medium, 1 low, 1 cannot tell"
    assert findings.problems(digest(replace(text_run(), problems=()))) is None


def test_a_model_is_named_once_and_where_there_are_several() -> None:
    run = text_run()
    said = replace(run.problems[0], message="small has 0.210 of bleu_1")
    assert _problems(replace(run, problems=[said]))[0].text == said.message
    alone = text_run(("small",))
    assert _problems(alone)[1].text == "bleu_1: the mean of 0.210 is below 0.5"
    many = replace(run.problems[0], sample_ids=[f"s{i}" for i in range(1_003)])
    (one,) = _problems(replace(run, problems=[many]))
    assert [name for name, _ in one.links] == ["s0", "s1", "s2"]


def test_a_metric_asked_twice_is_told_by_its_parameters() -> None:
    run = text_run(("small",))
    (call,) = [one for one in run.coverage if one.metric == "bleu_1"]
    again = replace(call, parameters={"threshold": 0.9})
    found = _problems(replace(run, coverage=(*run.coverage, again)))
    assert found[1].text == "bleu_1: the mean of 0.210 is below 0.5 (threshold=0.5)"


def test_one_insight_of_each_kind_before_the_second_of_any() -> None:
    run = text_run()
    kinds = {"best_model": "best", "worst_model": "worst"}
    run = replace(run, insights=[replace(one, kind=kinds.get(one.kind, one.kind))
                                 for one in run.insights])  # fmt: skip
    assert [one.text for one in _items(findings.insights(digest(run)))] == [
        "large is best by bleu_1: 0.300",
        "small is worst by bleu_1: 0.210",
        "faq-019 is hardest: 0.100 on average",
        "large is best by rouge_l: 0.400",
    ]


def test_insights_that_the_table_of_models_shows_are_left_out() -> None:
    found = _items(findings.insights(digest(text_run())))
    assert [one.text for one in found] == ["faq-019 is hardest: 0.100 on average"]


@pytest.mark.parametrize(
    ("changes", "label", "text"),
    [
        # 0.371 was 0.571; beyond 0.1 the made-up verdict is "worse".
        ({"cow": -0.2, "dog": -0.05}, "Regressed (AP)", "cow (0.571 → 0.371), −0.200"),
        ({"cow": 0.2, "dog": -0.05}, "Fell most (AP)", "dog (0.421 → 0.371), −0.050"),
        ({"cow": 0.2, "dog": 0.05}, None, None),
        ({}, None, None),
    ],
)
def test_the_label_that_regressed_or_fell_most(
    changes: dict[str, float], label: str | None, text: str | None
) -> None:
    run = replace(
        text_run(("small",)),
        comparisons=[
            compared("small", "small", change, label=name, baseline=True)
            for name, change in changes.items()
        ],
    )
    section = findings.failures(digest(run))
    told = {one.label: one for one in _items(section)} if section else {}
    found = [one for one in told if one.startswith(("Regressed", "Fell"))]
    assert found == ([label] if label else [])
    if label and text:
        assert told[label].text.startswith(text)
        assert told[label].text.endswith(", cannot tell") == (label == "Fell most (AP)")
        assert told[label].link == f"#explore?label={text.split()[0]}"


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
    section = run_details.coverage(digest(replace(text_run(("a", "b")), coverage=rows)))
    assert section
    table, note = section.blocks
    assert isinstance(table, Table)
    assert [one.name for one in table.columns[2:]] == [
        *("coverage", "OK", "Parse failure", "Missing input", "Not applicable"),
    ]
    assert texts(table) == [
        ["BLEU-1", "b", "75%", "150", "–", "50", "–"],
        ["pii_leakage", "b", "99%", "199", "1", "–", "–"],
        ["looping", "a", "100%", "190", "–", "–", "10"],
        ["looping", "b", "–", "–", "–", "–", "200"],
    ]
    assert note == Note("The other metric and model has a value of every sample.")
    whole = run_details.coverage(digest(replace(text_run(("a",)), coverage=rows[:1])))
    assert whole
    assert whole.blocks == [Note("Every metric has a value of every sample.")]
