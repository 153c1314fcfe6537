"""Problems and insights of rows as a computation finds them, without data or metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Call, Loaded, Metric, ModelUsage, Output
from valor_cli.pipeline.insights import insights_of
from valor_cli.pipeline.problems import MOST_FLIPS, problems_of
from valor_cli.results import (
    ComparedVerdict,
    ComparisonResult,
    CoverageResult,
    FoundSlice,
    InsightResult,
    MetricResult,
    SamplesResult,
    Scalar,
    SliceSearchResult,
)


def metric(name: str, *outputs: Output, **more: Any) -> Metric[Any]:
    """A metric that nobody computes."""
    return Metric(name, mean_of_samples, "none", outputs=outputs, **more)


HIT = metric("hit", Output("value", "higher"))
LOSS = metric("loss", Output("value", "lower", (0, None)))
RULE = metric("rule", Output("pass", "higher"), Output("retrieval_failures", "lower"))


def row(one: Metric[Any], value: float | None, **more: Any) -> MetricResult:
    """A value of a whole data set, of model "m" and the first output if nothing else is said."""
    output = one.output(more.pop("output", one.outputs[0].name))
    given: dict[str, Any] = {
        "model": "m",
        "label": None,
        "slice": None,
        "parameters": {},
        "n": 10,
        "interval": None,
        "undefined": None if value is not None else "why",
        **more,
    }
    return MetricResult(
        metric=one.name,
        output=output.name,
        value=value,
        unit=output.unit,
        direction=output.better,
        **given,
    )


def of_samples(
    one: Metric[Any], values: Mapping[Scalar, float | None], model: str = "m"
) -> SamplesResult:
    """Values of single samples, by their ids."""
    columns = {one.outputs[0].name: list(values.values())}
    return SamplesResult(one.name, model, {}, list(values), columns, [None] * len(values))


def covered(one: Metric[Any], model: str = "m", **statuses: int) -> CoverageResult:
    """How many samples have which status."""
    total = sum(statuses.values())
    expected = total - statuses.get("not_applicable", 0)
    share = statuses.get("ok", 0) / expected if expected else None
    return CoverageResult(one.name, model, None, {}, total, statuses, share)


def run(
    calls: Sequence[Call] = (),
    *,
    primary: Sequence[tuple[str, str]] = (),
    models: Sequence[str] = ("m",),
    metrics: Sequence[MetricResult] = (),
    samples: Sequence[SamplesResult] = (),
    coverage: Sequence[CoverageResult] = (),
    perturbed: Mapping[str, Mapping[Scalar, Scalar]] | None = None,
    spent: Mapping[str, ModelUsage] | None = None,
    insights: Sequence[InsightResult] = (),
    searches: Sequence[SliceSearchResult] = (),
) -> tuple[Any, Loaded[Any], Any]:
    """A plan, what was loaded and what was computed, as far as findings look at them."""
    task = SimpleNamespace(metrics=(HIT, LOSS, RULE), primary=tuple(primary))
    plan = SimpleNamespace(task=task, wings=(SimpleNamespace(calls=tuple(calls)),))
    loaded: Loaded[Any] = Loaded(
        dict.fromkeys(models, None),
        perturbed=perturbed or {},
        spent=spent or {},
    )
    found = SimpleNamespace(
        metrics=metrics,
        samples=samples,
        coverage=coverage,
        insights=list(insights),
        searches=searches,
        rows_of=lambda call: [
            row
            for row in metrics
            if row.metric == call.metric.name
            and all(row.parameters.get(name) == value for name, value in call.parameters.items())
        ],
    )
    return plan, loaded, found


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


MODELS = ("a", "b", "c")
HEADLINES = (("hit", "value"), ("loss", "value"), ("rule", "pass"))


def compared(
    metric: str, model: str, other: str, verdict: ComparedVerdict = "better", **more: Any
) -> ComparisonResult:
    given: dict[str, Any] = {
        **dict.fromkeys(ComparisonResult.__struct_fields__),
        "output": "value",
        "baseline": False,
        "parameters": {},
        "p": 0.001,
        **more,
    }
    return ComparisonResult(
        **{**given, "metric": metric, "model": model, "other": other, "verdict": verdict}
    )


def test_the_best_and_the_worst_models_all_that_tie() -> None:
    rows = [
        row(HIT, value, model=model) for model, value in zip(MODELS, (0.5, 0.9, 0.9), strict=True)
    ]
    rows += [row(LOSS, value, model=model) for model, value in zip(MODELS, (1, 2, 2), strict=True)]
    tests = [compared("hit", *pair) for pair in ("ba", "ca")]
    tests += [compared("loss", *pair) for pair in ("ab", "ac")]
    found = insights_of(*run(primary=HEADLINES, models=MODELS, metrics=rows), tests)
    assert [(one.kind, one.metric, one.models, one.value) for one in found] == [
        ("best_model", "hit", ["b", "c"], 0.9),
        ("worst_model", "hit", ["a"], 0.5),
        ("best_model", "loss", ["a"], 1),
        ("worst_model", "loss", ["b", "c"], 2),
    ]
    assert found[0].message == "best model by hit: b, c (0.900)"


def test_a_best_model_is_named_where_the_tests_tell_it_from_all_others() -> None:
    rows = [
        row(HIT, value, model=model) for model, value in zip(MODELS, (0.5, 0.8, 0.9), strict=True)
    ]

    def said(*tests: ComparisonResult) -> list[tuple[str, str]]:
        found = insights_of(*run(primary=HEADLINES, models=MODELS, metrics=rows), tests)
        return [(one.kind, one.message) for one in found]

    first, last = compared("hit", "c", "a"), compared("hit", "b", "a")
    alike = compared("hit", "b", "c", "cannot tell", p=0.4)
    worst = ("worst_model", "worst model by hit: a (0.500)")
    none = "no best model by hit: c (0.900) is "
    open_one = ("no_best_model", f"{none}not told from b by the test")
    assert said() == [("no_best_model", f"{none}not tested against a, b")]
    assert said(first) == [("no_best_model", f"{none}not tested against b")]
    assert said(first, last, alike) == [open_one, worst]
    untested = compared("hit", "b", "c", "cannot tell", p=None)
    assert said(first, last, untested)[0][1] == f"{none}not tested against b"
    # Over the samples that both have it may be the other way round.
    other = compared("hit", "b", "c", "better")
    assert said(first, last, other) == [open_one, worst]
    decided = compared("hit", "b", "c", "worse")
    assert said(first, last, decided) == [("best_model", "best model by hit: c (0.900)"), worst]
    # What is tested of an earlier run, a label or a slice says nothing of it.
    elsewhere = [replace(decided, **{k: v}) for k, v in (("baseline", True), ("label", "x"))]
    assert said(first, last, *elsewhere)[0][0] == "no_best_model"


def test_of_one_model_or_of_equal_ones_nothing_is_said() -> None:
    rows = [row(HIT, 0.5, model=model) for model in MODELS]
    assert insights_of(*run(primary=HEADLINES, models=MODELS, metrics=rows)) == []
    assert insights_of(*run(primary=HEADLINES, metrics=[row(HIT, 0.5)])) == []


def test_what_models_took_and_how_they_retrieve() -> None:
    rows = [
        row(RULE, value, model=model, output="retrieval_failures")
        for model, value in (("a", 0.25), ("b", 0.5))
    ]
    spent = {"a": ModelUsage(2.0, 0.01), "b": ModelUsage(0.5), "c": ModelUsage(None, 3.0)}
    tests = [compared("rule", "a", "b", output="retrieval_failures")]
    found = insights_of(*run(primary=HEADLINES, models=MODELS, metrics=rows, spent=spent), tests)
    assert [(one.kind, one.models, one.value) for one in found] == [
        ("best_retrieval", ["a"], 0.25),
        ("worst_retrieval", ["b"], 0.5),
        ("fastest_model", ["b"], 0.5),
        ("slowest_model", ["a"], 2.0),
        ("cheapest_model", ["a"], 0.01),
        ("most_expensive_model", ["c"], 3.0),
    ]


def test_the_hardest_sample_is_hard_for_all() -> None:
    samples = [
        of_samples(HIT, {"x": 1.0, "y": 0.0, "z": 1.0}, "a"),
        of_samples(HIT, {"x": 0.0, "y": 0.5, "z": 0.0, "w": None}, "b"),
        # No worst value: what has no range cannot be averaged with what has.
        of_samples(LOSS, {"x": 9.0}, "a"),
    ]
    (found,) = insights_of(
        *run(primary=HEADLINES, metrics=[row(HIT, 0.5), row(LOSS, 1.0)], samples=samples)
    )
    assert (found.kind, found.sample_ids, found.value) == ("hardest_sample", ["y"], 0.25)
    assert found.message == "hardest sample: y (0.250 of 1 on average, by hit)"


def test_where_all_are_equal_none_is_hardest() -> None:
    samples = [of_samples(HIT, {"x": 1.0, "y": 1.0})]
    assert insights_of(*run(primary=HEADLINES, metrics=[row(HIT, 1.0)], samples=samples)) == []


def test_what_metrics_tell_of_all_models_alike_is_told_once() -> None:
    told = [
        InsightResult("drift", "hit", (model,), (), 0.1, "the questions drift") for model in MODELS
    ]
    told.append(InsightResult("worst_sentence", "hit", ("b",), ("x",), 0.2, 'worst: "no"'))
    found = insights_of(*run(primary=HEADLINES, models=MODELS, insights=told))
    assert [(one.kind, one.models, one.message) for one in found] == [
        ("drift", ["a", "b", "c"], "the questions drift"),
        ("worst_sentence", ["b"], 'b: worst: "no"'),
    ]


def test_the_worst_slice_of_each_model_or_that_there_is_none() -> None:
    def search(model: str, searched: int, *found: FoundSlice) -> SliceSearchResult:
        return SliceSearchResult(
            model, "hit", "value", {}, ("metadata.a",), searched, 30, 0.95, found
        )

    worst = FoundSlice("metadata.a=x", 1200, 0.25, 0.75, 0.001, 0.012)
    sure = FoundSlice("metadata.a=y", 40, 0.5, 0.75, 1e-9, 1e-8)
    searches = [
        search("a", 12, worst, sure),
        search("b", 12, sure),
        search("c", 0),
    ]
    found = insights_of(*run(models=MODELS, searches=searches))
    assert [(one.kind, one.metric, one.models, one.value) for one in found] == [
        ("worst_slice", "hit", ["a"], 0.25),
        ("worst_slice", "hit", ["b"], 0.5),
        ("worst_slice", "hit", ["c"], None),
    ]
    first, second, third = (one.message for one in found)
    assert first.startswith("a: metadata.a=x: hit 0.250 against 0.750 elsewhere (1,200 samples, ")
    assert first.endswith("p 0.012 after 12 comparisons); 1 more slice found")
    assert second.endswith("(40 samples, p <0.001 after 12 comparisons)")
    assert third.startswith("c: no slice could be searched for the worst: none has at least 30")
    alike = [search(model, 1) for model in MODELS]
    (told,) = insights_of(*run(models=MODELS, searches=alike))
    assert told.message == "no slice is clearly worse by hit (1 slice searched)"
    plan, loaded, result = run(models=MODELS, searches=searches)
    of_images = insights_of(plan, replace(loaded, sizes={"images": 3}), result)
    assert "(1,200 images, " in of_images[0].message
