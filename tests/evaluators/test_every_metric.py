"""What holds for every metric of the catalogue."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.oracles.classification_problems import random_samples, surely_right
from tests.oracles.federations import with_federation
from tests.oracles.keypoints import with_keypoints
from tests.oracles.label_map_problems import exactly_right, random_maps
from tests.oracles.panoptic import dataset_of, random_scene
from tests.oracles.problems import random_dataset
from valor_cli import catalogue
from valor_cli.dataset.classification import ClassificationDataset
from valor_cli.dataset.detection import DetectionDataset, Detections
from valor_cli.dataset.segmentation import SegmentationDataset
from valor_cli.kernels.conversion import areas
from valor_cli.metric import Call, Metric, Wing
from valor_cli.pipeline.intervals import findings_of
from valor_cli.results import Findings

ENTRIES = [
    pytest.param(task, wing, metric, id=f"{task.name}-{metric.name}")
    for task in map(catalogue.task, catalogue.TASKS)
    for wing in task.wings
    for metric in wing.metrics
]

NOT_AT_THE_BEST_BOUND_WHEN_PERFECT = {
    "counts": "the best count of hits is the number of objects",
    "pr_curve": "draws curves, has no value",
    "detailed_pr_curve": "draws curves, has no value",
    "confusion_matrix": "fills a table, has no value",
}


def problem(task: str, metric: str) -> Any:
    """A data set for the task, and for what its metric compares."""
    if task == "classification":
        return random_samples(8)
    if task == "semantic_segmentation":
        return random_maps(8)
    if metric == "panoptic_quality":
        return dataset_of([random_scene(seed) for seed in range(12)])
    assert task in ("object_detection", "instance_segmentation"), "give the new task a problem"
    return with_federation(with_keypoints(random_dataset(8, images=12, labels=4), 8), 8)


def perfect(dataset: Any) -> Any:
    """The same ground truth with predictions that could not be better."""
    if isinstance(dataset, ClassificationDataset):
        return surely_right(dataset)
    if isinstance(dataset, SegmentationDataset):
        return exactly_right(dataset)
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
        columns = {name: getattr(table, name) for name in table.__dataclass_fields__}
        moved = {
            name: column.take(at) if name == "shapes" else column[at]
            for name, column in columns.items()
            if column is not None
        }
        return replace(table, **moved)

    return replace(dataset, detections=taken(found), ground_truths=taken(truths))


def found(
    wing: Wing[Any, Any], metric: Metric[Any], task: str, *shards: Any, pickled: bool = False
) -> Findings:
    """What the metric says of a data set, or of the shards of one."""
    call = Call(metric, dict(catalogue.parameters(task, metric.name)()))
    plan = wing.plan([call], [])
    parts = [wing.evidence(shard, plan) for shard in shards]
    if pickled:
        parts = pickle.loads(pickle.dumps(parts))  # noqa: S301 - made just now
    evidence = parts[0] if len(parts) == 1 else wing.merge(parts)
    return findings_of(call, evidence, wing.parts)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_perfect_predictions_reach_the_best_bound(task: Any, wing: Any, metric: Any) -> None:
    if metric.name in NOT_AT_THE_BEST_BOUND_WHEN_PERFECT:
        pytest.skip(NOT_AT_THE_BEST_BOUND_WHEN_PERFECT[metric.name])
    values = found(wing, metric, task.name, perfect(problem(task.name, metric.name))).values
    assert any(value.value is not None for value in values)
    for value in values:
        output = metric.output(value.output)
        if output.better is None:
            continue
        best = output.bounds[1 if output.better == "higher" else 0]
        if value.value is not None:
            assert value.value == pytest.approx(best, abs=1e-12), value


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_no_samples_is_undefined_with_a_reason(task: Any, wing: Any, metric: Any) -> None:
    dataset = problem(task.name, metric.name)
    nothing = dataset.shard(np.zeros(dataset.unit_count, bool))
    result = found(wing, metric, task.name, nothing)
    assert not result.curves
    assert not result.tables
    assert not result.examples
    for value in result.values:
        if metric.output(value.output).unit == "count":
            assert value.value == 0
        else:
            assert value.value is None
            assert value.undefined


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_order_of_samples_does_not_matter(task: Any, wing: Any, metric: Any) -> None:
    dataset = problem(task.name, metric.name)
    one = found(wing, metric, task.name, dataset)
    if isinstance(dataset, DetectionDataset):
        assert one == found(wing, metric, task.name, shuffled(dataset))
    assert one == found(wing, metric, task.name, dataset)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_shards_of_any_size_and_order_make_the_same(task: Any, wing: Any, metric: Any) -> None:
    dataset = problem(task.name, metric.name)
    number = np.random.default_rng(1).integers(0, 3, dataset.unit_count)
    shards = [dataset.shard(number == at) for at in (2, 0, 1)]
    one = found(wing, metric, task.name, dataset)
    assert one == found(wing, metric, task.name, *shards, pickled=True)


@pytest.mark.parametrize(("task", "wing", "metric"), ENTRIES)
def test_values_keep_their_bounds_and_are_json(task: Any, wing: Any, metric: Any) -> None:
    result = found(wing, metric, task.name, problem(task.name, metric.name))
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
def test_the_entry_is_complete(task: Any, wing: Any, metric: Any) -> None:
    assert metric.description.endswith(".")
    assert metric.reference
    assert metric.compute.__name__ == metric.name
    assert bool(metric.outputs) + metric.curve + metric.table == 1


def test_names_and_aliases_are_distinct() -> None:
    for task in map(catalogue.task, catalogue.TASKS):
        names = [name for metric in task.metrics for name in (metric.name, *metric.aliases)]
        assert len(names) == len(set(names))
        assert set(task.defaults) <= {metric.name for metric in task.metrics}
        for name, output in task.primary:
            assert output in catalogue.outputs(task.name, name)
