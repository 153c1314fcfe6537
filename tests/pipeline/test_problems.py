"""Means past thresholds, flips of perturbed samples, low coverage."""

from __future__ import annotations

import pytest
from msgspec import structs
from msgspec.structs import replace

from tests.pipeline.judged import HIT, LOSS, RULE, covered, of_samples, row, run
from valor_cli.metric import Call
from valor_cli.pipeline.insights import insights_of
from valor_cli.pipeline.problems import MOST_FLIPS, problems_of


def hit(threshold: float | None = 0.75) -> Call:
    return Call(HIT, {}, threshold, threshold_given=True)


@pytest.mark.parametrize(
    ("value", "severity"),
    # 0.75 down to 0 in thirds: 0.5 and 0.25 begin the next.
    [
        (0.74, "low"),
        (0.51, "low"),
        (0.5, "medium"),
        (0.26, "medium"),
        (0.25, "high"),
        (0.0, "high"),
    ],
)
def test_a_mean_below_its_threshold(value: float, severity: str) -> None:
    (found,) = problems_of(*run([hit()], metrics=[row(HIT, value)]))
    assert (found.kind, found.metric, found.model) == ("threshold", "hit", "m")
    assert (found.value, found.threshold, found.severity) == (value, 0.75, severity)
    assert found.message == f"m: hit is {value:.3f}, below its threshold of 0.75"


def test_at_the_threshold_or_without_one_there_is_none() -> None:
    assert problems_of(*run([hit()], metrics=[row(HIT, 0.75)])) == []
    assert problems_of(*run([hit(None)], metrics=[row(HIT, 0.0)])) == []
    assert problems_of(*run([hit()], metrics=[row(HIT, None)])) == []


def test_a_usual_limit_that_nobody_set_is_no_problem_and_told_once() -> None:
    models = [str(at) for at in range(6)]
    rows = [row(HIT, 0.1, model=model) for model in models[:-1]]
    rows.append(row(HIT, 0.7, model="5", interval=(0.6, 0.8)))
    usual = replace(hit(), threshold_given=False)
    assert problems_of(*run([usual], models=models, metrics=rows)) == []
    (told,) = insights_of(*run([usual], models=models, metrics=rows))
    assert (told.kind, told.metric, told.value) == ("usual_limit", "hit", 0.75)
    # The last may be on either side.
    assert told.models == models[:-1]
    named = "0 (0.100), 1 (0.100), 2 (0.100) and 2 more"
    assert told.message == f"hit is below 0.75, its usual limit (none is set): {named}"
    # That of the user is a problem of each model, and no insight.
    assert len(problems_of(*run([hit()], models=models, metrics=rows))) == 6
    assert insights_of(*run([hit()], models=models, metrics=rows)) == []


def test_lower_is_better_and_has_no_end() -> None:
    call = Call(LOSS, {}, 2.0, threshold_given=True)
    # Without a worst value, twice the threshold stands for it: 2 to 4 in thirds.
    rows = [row(LOSS, value, model=str(value)) for value in (2.0, 2.5, 3.0, 9.0)]
    found = problems_of(*run([call], metrics=rows))
    assert [(one.model, one.severity) for one in found] == [
        ("9.0", "high"),
        ("3.0", "medium"),
        ("2.5", "low"),
    ]
    assert "above its threshold" in found[0].message


def test_an_interval_that_holds_the_threshold_cannot_tell() -> None:
    (found,) = problems_of(*run([hit()], metrics=[row(HIT, 0.7, interval=(0.6, 0.8))]))
    assert found.severity is None
    assert found.message.endswith("cannot tell")


def test_labels_slices_and_other_outputs_are_not_held_against_it() -> None:
    call = Call(RULE, {}, 0.5, threshold_given=True)
    rows = [
        row(RULE, 0.0, label="a"),
        row(RULE, 0.0, slice="metadata.x=1"),
        row(RULE, 0.0, output="retrieval_failures"),
    ]
    assert problems_of(*run([call], metrics=rows)) == []


def test_a_row_that_says_more_than_its_call_is_still_its_own() -> None:
    call = Call(HIT, {"k": 2}, 0.5, threshold_given=True)
    rows = [
        row(HIT, 0.1, parameters={"k": 2, "signature": "x"}),
        row(HIT, 0.1, parameters={"k": 3}),
    ]
    (found,) = problems_of(*run([call], metrics=rows))
    assert found.parameters == {"k": 2, "signature": "x"}


def test_perturbed_samples_on_the_other_side_are_flips() -> None:
    samples = of_samples(HIT, {"a": 0.9, "a~1": 0.1, "a~2": 0.8, "b": 0.2, "b~1": 0.76, "c": None})
    links = {"m": {"a~1": "a", "a~2": "a", "b~1": "b", "c~1": "c", "x~1": "x"}}
    found = problems_of(*run([hit()], samples=[samples], perturbed=links))
    assert [one.kind for one in found] == ["flip"] * 3
    first, *others = found
    # Two of the three pairs that both have a value.
    assert (first.value, first.severity, first.sample_ids) == (2 / 3, "high", ())
    assert "2 of 3 perturbed samples" in first.message
    assert [(one.sample_ids, one.value) for one in others] == [
        (("a", "a~1"), 0.1),
        (("b", "b~1"), 0.76),
    ]


def test_of_many_flips_the_largest_are_told_and_all_are_counted() -> None:
    values = {"a": 1.0} | {f"a~{at:03}": at / 1000 for at in range(200)}
    links = {"m": {name: "a" for name in values if name != "a"}}
    found = problems_of(*run([hit()], samples=[of_samples(HIT, values)], perturbed=links))
    assert len(found) == 1 + MOST_FLIPS
    assert "200 of 200" in found[0].message
    assert found[1].sample_ids == ("a", "a~000")


def test_low_coverage_is_a_problem() -> None:
    rows = [
        covered(HIT, ok=95, missing_input=5),
        replace(covered(LOSS, ok=10, judge_error=90), parameters={"of": 1}),
        covered(RULE, not_applicable=3),
    ]
    (found,) = problems_of(*run(coverage=rows))
    assert (found.kind, found.metric, found.value, found.severity) == (
        "coverage",
        "loss",
        0.1,
        "high",
    )
    assert found.parameters == {"of": 1}
    assert found.message == "m: loss has a value for 10 of 100 samples (90 judge error)"


def test_metrics_that_lack_the_same_samples_are_one_problem() -> None:
    rows = [covered(one, ok=3, missing_input=1) for one in (HIT, LOSS, RULE, HIT)]
    rows.append(covered(HIT, "n", ok=3, missing_input=1))
    first, second = problems_of(*run(coverage=rows))
    assert first.metric is None
    assert first.message == ("m: hit, loss, rule have a value for 3 of 4 samples (1 missing input)")
    assert (second.model, second.metric) == ("n", "hit")


def test_low_coverage_names_the_most_frequent_reason() -> None:
    values = of_samples(HIT, {"a": 1.0, "b": None, "c": None, "d": None, "e": None})
    values = structs.replace(
        values,
        statuses=["ok", "judge_error", "parse_failure", "judge_error", "not_applicable"],
        undefined=[None, "x: no connection", "no JSON", "x: no connection", "nothing to judge"],
    )
    rows = [covered(HIT, ok=1, parse_failure=1, judge_error=2, not_applicable=1)]
    (found,) = problems_of(*run(coverage=rows, samples=[values]))
    assert found.message.endswith("; most often: x: no connection)")
