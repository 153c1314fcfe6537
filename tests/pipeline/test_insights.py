"""Best and worst models, what they took, how they retrieve, the hardest sample."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.pipeline.judged import HIT, LOSS, RULE, of_samples, row, run
from valor_cli.metric import ModelUsage
from valor_cli.pipeline.insights import insights_of
from valor_cli.results import (
    ComparedVerdict,
    ComparisonResult,
    FoundSlice,
    InsightResult,
    SliceSearchResult,
)

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
