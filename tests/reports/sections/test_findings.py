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

RUN, ALONE = text_run(), text_run(("small",))


def _items(section: Section | None) -> list[Item]:
    assert section
    (block,) = section.blocks
    assert isinstance(block, Items)
    return list(block.items)


def _problems(run: RunResult) -> list[Item]:
    return _items(findings.problems(digest(run)))


def _insights(run: RunResult) -> list[str]:
    return [one.text for one in _items(findings.insights(digest(run)))]


def test_most_severe_first_and_named_by_model() -> None:
    section = findings.problems(digest(RUN))
    assert section
    assert section.told == "1 high, 1 medium, 1 low, 1 cannot tell"
    first, *rest = _items(section)
    assert [one.label for one in (first, *rest)] == ["high", "medium", "low", "cannot tell"]
    assert first.text == "small: exact_match: faq-007 is right, its copy faq-007-typo is not"
    assert [name for name, _ in first.links] == ["faq-007", "faq-007-typo"]
    assert findings.problems(digest(replace(RUN, problems=()))) is None


def test_a_model_is_named_once_and_where_there_are_several() -> None:
    said = replace(RUN.problems[0], message="small has 0.210 of bleu_1")
    assert _problems(replace(RUN, problems=[said]))[0].text == said.message
    assert _problems(ALONE)[1].text == "bleu_1: the mean of 0.210 is below 0.5"
    many = replace(RUN.problems[0], sample_ids=[f"s{i}" for i in range(1_003)])
    (one,) = _problems(replace(RUN, problems=[many]))
    assert [name for name, _ in one.links] == ["s0", "s1", "s2"]


def test_a_metric_asked_twice_is_told_by_its_parameters() -> None:
    (call,) = [one for one in ALONE.coverage if one.metric == "bleu_1"]
    again = replace(call, parameters={"threshold": 0.9})
    found = _problems(replace(ALONE, coverage=(*ALONE.coverage, again)))
    assert found[1].text == "bleu_1: the mean of 0.210 is below 0.5 (threshold=0.5)"


def test_one_insight_of_each_kind_before_the_second_of_any() -> None:
    # Those that the table of models shows are left out.
    assert _insights(RUN) == ["faq-019 is hardest: 0.100 on average"]
    kinds = {"best_model": "best", "worst_model": "worst"}
    others = [replace(one, kind=kinds.get(one.kind, one.kind)) for one in RUN.insights]
    assert _insights(replace(RUN, insights=others)) == [
        "large is best by bleu_1: 0.300",
        "small is worst by bleu_1: 0.210",
        "faq-019 is hardest: 0.100 on average",
        "large is best by rouge_l: 0.400",
    ]


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
    rows = [
        compared("small", "small", change, label=name, baseline=True)
        for name, change in changes.items()
    ]
    section = findings.failures(digest(replace(ALONE, comparisons=rows)))
    told = {one.label: one for one in _items(section)} if section else {}
    found = [one for one in told if one.startswith(("Regressed", "Fell"))]
    assert found == ([label] if label else [])
    if label and text:
        assert told[label].text.startswith(text)
        assert told[label].text.endswith(", cannot tell") == (label == "Fell most (AP)")
        assert told[label].link == f"#explore?label={text.split()[0]}"


def _row(metric: str, model: str, **counts: int) -> CoverageResult:
    of = sum(counts.values()) - counts.get("not_applicable", 0)
    part = counts.get("ok", 0) / of if of else None
    return CoverageResult(
        metric, model, None, parameters(metric), sum(counts.values()), counts, part
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
