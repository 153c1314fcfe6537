"""What holds for every metric of the catalogue."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace

from tests.evaluators.wing_data import REQUIRED
from tests.oracles.classification_problems import random_samples, surely_right
from tests.oracles.federations import with_federation
from tests.oracles.imagining import needs_of
from tests.oracles.keypoints import with_keypoints
from tests.oracles.label_map_problems import exactly_right, random_maps
from tests.oracles.panoptic import dataset_of, random_scene
from tests.oracles.problems import random_dataset
from tests.oracles.text_problems import perfectly_answered, random_texts, reordered
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.kernels.columns.grouping import nulls
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.metric import Call, Metric, Wing
from valor_cli.pipeline.intervals.resampling import findings_of
from valor_cli.results import STATUSES, Findings

ENTRIES = [
    pytest.param(task, wing, metric, id=f"{task.name}-{metric.name}")
    for task in map(catalogue.task, catalogue.TASKS)
    for wing in task.wings
    for metric in wing.metrics
]

OF_TEXTS = [entry for entry in ENTRIES if entry.values[0].name == "text_generation"]  # type: ignore[attr-defined]

NOT_AT_THE_BEST_BOUND_WHEN_PERFECT = {
    "counts": "the best count of hits is the number of objects",
    "pr_curve": "draws curves, has no value",
    "detailed_pr_curve": "draws curves, has no value",
    "confusion_matrix": "fills a table, has no value",
    "completeness": "an answer is no summary, and covers a part of the text",
}

IN_ORDER = {
    "questions_drift": "compares the first samples with the later ones",
}
"""Metrics whose value depends on the order of the samples."""

COMPARES_OTHERS = ("json_schema", "completeness", "panoptic_quality")
"""Metrics that compare something else than the others of their task do."""

SIGNED = "signature"
"""What sacrebleu's metrics say of their settings beside a value, and not of a resample's."""

ODD_TEXTS = (
    *(
        "",
        " ",
        "\n\n",
        "\0",
        "\x1b[31mred",
        "a",
        "ا",
        "한국어",
        "日本語",
        "🙂",
        "e\u0301",
        "\ufeff",
        "\u202e",
    ),
    *("word " * 100, "x" * 5000, "{}", "[[[[", "1.", "- - - -", "((((", "\\", "%s{0}", "<b>&amp;"),
)


def problem(task: str, metric: str) -> Any:
    """A data set for the task, and for what its metric compares."""
    return _problem(task, metric if metric in COMPARES_OTHERS else "")


@cache
def _problem(task: str, metric: str) -> Any:
    if task == "classification":
        return random_samples(8)
    if task == "semantic_segmentation":
        return random_maps(8)
    if task == "text_generation":
        texts = random_texts(8, quoted=metric == "json_schema")
        return with_long_inputs(texts) if metric == "completeness" else texts
    if metric == "panoptic_quality":
        return dataset_of([random_scene(seed) for seed in range(12)])
    assert task in ("object_detection", "instance_segmentation"), "give the new task a problem"
    return with_federation(with_keypoints(random_dataset(8, images=12, labels=4), 8), 8)


def with_long_inputs(texts: TextDataset) -> TextDataset:
    """The same with all references of a sample behind its question: a text to summarise."""
    return replace(
        texts,
        user_input=tuple(
            None if one is None else "\n\n".join((one, *references))
            for one, references in zip(texts.user_input, texts.references, strict=True)
        ),
    )


def perfect(dataset: Any) -> Any:
    """The same ground truth with predictions that could not be better."""
    if isinstance(dataset, ClassificationDataset):
        return surely_right(dataset)
    if isinstance(dataset, SegmentationDataset):
        return exactly_right(dataset)
    if isinstance(dataset, TextDataset):
        return perfectly_answered(dataset)
    return perfectly_detected(dataset)


def perfectly_detected(dataset: DetectionDataset) -> DetectionDataset:
    """The same ground truths without crowds, each detected exactly and with full confidence."""
    truths = dataset.ground_truths
    truths = truths.where(~truths.crowd, np.arange(dataset.unit_count))
    size = areas(truths.shapes)
    # One object per image and label, else AR@1 cannot be perfect; sizes of boxes, not of masks.
    _, first = np.unique(truths.image * 100 + truths.label, return_index=True)
    one = np.isin(np.arange(len(size)), first)
    shown = None if truths.keypoints is None else np.ones_like(truths.keypoints)
    truths = replace(truths, area=size, keypoints=shown).where(one, np.arange(dataset.unit_count))
    count = len(truths)
    found = Detections(
        truths.image,
        truths.label,
        truths.shapes,
        np.ones(count),
        np.arange(count),
        truths.keypoints,
    )
    return replace(dataset, ground_truths=truths, detections=found)


def shuffled(dataset: DetectionDataset) -> DetectionDataset:
    """Files in another order of images; the order inside an image decides ties and stays."""
    order = np.random.default_rng(0).permutation(dataset.unit_count)
    found, truths = dataset.detections, dataset.ground_truths

    def rows(image: np.ndarray) -> np.ndarray:
        return np.argsort(order[image], kind="stable")

    def taken(table: Any) -> Any:
        at = rows(table.image)
        columns = {name: getattr(table, name) for name in table.__struct_fields__}
        moved = {
            name: column.take(at) if name == "shapes" else column[at]
            for name, column in columns.items()
            if column is not None
        }
        return replace(table, **moved)

    return replace(dataset, detections=taken(found), ground_truths=taken(truths))


def called(metric: Metric[Any]) -> Call:
    """The metric with its default parameters, and those that it requires."""
    defaults = {one.name: one.default for one in metric.parameters}
    return Call(metric, defaults | REQUIRED.get(metric.name, {}))


def by_row(findings: Findings) -> dict[Any, Any]:
    """The values by what tells them apart; resamples have no signatures."""
    return {
        (
            value.output,
            value.label,
            *((key, of) for key, of in value.at.items() if key != SIGNED),
        ): (value.value)
        for value in findings.values
    }


def found(
    wing: Wing[Any, Any], metric: Metric[Any], dataset: Any, *, best: bool = False
) -> Findings:
    """What the metric says of a data set; judges are imagined."""
    call = called(metric)
    evidence = wing.evidence(dataset, needs_of(wing, [call], dataset, best=best))
    return findings_of(call, evidence, wing.parts)


@cache
def of_problem(task: str, name: str) -> tuple[Any, Any, Findings]:
    """The problem of a metric, the evidence of it, and what the metric says of that; made once."""
    wings = [(wing, one) for wing in catalogue.task(task).wings for one in wing.metrics]
    wing, metric = next(pair for pair in wings if pair[1].name == name)
    dataset, call = problem(task, name), called(metric)
    evidence = wing.evidence(dataset, needs_of(wing, [call], dataset))
    return dataset, evidence, findings_of(call, evidence, wing.parts)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_perfect_predictions_reach_the_best_bound(task: Any, wing: Any, metric: Any) -> None:
    if metric.name in NOT_AT_THE_BEST_BOUND_WHEN_PERFECT:
        pytest.skip(NOT_AT_THE_BEST_BOUND_WHEN_PERFECT[metric.name])
    values = found(wing, metric, perfect(problem(task.name, metric.name)), best=True).values
    assert any(value.value is not None for value in values)
    for value in values:
        output = metric.output(value.output)
        if output.better is None:
            continue
        best = output.bounds[1 if output.better == "higher" else 0]
        # What stands in for 0/0, of a label that nobody has or predicts, is zero_division's.
        if value.value is not None and value.undefined is None and best is not None:
            assert value.value == pytest.approx(best, abs=1e-12), value


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_no_samples_is_undefined_with_a_reason(task: Any, wing: Any, metric: Any) -> None:
    dataset = problem(task.name, metric.name)
    nothing = dataset.shard(np.zeros(dataset.unit_count, bool))
    result = found(wing, metric, nothing)
    assert not result.curves
    assert not result.tables
    assert not result.examples
    for value in result.values:
        # Counts of all units add up to 0; a mean of what each sample counts has no sample.
        if metric.output(value.output).unit == "count" and metric.measure is None:
            assert value.value == 0
        else:
            assert value.value is None
            assert value.undefined


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_order_of_samples_does_not_matter(task: Any, wing: Any, metric: Any) -> None:
    dataset, _, one = of_problem(task.name, metric.name)
    if isinstance(dataset, DetectionDataset):
        assert one == found(wing, metric, shuffled(dataset))
    elif isinstance(dataset, TextDataset) and metric.name not in IN_ORDER:
        other = found(wing, metric, reordered(dataset))
        assert by_sample(one) == by_sample(other)
        assert structs.replace(one, samples=None) == structs.replace(other, samples=None)
    else:
        assert one == found(wing, metric, dataset)


def by_sample(findings: Findings) -> dict[Any, Any]:
    """What is told of each sample, whatever their order."""
    own = findings.samples
    assert own is not None
    columns = (*own.columns.values(), own.undefined, own.statuses or (), own.details or ())
    return dict(zip(own.sample_ids, zip(*columns, strict=True), strict=True))


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_values_keep_their_bounds_and_are_json(task: Any, wing: Any, metric: Any) -> None:
    _, _, result = of_problem(task.name, metric.name)
    assert result.values or result.curves or result.tables
    for value in result.values:
        low, high = metric.output(value.output).bounds
        if value.value is None:
            assert value.undefined
        else:
            assert low <= value.value <= (float("inf") if high is None else high)
            assert json.loads(json.dumps(value.value, allow_nan=False)) == value.value
    for curve in result.curves:
        assert len({len(column) for column in curve.points.values()}) == 1
        json.dumps(dict(curve.points), allow_nan=False)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_a_resample_without_some_units_is_the_evidence_of_the_others(
    task: Any, wing: Any, metric: Any
) -> None:
    if not metric.resampled or not metric.outputs:
        pytest.skip("has no intervals")
    dataset, evidence, _ = of_problem(task.name, metric.name)
    call = called(metric)
    kept = np.random.default_rng(3).random(dataset.unit_count) < 0.7
    (again,) = evidence.resamples(kept[None].astype(np.int64))
    resampled = by_row(findings_of(call, again, wing.parts))
    selected = by_row(findings_of(call, evidence.select(kept), wing.parts))
    assert any(value is not None for value in selected.values())
    # Labels that only the other units have keep their rows.
    assert {row: resampled[row] for row in selected} == pytest.approx(selected, abs=1e-12)


@pytest.mark.parametrize(("task", "wing", "metric"), OF_TEXTS)
def test_a_resample_counts_a_sample_as_often_as_it_is_drawn(
    task: Any, wing: Any, metric: Any
) -> None:
    if not metric.resampled:
        pytest.skip("has no intervals")
    dataset, evidence, _ = of_problem(task.name, metric.name)
    call = called(metric)
    count = dataset.unit_count
    weights = np.random.default_rng(4).integers(0, 4, (4, count))
    weights[1] = 0
    (together,) = evidence.resamples(weights)
    found = call.findings(together)
    # Intervals are of the values of the whole, one by one.
    assert list(by_row(found)) == list(by_row(call.findings(evidence)))
    columns = np.array([value.replicas for value in found.values])
    for own, column in zip(weights, columns.T, strict=True):
        resampled = dict(zip(by_row(found), nulls(column), strict=True))
        drawn = by_row(call.findings(evidence._taken(np.repeat(np.arange(count), own))))
        assert {row: resampled[row] for row in drawn} == pytest.approx(drawn, abs=1e-12)
        (alone,) = evidence.resamples(own[None])
        assert resampled == by_row(call.findings(alone))


@pytest.mark.parametrize(("task", "wing", "metric"), OF_TEXTS)
def test_every_sample_is_told_of(task: Any, wing: Any, metric: Any) -> None:
    dataset, _, result = of_problem(task.name, metric.name)
    told = by_sample(result)
    assert tuple(told) == dataset.sample_ids
    assert sum(result.statuses.values()) == dataset.unit_count
    for *values, reason, status, details in told.values():
        assert status in STATUSES
        assert (values[0] is not None) if status == "ok" else reason
        json.dumps([values, reason, details], allow_nan=False)
    primary = metric.outputs[0]
    assert [one.value for one in result.examples if one.value is not None] == sorted(
        (one.value for one in result.examples if one.value is not None),
        reverse=primary.better == "lower",
    )
    texts = {at: dict(dataset.texts_of(at)) for at in range(dataset.unit_count)}
    for one in result.examples:
        for mark in one.marks:
            text = texts[dataset.sample_ids.index(str(one.sample_id))][mark.field]
            assert 0 <= mark.start < mark.end <= len(text)


@pytest.mark.parametrize(("task", "wing", "metric"), OF_TEXTS)
def test_samples_without_any_column_have_no_value(task: Any, wing: Any, metric: Any) -> None:
    result = found(wing, metric, samples([None, None]))
    assert result.statuses == {"missing_input": 2}
    assert not result.examples
    for value in result.values:
        assert value.value is None
        assert value.undefined


LACKING = {
    "user_input": ("no user_input", " \n", "the user_input is empty"),
    "response": ("no response", "\t", "the response is empty"),
    "references": ("no reference", ("", " "), "the references are empty"),
    "retrieved_contexts": ("no retrieved contexts", ("\n",), "the retrieved contexts are empty"),
}
"""By text that a sample may lack: what is said then, a blank one, and what is said of that."""

BLANK_IS_A_TEXT = {
    "step_alignment": "a blank response has no steps, and lacks them all",
}
"""Metrics that ask models of texts about blank ones too."""


@pytest.mark.parametrize(("task", "wing", "metric"), OF_TEXTS)
def test_a_sample_that_lacks_a_text_says_which(task: Any, wing: Any, metric: Any) -> None:
    whole: dict[str, Any] = {
        "user_input": "Why is it so? Nobody knows that.",
        "response": "1. It is so. 2. It is not.",
        "references": ("It may be so. Or not.",),
        "retrieved_contexts": ("1. It is so. 2. It was not.",),
        "condition": '"a"',
    }

    def said(**changed: Any) -> tuple[Any, ...]:
        one = samples(**{name: [text] for name, text in (whole | changed).items()})
        result = found(wing, metric, one)
        assert result.samples is not None
        return (*result.statuses, *result.samples.undefined)

    measures = called(metric).asks and "judge" not in called(metric).asks
    for name in called(metric).needs:
        reason, blank, empty = LACKING.get(name, ("", "", ""))
        if reason:
            none = () if name == "references" else None
            status, told = said(**{name: none})
            assert (status, told.removesuffix(" to compare the response with")) == (
                "missing_input",
                reason,
            )
        # Models that measure texts have nothing to say of a blank one.
        if empty and measures and metric.name not in BLANK_IS_A_TEXT:
            assert said(**{name: blank}) == ("missing_input", empty)


@pytest.mark.parametrize(("task", "wing", "metric"), OF_TEXTS)
def test_odd_texts_keep_the_bounds(task: Any, wing: Any, metric: Any) -> None:
    # Each with itself, and with a sixth of the others on either side.
    texts = list(enumerate(ODD_TEXTS))
    pairs = [(one, other) for i, one in texts for j, other in texts if (i - j) % 6 == 0]
    dataset = samples(
        [one for one, _ in pairs],
        user_input=[other for _, other in pairs],
        references=[[other, "A reference."] for _, other in pairs],
        retrieved_contexts=[[other, one, "A passage."] for one, other in pairs],
        condition=['"a" OR regexp("(.)\\\\1")'] * len(pairs),
        artifacts=["nowhere"] * len(pairs),
    )
    outcomes = by_sample(found(wing, metric, dataset))
    for *values, _, status, _ in outcomes.values():
        assert status != "judge_error"
        # Nothing is like a blank question.
        assert status != "missing_input" or {*called(metric).asks} - {"judge"}
        for output, value in zip(metric.outputs, values, strict=False):
            low, high = output.bounds
            if value is not None:
                assert low <= value <= (float("inf") if high is None else high)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_the_entry_is_complete(task: Any, wing: Any, metric: Any) -> None:
    assert metric.description.endswith(".")
    assert metric.reference
    if metric.measure is None:
        assert metric.compute.__name__ == metric.name
    assert bool(metric.outputs) == (metric.draws is None)
    # The wings of models, and they alone, are asked before there is evidence.
    judged = metric.declared.__module__.startswith("valor_cli.evaluators.judge.")
    assert ("judge" in called(metric).asks) == judged
    assert wing.gather is not None or not called(metric).asks


def test_names_and_aliases_are_distinct() -> None:
    for task in map(catalogue.task, catalogue.TASKS):
        names = [name for metric in task.metrics for name in (metric.name, *metric.aliases)]
        assert len(names) == len(set(names))
        assert set(task.defaults) <= {metric.name for metric in task.metrics}
        for name, output in task.primary:
            assert output in catalogue.outputs(task.name, name)
