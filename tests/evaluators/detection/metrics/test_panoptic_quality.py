"""Panoptic quality against cases worked by hand and a pixel-by-pixel reference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from tests.oracles.panoptic import (
    LABELS,
    Info,
    Scene,
    dataset_of,
    masks_of,
    panoptic_stats,
    random_scene,
)
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence import panoptic_pixels
from valor_cli.evaluators.detection.evidence.panoptic_segments import (
    Segments,
    match_segments,
)
from valor_cli.evaluators.detection.metrics.panoptic_quality import PANOPTIC_WING, panoptic_quality
from valor_cli.kernels.columns.grouping import nulls
from valor_cli.kernels.geometry.shapes import Masks, Shapes


def rows_of(segments: Segments) -> dict[tuple[str, str | None], float | None]:
    return {(one.output, one.label): one.value for one in panoptic_quality(segments).values}


def scene(
    truth: str, truths: Mapping[str, Info], found: str, predictions: Mapping[str, Info]
) -> Scene:
    """A scene drawn in letters, a row a word; "." is void."""

    def drawn(text: str) -> list[list[int]]:
        return [[0 if one == "." else ord(one) for one in row] for row in text.split()]

    return Scene(
        drawn(truth),
        {ord(one): info for one, info in truths.items()},
        drawn(found),
        {ord(one): info for one, info in predictions.items()},
    )


CAT, DOG, GRASS = Info(0), Info(1), Info(2)


def test_a_case_worked_by_hand() -> None:
    # cat A, 4 pixels: a has 4, of which 3 in A, 1 in C; IoU = 3 / (4 + 4 - 3 - 0) = 0.6: a match.
    # grass C, 8 pixels: c has 7, all in C; IoU = 7 / (7 + 8 - 7) = 0.875: a match.
    # dog D, 2 pixels: nothing predicted there but d, 6 pixels, of which 2 in D, 4 void;
    #   IoU = 2 / (6 + 2 - 2 - 4) = 1: void is no union. A match.
    one = scene(
        "AAAA CCCC CCCC DD..  ....",
        {"A": CAT, "C": GRASS, "D": DOG},
        "aaa. accc cccc dd..  dddd",
        {"a": CAT, "c": GRASS, "d": DOG},
    )
    found = rows_of(match_segments(dataset_of([one]), None))
    # cat: tp 1; dog: tp 1; grass: tp 1; no mistakes, nothing missed.
    assert found[("pq", "cat")] == 0.6
    assert found[("pq", "dog")] == 1.0
    assert found[("pq", "grass")] == 0.875
    assert found[("rq", None)] == 1.0
    assert found[("pq", None)] == pytest.approx((0.6 + 1.0 + 0.875) / 3, abs=1e-15)
    assert found[("pq", "sky")] is None


def test_an_iou_of_one_half_is_no_match() -> None:
    # A: 4 pixels, a: 2 of them; IoU 2 / 4 = 0.5, not above: one missed, one mistake.
    # pq = 0 / (0 + 1/2 + 1/2).
    one = scene("AAAA", {"A": CAT}, "aa..", {"a": CAT})
    segments = match_segments(dataset_of([one]), None)
    tp, fp, fn, iou = (column[0, 0] for column in segments.sums())
    assert (tp, fp, fn, iou) == (0, 1, 1, 0.0)
    values = {v.output: v for v in panoptic_quality(segments).values if v.label == "cat"}
    assert values["pq"].value == values["rq"].value == values["sq"].value == 0.0
    assert values["sq"].undefined is not None
    assert values["pq"].undefined is None


def test_another_label_is_a_mistake_and_a_miss() -> None:
    one = scene("AAAA", {"A": CAT}, "aaaa", {"a": DOG})
    sums = match_segments(dataset_of([one]), None).sums()
    assert sums.fn.tolist() == [[1, 0, 0, 0]]
    assert sums.fp.tolist() == [[0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("truth", "found", "mistakes"),
    [
        ("....AA", "aaa.AA", 0),  # all void
        ("..BBAA", "aaaaAA", 1),  # 2 of 4 void: not more than half
        ("...BAA", "aaaaAA", 0),  # 3 of 4
        ("...KAA", "aaaaAA", 0),  # 3 void and 1 of a crowd
        (".KKBAA", "aaaaAA", 0),  # 1 void and 2 of the crowd of its label: 3 of 4
        (".QQBAA", "aaaaAA", 1),  # the crowd is of another label
        (".KBBAA", "aaaaAA", 1),  # 1 void and 1 of a crowd: half
    ],
)
def test_predictions_in_void_and_in_crowds(truth: str, found: str, mistakes: int) -> None:
    """`a` is the cat in question, A a cat that is found."""
    infos = {"A": CAT, "B": GRASS, "K": Info(0, True), "Q": Info(1, True)}
    one = scene(
        truth, {key: infos[key] for key in infos if key in truth}, found, {"a": CAT, "A": CAT}
    )
    sums = match_segments(dataset_of([one]), None).sums()
    assert (sums.tp[0, 0], sums.fp[0, 0], sums.fn[0, 0]) == (1, mistakes, 0)


def test_a_crowd_is_neither_found_nor_missed() -> None:
    one = scene("KKKK", {"K": Info(0, True)}, "aaaa", {"a": CAT})
    segments = match_segments(dataset_of([one]), None)
    assert all(not column.any() for column in segments.sums())
    assert set(rows_of(segments).values()) == {None}


def test_a_label_without_ground_truth_enters_no_mean() -> None:
    # panopticapi: dog has fp 1, so its pq is 0 / 0.5 = 0, and the mean (1 + 0) / 2.
    # Here labels without ground truth have no value: the mean is that of cat alone.
    one = scene("AAAB", {"A": CAT, "B": Info(2, True)}, "AAAb", {"A": CAT, "b": DOG})
    reference = panoptic_stats([one])
    assert reference[1].quality == (0.0, 0.0, 0.0)
    assert np.mean([stat.quality[0] for stat in reference.values()]) == 0.5
    found = rows_of(match_segments(dataset_of([one]), None))
    assert found[("pq", "dog")] is None
    assert found[("pq", None)] == 1.0


def test_an_image_without_predictions_is_all_missed() -> None:
    one = scene("AABB", {"A": CAT, "B": GRASS}, "....", {})
    sums = match_segments(dataset_of([one]), None).sums()
    assert sums.fn.tolist() == [[1, 0, 1, 0]]
    assert sums.fp.tolist() == sums.tp.tolist() == [[0, 0, 0, 0]]


def test_several_crowds_of_a_label_excuse_together() -> None:
    # No COCO file has this; panopticapi would look at the last crowd listed alone: 2 of 5 pixels.
    one = scene("KKLLB", {"K": Info(0, True), "L": Info(0, True), "B": GRASS}, "aaaaa", {"a": CAT})
    assert match_segments(dataset_of([one]), None).sums().fp.tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("seed", range(12))
def test_equal_to_the_reference_to_the_last_bit(seed: int) -> None:
    scenes = [random_scene(seed * 100 + at) for at in range(12)]
    expected = panoptic_stats(scenes)
    segments = match_segments(dataset_of(scenes), None)
    sums, found = segments.sums(), rows_of(segments)
    qualities = []
    for at, label in enumerate(LABELS):
        stat = expected[at]
        assert (sums.tp[0, at], sums.fp[0, at], sums.fn[0, at]) == (stat.tp, stat.fp, stat.fn)
        if stat.tp + stat.fn:
            qualities.append(stat.quality)
            assert tuple(found[(name, label)] for name in ("pq", "sq", "rq")) == stat.quality
    for name, column in zip(("pq", "sq", "rq"), zip(*qualities, strict=True), strict=True):
        assert found[(name, None)] == np.cumsum(column)[-1] / len(column)


def test_the_random_scenes_hold_every_case() -> None:
    stats = panoptic_stats(random_scene(seed) for seed in range(100))
    assert all(stat.tp > 10 and stat.fp > 10 and stat.fn > 10 for stat in stats.values())
    assert any(info.crowd for seed in range(20) for info in random_scene(seed).truths.values())


def equal(one: Segments, other: Segments) -> bool:
    names = [name for name in one.__struct_fields__ if name != "weights"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_blocks_of_images_are_only_a_matter_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = dataset_of([random_scene(seed) for seed in range(12)])
    whole = match_segments(dataset, None)
    monkeypatch.setattr(panoptic_pixels, "RUNS_AT_ONCE", 300)
    assert equal(match_segments(dataset, None), whole)


def test_a_resample_is_images_repeated() -> None:
    scenes = [random_scene(seed) for seed in range(8)]
    segments = match_segments(dataset_of(scenes), None)
    weights = np.array([[1] * 8, [0, 2, 1, 0, 0, 3, 1, 1], [0] * 8])
    (together,) = segments.resamples(weights)
    found = panoptic_quality(together).values
    columns = np.array([one.replicas for one in found])
    once, again, nothing = (
        dict(zip(rows_of(together), nulls(column), strict=True)) for column in columns.T
    )
    assert once == rows_of(segments)
    for row, own in zip(weights, (once, again, nothing), strict=True):
        (alone,) = segments.resamples(row[None])
        assert rows_of(alone) == own
    repeated = [scenes[at] for at, count in enumerate(weights[1]) for _ in range(count)]
    expected = rows_of(match_segments(dataset_of(repeated), None))
    assert again == pytest.approx(expected, abs=1e-12)
    assert set(nothing.values()) == {None}


def test_things_and_stuff_where_the_ground_truth_says() -> None:
    one = scene("AABBCC", {"A": CAT, "B": DOG, "C": GRASS}, "AABB..", {"A": CAT, "B": DOG})
    segments = match_segments(dataset_of([one]), None)
    assert not any(output.endswith(("things", "stuff")) for output, _ in rows_of(segments))
    found = rows_of(replace(segments, things=(True, None, False, False)))
    assert (found[("pq_things", None)], found[("pq_stuff", None)]) == (1.0, 0.0)
    assert found[("pq", None)] == pytest.approx(2 / 3)


def test_overlapping_objects_are_named() -> None:
    full, part = np.ones((3, 4), bool), np.zeros((3, 4), bool)
    part[1, 2:] = True
    dataset = dataset_of([scene("AB", {"A": CAT, "B": DOG}, "..", {})])
    truths = replace(dataset.ground_truths, shapes=masks_of([full, part]))
    with pytest.raises(DataError) as caught:
        match_segments(replace(dataset, ground_truths=truths), None)
    (problem,) = caught.value.problems
    assert problem.place == "image 100"
    assert problem.message == (
        "two ground truths share pixels: 'cat' in the box [0, 0, 4, 3] and "
        "'dog' in the box [2, 1, 2, 1]"
    )
    assert "leave panoptic_quality out" in caught.value.hint


def test_overlapping_detections_are_counted() -> None:
    some = scene("AABB", {"A": CAT, "B": DOG}, "aabb", {"a": CAT, "b": DOG})
    dataset = dataset_of([some] * 25)
    all_over = masks_of([np.ones((1, 4), bool)] * 50)
    dataset = replace(dataset, detections=replace(dataset.detections, shapes=all_over))
    with pytest.raises(DataError, match="two detections share pixels") as caught:
        match_segments(dataset, None)
    assert (len(caught.value.problems), caught.value.total) == (20, 25)
    truths = replace(dataset.ground_truths, shapes=all_over)
    with pytest.raises(DataError, match="two ground truths share pixels") as caught:
        match_segments(replace(dataset, ground_truths=truths), None)
    assert (len(caught.value.problems), caught.value.total) == (20, 50)


def test_only_masks_are_compared() -> None:
    dataset = dataset_of([random_scene(1)])
    boxes = Shapes.boxes(np.ones((len(dataset.detections), 4)))
    detections = replace(dataset.detections, shapes=boxes)
    with pytest.raises(DataError, match="geometry: panoptic_quality compares masks") as caught:
        PANOPTIC_WING.evidence(replace(dataset, detections=detections), None)
    assert "set `geometry: mask`" in caught.value.hint


def test_crowd_regions_are_needed() -> None:
    with pytest.raises(DataError, match="needs crowd regions"):
        match_segments(replace(dataset_of([random_scene(1)]), matching="valor"), None)


def test_masks_without_pixels_are_missed_and_mistaken() -> None:
    dataset = dataset_of([scene("A", {"A": CAT}, "a", {"a": CAT})])
    empty = Shapes.masks(Masks(np.array([1]), np.array([0, 1]), np.array([[1, 1]])))
    nothing = replace(
        dataset,
        ground_truths=replace(dataset.ground_truths, shapes=empty),
        detections=replace(dataset.detections, shapes=empty),
    )
    sums = match_segments(nothing, None).sums()
    assert (sums.tp[0, 0], sums.fp[0, 0], sums.fn[0, 0]) == (0, 1, 1)
