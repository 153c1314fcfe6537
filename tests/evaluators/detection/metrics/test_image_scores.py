"""Scores of single images: worked by hand, their sums, the slow oracle, and the worst images."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import (
    ask,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    small_dataset,
)
from tests.oracles.confusion import Scene, coco, settle
from tests.oracles.tide import errors
from tests.oracles.valor import valor
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.evaluators.detection.metrics.image_scores import IMAGE_SCORES, MOST_OBJECTS, NOTHING
from valor_cli.results import MetricExample

RULES = {"coco": coco, "valor": valor}
HERE, THERE, AWAY = (0, 0, 10, 10), (50, 0, 10, 10), (80, 80, 10, 10)


def shown(example: MetricExample) -> list[tuple[str, int, str]]:
    return [(ref.role, ref.number, ref.outcome) for ref in example.objects]


def test_worked_by_hand() -> None:
    dataset = small_dataset(
        ("cat", "dog"),
        [
            (0, "cat", HERE),  # 0: found
            (0, "dog", THERE),  # 1: missed, called a cat
            (1, "cat", HERE),  # 2: found
            (3, "dog", HERE),  # 3: missed
            (0, "cat", AWAY),  # 4: a crowd
        ],
        [
            (0, "cat", 0.9, HERE),  # 0: right
            (0, "cat", 0.8, THERE),  # 1: wrong label
            (0, "cat", 0.7, AWAY),  # 2: of the crowd
            (0, "cat", 0.2, THERE),  # 3: below the threshold
            (1, "cat", 0.5, HERE),  # 4: right, at the threshold
            (4, "dog", 0.6, HERE),  # 5: nothing there
            (4, "dog", 0.9, AWAY),  # 6: nothing there
        ],
        images=5,
        crowds=[4],
    )
    found = ask(dataset, IMAGE_SCORES, worst=2)
    samples = found.samples
    assert samples is not None
    # Image 12 is empty; precision of image 13 follows zero_division; image 14 has no recall.
    assert samples.sample_ids == [10, 11, 12, 13, 14]
    assert samples.columns == {
        "f1": [0.5, 1, None, 0, 0],
        "precision": [0.5, 1, None, 0, 0],
        "recall": [0.5, 1, None, 0, None],
        "tp": [1, 1, 0, 0, 0],
        "fp": [1, 0, 0, 0, 2],
        "fn": [1, 0, 0, 1, 0],
    }
    assert samples.undefined == [None, None, NOTHING, None, None]
    assert [(one.output, one.value, one.n) for one in found.values] == [
        ("f1", 1.5 / 4, 4),
        ("precision", 0.375, 4),
        ("recall", 0.5, 3),
    ]
    # Both have an F1 of 0; image 14 has two errors.
    assert [(one.kind, one.sample_id, one.value, shown(one)) for one in found.examples] == [
        (
            "worst_image",
            14,
            0,
            [("prediction", 6, "background"), ("prediction", 5, "background")],
        ),
        ("worst_image", 13, 0, [("ground_truth", 3, "missed")]),
    ]
    third = ask(dataset, IMAGE_SCORES, worst=100).examples[2]
    assert shown(third) == [
        ("ground_truth", 0, "found"),
        ("ground_truth", 1, "missed"),
        ("ground_truth", 4, "ignored"),
        ("prediction", 0, "true_positive"),
        ("prediction", 1, "classification"),
        ("prediction", 2, "ignored"),
    ]
    assert len(ask(dataset, IMAGE_SCORES, worst=100).examples) == 3
    assert not ask(dataset, IMAGE_SCORES, worst=0).examples


def test_few_objects_of_a_crowded_image_are_shown() -> None:
    many = MOST_OBJECTS + 5
    dataset = small_dataset(
        ("cat",),
        [(0, "cat", (20.0 * at, 0, 10, 10)) for at in range(many)],
        [(0, "cat", 0.6 + at / 1000, (20.0 * at, 50, 10, 10)) for at in range(many)],
    )
    (worst,) = ask(dataset, IMAGE_SCORES).examples
    numbers_of = {
        role: [ref.number for ref in worst.objects if ref.role == role]
        for role in ("ground_truth", "prediction")
    }
    assert numbers_of["ground_truth"] == list(range(MOST_OBJECTS))
    assert numbers_of["prediction"] == list(range(many - 1, 4, -1))


PROBLEMS: dict[str, Any] = {
    "seed": st.integers(0, 10_000),
    "digits": st.sampled_from([0, 1, None]),
    "iou": st.sampled_from([0.3, 0.5, 0.9]),
    "score": st.sampled_from([0.0, 0.3, 0.5, 0.9]),
    "area": st.sampled_from(list(AREAS)),
    "matching": st.sampled_from(list(RULES)),
}


@given(**PROBLEMS)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_sums_over_images_are_the_sums_of_counts(
    seed: int, digits: int | None, iou: float, score: float, area: str, matching: str
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    at = {"iou_threshold": iou, "score_threshold": score}
    calls = asked(IMAGE_SCORES, **at), asked(COUNTS, **at)
    matches = match_detections(dataset, plan_of(*calls, area=True)).within(area)
    found, counted = (findings(matches, call) for call in calls)
    assert found.samples is not None
    for name in ("tp", "fp", "fn"):
        assert sum(found.samples.columns[name]) == sum(numbers(counted, name).values())


@given(**PROBLEMS, worst=st.sampled_from([0, 1, 3, 100]))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_images_are_those_of_the_oracle(
    seed: int,
    digits: int | None,
    iou: float,
    score: float,
    area: str,
    matching: str,
    worst: int,
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    found = ask(
        dataset, IMAGE_SCORES, area=area, iou_threshold=iou, score_threshold=score, worst=worst
    )
    scene = Scene.of(dataset)
    verdict = settle(scene, iou, score, limits=AREAS[area], rule=RULES[matching])
    assert found.samples is not None
    expected: dict[str, list[Any]] = {name: [] for name in found.samples.columns}
    ranking = []
    for image in range(dataset.unit_count):
        tp = sum(one.image == image for one, _ in verdict.right)
        fp = sum(one.image == image for one in verdict.wrong)
        fn = sum(one.image == image for one in verdict.missed)
        columns = {
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
            "precision": tp / (tp + fp) if tp + fp else (0 if fn else None),
            "recall": tp / (tp + fn) if tp + fn else None,
            "tp": tp,
            "fp": fp,
            "fn": fn,
        }
        for name, value in columns.items():
            expected[name].append(value)
        if fp + fn:
            ranking.append((columns["f1"], -fp - fn, image))
    assert found.samples.columns == expected
    assert list(found.samples.sample_ids) == dataset.image_ids.tolist()
    for output in ("f1", "precision", "recall"):
        defined = [value for value in expected[output] if value is not None]
        (value,) = numbers(found, output).values()
        mean = sum(defined) / len(defined) if defined else None
        assert value == (None if mean is None else pytest.approx(mean, abs=1e-12))
    ranking.sort()
    assert [(one.sample_id, one.value) for one in found.examples] == [
        (dataset.image_ids[image], f1) for f1, _, image in ranking[:worst]
    ]
    outcome = {("prediction", one.row): "true_positive" for one, _ in verdict.right}
    outcome |= {("ground_truth", one.row): "missed" for one in verdict.missed}
    outcome |= {("ground_truth", truth.row): "found" for _, truth in verdict.right}
    outcome |= {
        ("prediction", error.found.row): error.reason for error in errors(verdict, iou, 0.1)
    }
    for one, (*_, image) in zip(found.examples, ranking, strict=False):
        truths = [truth.row for truth in scene.truths if truth.image == image]
        founds = [one for one in scene.founds if one.image == image and one.score >= score]
        founds.sort(key=lambda one: (-one.score, one.row))
        places = [("ground_truth", row) for row in truths]
        places += [("prediction", one.row) for one in founds]
        assert shown(one) == [(*place, outcome.get(place, "ignored")) for place in places]
