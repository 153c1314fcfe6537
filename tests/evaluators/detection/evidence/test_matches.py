"""Evidence of detection: bit-equal to pycocotools, whole or in shards."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from pycocotools.cocoeval import COCOeval

from tests.engines import by_both, computing
from tests.evaluators.detection.asking import asked, confused_dataset, findings, plan_of
from tests.oracles.problems import coco_files, random_dataset
from tests.oracles.reference import pycocotools
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.evaluators.detection.evidence import rows as evidence_rows
from valor_cli.evaluators.detection.evidence import shards as evidence_shards
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    AREAS,
    COCO_IOUS,
    Closeness,
    MatchingPlan,
    plan_matching,
)
from valor_cli.evaluators.detection.evidence.shards import (
    match_detections,
    merge_matches,
    places_of_runs,
)
from valor_cli.evaluators.detection.metrics.best_f1 import BEST_F1
from valor_cli.evaluators.detection.metrics.coco import COCO, coco
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN
from valor_cli.evaluators.detection.metrics.image_scores import IMAGE_SCORES
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.kernels import threads
from valor_cli.kernels.columns.grouping import ranked
from valor_cli.kernels.geometry.shapes import joined as joined_shapes

PLAN = MatchingPlan()


def problem(seed: int, matching: str, **options: Any) -> DetectionDataset:
    """A random problem for each rule; heavy ties of scores, of IoUs, and of both."""
    make = random_dataset if matching == "coco" else partial(confused_dataset, matching=matching)
    return make(seed, **options)


both_rules = pytest.mark.parametrize("matching", ["coco", "valor"])


def bits(array: np.ndarray) -> np.ndarray:
    """pycocotools writes -1 where there is no ground truth."""
    return np.where(np.isnan(array), -1.0, array)


@pytest.mark.parametrize("digits", [None, 2, 1, 0])
@pytest.mark.parametrize("seed", range(3))
def test_arrays_and_stats_equal_pycocotools_bit_for_bit(seed: int, digits: int | None) -> None:
    dataset = random_dataset(seed, digits=digits, images=30)
    reference = pycocotools(*coco_files(dataset))
    # Where no kernel is compiled both are numpy's.
    for compiled in (True, False):
        with computing(compiled):
            assert_equal_to(match_detections(dataset, PLAN), reference)


def assert_equal_to(matches: Matches, reference: COCOeval) -> None:
    for at, area in enumerate(AREAS):
        part = matches.within(area)
        for limit, most in enumerate((1, 10, 100)):
            (precision,), scores = part.precision(COCO_IOUS, most), part.scores(COCO_IOUS, most)
            assert np.array_equal(bits(precision), reference.eval["precision"][..., at, limit])
            assert np.array_equal(bits(scores), reference.eval["scores"][..., at, limit])
            recalls = bits(part.recalls(COCO_IOUS, most)[0])
            assert np.array_equal(recalls, reference.eval["recall"][..., at, limit])
    values = {value.output: value.value for value in coco(matches).values}
    names = (
        *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge"),
        *("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
    )
    assert [values[name] for name in names] == reference.stats.tolist()


@pytest.mark.parametrize("score", [0.0, 0.5, 0.9])
def test_counts_equal_those_of_evaluate_img(score: float) -> None:
    dataset = random_dataset(9, images=25)
    matches = match_detections(dataset, PLAN)
    reference = pycocotools(*coco_files(dataset))
    tp, fp = np.zeros((2, len(dataset.labels)), int)
    for image in filter(None, reference.evalImgs):
        if image["aRng"] == reference.params.areaRng[0]:
            passing = (np.array(image["dtScores"]) >= score) & ~image["dtIgnore"][0].astype(bool)
            right = image["dtMatches"][0] > 0
            tp[image["category_id"] - 1] += (passing & right).sum()
            fp[image["category_id"] - 1] += (passing & ~right).sum()
    counts = matches.counts(0.5, score)
    assert counts.tp[0].tolist() == tp.tolist()
    assert counts.fp[0].tolist() == fp.tolist()


def test_more_detections_than_the_limit() -> None:
    dataset = random_dataset(1, images=3, labels=3, per_image=250)
    reference = pycocotools(*coco_files(dataset))
    (found,) = match_detections(dataset, PLAN).precision(COCO_IOUS, 100)
    assert np.array_equal(bits(found), reference.eval["precision"][..., 0, 2])


def shards(dataset: DetectionDataset, count: int, seed: int) -> list[DetectionDataset]:
    """The images dealt at random to `count` shards."""
    owner = np.random.default_rng(seed).integers(0, count, dataset.unit_count)
    return [dataset.shard(owner == number) for number in range(count)]


def same(one: Matches, other: Matches) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in Matches.__struct_fields__
        if not name.startswith(("_", "gt_"))
    ) and np.array_equal(ground_truths(one), ground_truths(other))


def ground_truths(matches: Matches) -> np.ndarray:
    """The ground truths as rows in one order: shards may bring them in any."""
    rows = np.vstack([matches.gt_image, matches.gt_label, *matches.gt_ignored.astype(int)])
    return rows[:, np.lexsort(rows)]


@both_rules
def test_several_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, matching: str) -> None:
    dataset = problem(3, matching, images=40)
    whole = match_detections(dataset, PLAN)
    alone = coco(whole)
    monkeypatch.setattr(threads, "usable_threads", lambda: 3)
    for module in (evidence_rows, evidence_shards):
        monkeypatch.setattr(module, "_WORTH", 0)
    merged = merge_matches([match_detections(one, PLAN) for one in shards(dataset, 5, seed=1)])
    assert same(merged, whole)
    found = coco(merged).values
    assert [one.value for one in found] == [one.value for one in alone.values]


@both_rules
def test_both_engines_give_the_same_bits(matching: str) -> None:
    dataset = problem(3, matching, images=40)
    parts = shards(dataset, 5, seed=1)
    mine, theirs = by_both(lambda: merge_matches([match_detections(one, PLAN) for one in parts]))
    assert same(mine, theirs)
    assert (mine.nearest is None) == (matching == "coco")


@both_rules
@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("seed", range(2))
def test_resampling_equals_evaluating_copies_of_images(
    seed: int, digits: int | None, matching: str
) -> None:
    dataset = problem(seed, matching, images=15, digits=digits)
    weights = np.random.default_rng(seed).integers(0, 4, (3, 15))
    matches = match_detections(dataset, PLAN)
    (again,) = matches.resamples(weights)
    for number, row in enumerate(weights):
        whole = beside(match_detections(copied(dataset, row), PLAN), matches)
        for area in AREAS:
            one, two = whole.within(area), again.within(area)
            for mine, theirs in (
                (one.ground_truth_count, two.ground_truth_count),
                (one.recalls(COCO_IOUS, 1), two.recalls(COCO_IOUS, 1)),
                *zip(one.counts(0.5, 0.3), two.counts(0.5, 0.3), strict=True),
            ):
                assert np.array_equal(bits(mine[0]), bits(theirs[number]))
            # Resamples add up the recalls of a label first, and its copies as times their number.
            for ious, how in ((COCO_IOUS, "101_point"), ((0.5,), "every_point")):
                mine, theirs = (part.precision(ious, 100, how).mean(axis=2) for part in (one, two))
                assert bits(mine[0]) == pytest.approx(bits(theirs[number]), rel=1e-14)


def beside(whole: Matches, once: Matches) -> Matches:
    """Matches of copied images, in which copies of a detection stand beside it.

    Args:
        whole: As the copies are ranked: image after image where scores are tied.
        once: Of the data that was copied.
    """
    place = np.zeros(once.number.max() + 1, np.int64)
    place[once.number] = np.arange(len(once.number))
    return whole.take(np.argsort(place[whole.number], kind="stable"))


def copied(dataset: DetectionDataset, weights: np.ndarray) -> DetectionDataset:
    """A data set in which image i really stands weights[i] times."""
    parts = [
        dataset.shard(np.arange(dataset.unit_count) == image)
        for image, weight in enumerate(weights)
        for _ in range(weight)
    ]

    def joined(tables: list) -> object:
        columns = {
            name: np.concatenate([getattr(table, name) for table in tables])
            for name in tables[0].__struct_fields__
            if name not in ("shapes", "keypoints", "difficult")
        }
        columns["shapes"] = joined_shapes([table.shapes for table in tables])
        sizes = [len(table.image) for table in tables]
        return replace(tables[0], **{**columns, "image": np.repeat(np.arange(len(parts)), sizes)})

    return replace(
        dataset,
        image_ids=np.arange(len(parts)),
        ground_truths=joined([part.ground_truths for part in parts]),
        detections=joined([part.detections for part in parts]),
    )


def test_resamples_of_single_objects_are_those_of_copies() -> None:
    """Best F1 and image scores of weights equal those of a data set with copies of its images."""
    dataset = confused_dataset(3, images=10, digits=None)
    weights = np.random.default_rng(0).integers(0, 3, (4, 10))
    plan = plan_of(*map(asked, (BEST_F1, IMAGE_SCORES)))
    for weight in weights:
        (again,) = match_detections(dataset, plan).resamples(weight[None])
        copies = copied(dataset, weight)
        whole = match_detections(copies, plan)
        for metric in (BEST_F1, IMAGE_SCORES):
            call = asked(metric)
            mine, theirs = (
                {(one.output, one.label, one.n): one.value for one in findings(each, call).values}
                for each in (again, whole)
            )
            assert mine == pytest.approx(theirs, abs=1e-12)


def test_thresholds_in_any_order_and_repeated() -> None:
    matches = match_detections(random_dataset(2), PLAN)
    counts = matches.counts_by_score(0.5, [0.9, 0.1, 0.9])
    assert np.array_equal(counts.tp[0], counts.tp[2])
    assert np.array_equal(counts.tp[1], matches.counts(0.5, 0.1).tp[0])


def test_the_plan_gathers_what_parameters_and_slices_name() -> None:
    calls = [
        asked(COUNTS, iou_threshold=0.4, score_threshold=0.1),
        asked(COCO, iou_thresholds=(0.9, 0.5), areas=("small",)),
        asked(PR_CURVE, pr_curve_iou_threshold=0.75),
    ]
    plan = plan_matching(calls, [])
    assert (plan.ious, plan.areas) == ((0.4, 0.5, 0.75, 0.9), ("all", "small"))
    assert plan_matching([], ["area"]) == MatchingPlan((), tuple(AREAS))
    across = [
        *calls,
        asked(CONFUSION_MATRIX, iou_threshold=0.6, score_threshold=0.3),
        asked(ERROR_BREAKDOWN, iou_threshold=0.5, background_iou=0.1),
    ]
    found = plan_matching(across, [])
    assert found.ious == (0.4, 0.5, 0.6, 0.75, 0.9)
    assert found.overlap_pairs == Closeness(0.1, -np.inf, (0.5, 0.6))


def test_shards_of_different_runs_are_not_merged() -> None:
    dataset = random_dataset(2)
    one = match_detections(dataset, PLAN)
    other = match_detections(replace(dataset, labels=tuple("abcdef")), PLAN)
    with pytest.raises(ValueError, match="share their plan and their labels"):
        merge_matches([one, other])
    with pytest.raises(ValueError, match="only whole evidence"):
        merge_matches([one, one.within("small")])


def test_another_process_gets_the_evidence_without_what_was_computed() -> None:
    matches = match_detections(random_dataset(2), PLAN)
    size = len(pickle.dumps(matches))
    coco(matches)
    assert len(pickle.dumps(matches)) == size
    assert same(pickle.loads(pickle.dumps(matches)), matches)  # noqa: S301 - our own bytes


def test_no_labels_at_all() -> None:
    dataset = random_dataset(0)
    nothing = replace(dataset.shard(np.zeros(dataset.unit_count, bool)), labels=())
    matches = match_detections(nothing, PLAN)
    assert coco(matches).values[0].value is None
    assert matches.counts(0.5, 0.5).tp.shape == (1, 0)
    assert matches.counts_by_score(0.5, [0.5, 0.6]).tp.shape == (2, 0)
    assert matches.recalls(COCO_IOUS).shape == (1, 10, 0)
    assert matches.precision(COCO_IOUS, None, "every_point").shape == (1, 10, 1, 0)


def test_what_all_data_say_no_resample_says() -> None:
    matches = match_detections(random_dataset(0), PLAN)
    (again,) = matches.resamples(np.ones((2, matches.unit_count), np.int64))
    with pytest.raises(ValueError, match="all data"):
        again.scores(COCO_IOUS)
    with pytest.raises(ValueError, match="all data"):
        again.counts_by_score(0.5, [0.5])
    with pytest.raises(ValueError, match="not from a resample"):
        next(again.resamples(np.ones((2, 3), np.int64)))


def test_merging_runs_worked_by_hand() -> None:
    # Part 0: label 0 scores .9 .5, label 2 score .1; part 1: label 0 scores .9 .7, label 2 .1.
    labels = [np.array([0, 0, 2]), np.array([0, 0, 2])]
    scores = [np.array([0.9, 0.5, 0.1]), np.array([0.9, 0.7, 0.1])]
    # The tie at .9 and that at .1 go to the first part: .9 .9 .7 .5, then .1 .1.
    assert places_of_runs(labels, scores, 3).tolist() == [0, 3, 4, 1, 2, 5]


def test_no_runs() -> None:
    none = np.zeros(0, np.int64)
    assert places_of_runs([none, none], [np.zeros(0), np.zeros(0)], 2).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_merging_runs_is_sorting_all_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    labels, scores, images = [], [], []
    for part in range(int(rng.integers(1, 8))):
        n = int(rng.integers(0, 40))
        label = rng.integers(0, count, n)
        score = rng.integers(-3, 4, n) / 4.0
        # Images of a part lie behind those of the parts before it.
        image = part * 10 + rng.integers(0, 10, n)
        order = ranked(label, score, image)
        labels.append(label[order])
        scores.append(score[order])
        images.append(image[order])
    found = places_of_runs(labels, scores, count)
    whole = ranked(np.concatenate(labels), np.concatenate(scores), np.concatenate(images))
    assert found[whole].tolist() == list(range(len(whole)))
