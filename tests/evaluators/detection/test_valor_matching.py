"""`matching: valor`: worked by hand, against the slow oracle, and the numbers of valor-lite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.evaluators.detection.asking import (
    ask,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    scene,
    small_dataset,
)
from tests.oracles.confusion import Scene, settle, taking_part, valor
from tests.oracles.problems import coco_files
from tests.oracles.valor_lite_detection import evaluator_of
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.average_precision import (
    AVERAGE_PRECISION,
    AVERAGE_PRECISION_OVER_IOUS,
)
from valor_cli.evaluators.detection.metrics.average_recall import AVERAGE_RECALL
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.evaluators.detection.metrics.precision_recall import F1, PRECISION, RECALL
from valor_cli.metric import Loaded, Selection
from valor_cli.results import Findings

GOLDEN = Path(__file__).parents[2] / "real_data" / "detection" / "valor-lite-coco-15"


def load(truth: Path, predictions: Path) -> Loaded[DetectionDataset]:
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(predictions))
    return load_detections(inputs, DetectionOptions(matching="valor"), Selection())


def only(loaded: Loaded[DetectionDataset]) -> DetectionDataset:
    return next(iter(loaded.datasets.values()))


def written(folder: Path, dataset: DetectionDataset) -> Loaded[DetectionDataset]:
    """The data set through files."""
    truth, found = coco_files(dataset)
    (folder / "gt.json").write_text(json.dumps(truth))
    (folder / "dt.json").write_text(json.dumps(found))
    return load(folder / "gt.json", folder / "dt.json")


def cat_counts(found: Findings) -> list[float | None]:
    return [numbers(found, name)["cat"] for name in ("tp", "fp", "fn")]


# Two cats, 10 by 10, side by side by 2: they overlap by 2/3.
CATS = [(0, "cat", (0.0, 0.0, 10.0, 10.0)), (0, "cat", (2.0, 0.0, 10.0, 10.0))]


def test_there_is_no_second_choice() -> None:
    # Both detections like cat 0 best; the second could have cat 1 by 2/3, and does under coco.
    found = [(0, "cat", 0.9, (0, 0, 10, 10)), (0, "cat", 0.8, (0, 0, 10, 10))]
    for matching, expected in (("valor", [1, 1, 1]), ("coco", [2, 0, 0])):
        dataset = small_dataset(("cat",), CATS, found, matching=matching)
        assert cat_counts(ask(dataset, COUNTS)) == expected


def test_of_equal_scores_the_higher_iou_comes_first() -> None:
    # Detection 0 overlaps its favourite, cat 0, by 80/120, detection 1 by 1: that one has it.
    found = [(0, "cat", 0.9, (0, 2, 10, 10)), (0, "cat", 0.9, (0, 0, 10, 10))]
    dataset = small_dataset(("cat",), CATS[:1], found, matching="valor")
    for inclusive in (False, True):
        examples = ask(replace(dataset, inclusive_pixels=inclusive), CONFUSION_MATRIX).examples
        pairs = {one.kind: [ref.number for ref in one.objects] for one in examples}
        assert pairs == {"true_positive": [0, 1], "unmatched_prediction": [0]}
    coco = small_dataset(("cat",), CATS[:1], found)
    examples = ask(coco, CONFUSION_MATRIX).examples
    assert [ref.number for ref in examples[0].objects] == [0, 0]


# A cat in image 0 and one in image 1. A detection 10 by 10 moved by 2 overlaps by 2/3, by 5 by 1/3.
PAIR = [(0, "cat", (0, 0, 10, 10)), (1, "cat", (0, 0, 10, 10)), (1, "dog", (40, 0, 10, 10))]
RIGHT_FIRST, WRONG_FIRST = 51 / 101, 51 / 2 / 101


@pytest.mark.parametrize(
    ("first", "second", "score", "valor", "coco"),
    [
        # By 1/3 in image 0, wrong, and by 2/3 in image 1, right.
        (5, 2, 0.9, RIGHT_FIRST, WRONG_FIRST),
        # By 2/3, right, and on a dog, with no cat near: it ranks by the dog.
        (2, 40, 0.9, WRONG_FIRST, RIGHT_FIRST),
        # By 2/3, right, and over a cat by 1/3: by the cat that it overlaps, however little.
        (2, 5, 0.9, RIGHT_FIRST, RIGHT_FIRST),
        # The score comes first.
        (5, 2, 0.8, WRONG_FIRST, WRONG_FIRST),
        # Of equal IoUs that of the earlier image.
        (80, 80, 0.9, 0, 0),
    ],
)
def test_equal_scores_of_several_images_come_by_iou(
    first: float, second: float, score: float, valor: float, coco: float
) -> None:
    found = [(0, "cat", 0.9, (first, 0, 10, 10)), (1, "cat", score, (second, 0, 10, 10))]
    asking = {"iou_thresholds": (0.5,)}
    for matching, expected in (("valor", valor), ("coco", coco)):
        dataset = small_dataset(("cat", "dog"), PAIR, found, matching=matching)
        values = numbers(ask(dataset, AVERAGE_PRECISION, **asking), "value")
        assert values["cat"] == pytest.approx(expected, abs=1e-12)
        # Nor does it depend on what else the run asks for.
        both = match_detections(dataset, plan_of(asked(COUNTS, iou_threshold=0.1)))
        lone = match_detections(dataset, plan_of(asked(COUNTS, iou_threshold=0.9)))
        assert both.number.tolist() == lone.number.tolist()
    # The tools of VOC, whose boxes have inclusive pixels, know no IoU between images.
    dataset = replace(small_dataset(("cat", "dog"), PAIR, found), matching="valor")
    values = numbers(
        ask(replace(dataset, inclusive_pixels=True), AVERAGE_PRECISION, **asking), "value"
    )
    assert values["cat"] == pytest.approx(coco, abs=1e-12)


def test_a_limit_leaves_out_no_detection_that_was_matched_for_one_that_was_not() -> None:
    # Either of the two overlaps the cat enough: whichever is the one kept, it is right.
    found = [(0, "cat", 0.9, (2, 0, 10, 10)), (0, "cat", 0.9, (0, 0, 10, 10))]
    dataset = small_dataset(("cat",), CATS[:1], found, matching="valor")
    assert cat_counts(ask(dataset, COUNTS, max_detections=1)) == [1, 0, 0]


def test_of_equal_ious_the_earlier_ground_truth_is_the_favourite() -> None:
    found = [(0, "cat", 0.9, (0, 0, 10, 10))]
    twice = [CATS[0], CATS[0]]
    for matching, expected in (("valor", 0), ("coco", 1)):
        dataset = small_dataset(("cat",), twice, found, matching=matching)
        examples = ask(dataset, CONFUSION_MATRIX).examples
        assert examples[0].objects[0].number == expected


def test_the_favourite_does_not_depend_on_the_thresholds_of_the_plan() -> None:
    # Cat 0 is the favourite at any threshold, whatever else the run asks for.
    found = [(0, "cat", 0.9, (0, 0, 10, 10)), (0, "cat", 0.8, (1, 0, 10, 10))]
    dataset = small_dataset(("cat",), CATS, found, matching="valor")
    calls = [asked(COUNTS, iou_threshold=iou) for iou in (0.1, 0.5, 0.8, 0.95)]
    together = match_detections(dataset, plan_of(*calls))
    for call in calls:
        alone = match_detections(dataset, plan_of(call))
        assert findings(together, call) == findings(alone, call)


def test_crowds_and_scores_of_zero_are_left_out(tmp_path: Path) -> None:
    dataset = scene(
        "cat dog",
        "0 cat 0 0, 0 cat 2 0, 1 dog 0 0 50 50",
        "0 cat 0 0 0, 0 cat 1e-12 2 0, 1 dog 0.9 0 0 50 50",
        crowds=[2],
    )
    loaded = written(tmp_path, dataset)
    assert loaded.warnings == [
        "matching: valor knows no crowd regions, which are left out: 1",
        "matching: valor leaves out detections of dt with a score of 0 or less: 1",
    ]
    found = ask(only(loaded), COUNTS, score_threshold=0.0)
    assert [numbers(found, name) for name in ("tp", "fp", "fn")] == [
        {"cat": 1, "dog": 0},
        {"cat": 0, "dog": 1},
        {"cat": 1, "dog": 0},
    ]


def test_what_is_shown_is_what_was_found_after_some_are_left_out(tmp_path: Path) -> None:
    dataset = scene(
        "cat dog",
        "0 cat 0 0 50 50, 1 dog 0 0",
        "0 cat 0 0 0 20 20, 1 dog 0.9 0 0",
        crowds=[0],
    )
    loaded = only(written(tmp_path, dataset))
    examples = ask(loaded, CONFUSION_MATRIX).examples
    ((_, objects, _),) = loaded.illustrate(examples)
    assert [(one.role, one.id, one.label, one.score) for one in objects] == [
        ("ground_truth", 2, "dog", None),
        ("prediction", 1, "dog", 0.9),
    ]
    for one in objects:
        assert one.geometry is not None
        assert max(one.geometry["coordinates"][0]) == [10, 10]


@given(
    seed=st.integers(0, 10_000),
    digits=st.sampled_from([0, 1, None]),
    iou=st.sampled_from([0.05, 0.5, 0.9]),
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9]), min_size=1, max_size=3),
)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_counts_are_those_of_the_oracle(
    seed: int, digits: int | None, iou: float, scores: list[float], tmp_path_factory: Any
) -> None:
    dataset = confused_dataset(seed, images=6, digits=digits)
    loaded = only(written(tmp_path_factory.mktemp("valor"), dataset))
    scene = taking_part(Scene.of(dataset))
    for score in scores:
        verdict = settle(scene, iou, score, rule=valor)
        found = ask(loaded, COUNTS, iou_threshold=iou, score_threshold=score)
        for at, label in enumerate(dataset.labels):
            if label in loaded.labels:
                tp = sum(one.label == at for one, _ in verdict.right)
                fp = sum(one.label == at for one in verdict.wrong)
                fn = sum(one.label == at for one in verdict.missed)
                assert [numbers(found, name)[label] for name in ("tp", "fp", "fn")] == [tp, fp, fn]


# ---- valor-lite

STORED = json.loads((GOLDEN / "golden-valor-lite.json").read_text())
AT = {"iou_threshold": 0.1, "score_threshold": 0.5}
ALL = {"iou_thresholds": (0.1,), "max_detections": None}


@pytest.fixture(scope="module")
def dataset() -> DetectionDataset:
    return only(load(GOLDEN / "groundtruth.coco.json", GOLDEN / "predictions.bbox.json"))


def stored(name: str, dataset: DetectionDataset) -> dict[str, Any]:
    """Its values by label: of those without ground truth it has a 0 where we have no value."""
    known = {dataset.labels[at] for at in np.unique(dataset.ground_truths.label)}
    found = {one["parameters"]["label"]: one["value"] for one in STORED[name]}
    return {label: found[label] for label in known}


@pytest.mark.parametrize(
    ("name", "metric", "parameters"),
    [
        ("AP", AVERAGE_PRECISION, ALL),
        ("APAveragedOverIOUs", AVERAGE_PRECISION_OVER_IOUS, ALL),
        ("AR", AVERAGE_RECALL, {**ALL, "recall_score_threshold": 0.5}),
        ("ARAveragedOverScores", AVERAGE_RECALL, {**ALL, "recall_score_threshold": 0.5}),
        ("Precision", PRECISION, AT),
        ("Recall", RECALL, AT),
        ("F1", F1, AT),
    ],
)
def test_valor_lite_says_the_same(
    name: str, metric: Any, parameters: Any, dataset: DetectionDataset
) -> None:
    expected = stored(name, dataset)
    found = numbers(ask(dataset, metric, **parameters), "value")
    assert {label: found[label] for label in expected} == pytest.approx(expected, abs=1e-12)
    # Its means enter a 0 for labels without ground truth.
    for mean in STORED.get("m" + name, ()):
        values = [found[label] or 0 for label in dataset.labels]
        assert len(values) == 64 > len(expected)
        assert sum(values) / len(values) == pytest.approx(mean["value"], abs=1e-12)


def test_counts_of_valor_lite(dataset: DetectionDataset) -> None:
    found = ask(dataset, COUNTS, **AT)
    columns = {name: numbers(found, name) for name in ("tp", "fp", "fn")}
    expected = {one["parameters"]["label"]: one["value"] for one in STORED["Counts"]}
    assert {
        label: {name: column[label] for name, column in columns.items()} for label in dataset.labels
    } == {label: expected[label] for label in dataset.labels}


def test_precision_recall_curve_of_valor_lite(dataset: DetectionDataset) -> None:
    found = ask(dataset, PR_CURVE, thresholds="recall", pr_curve_iou_threshold=0.1)
    curves = {curve.label: curve.points for curve in found.curves}
    expected = stored("PrecisionRecallCurve", dataset)
    assert set(curves) == set(expected)
    for label, points in expected.items():
        assert list(curves[label]["precision"]) == pytest.approx(points["precisions"], abs=1e-12)
        scores = [score or 0 for score in curves[label]["score"]]
        assert scores == pytest.approx(points["scores"], abs=1e-12)


@pytest.mark.parametrize("decimals", [2, 1, 0])
def test_valor_lite_says_the_same_of_many_equal_scores(decimals: int, tmp_path: Path) -> None:
    pytest.importorskip("valor_lite")
    truth = json.loads((GOLDEN / "groundtruth.coco.json").read_text())
    found = json.loads((GOLDEN / "predictions.bbox.json").read_text())
    for one in found:
        # Above 0: valor-lite never counts a score of 0 and yet ranks it.
        one["score"] = max(round(one["score"], decimals), 0.01)
    assert_as_valor_lite(truth, found, tmp_path)


@pytest.mark.parametrize("seed", [0, 2])
def test_valor_lite_says_the_same_of_random_ties(seed: int, tmp_path: Path) -> None:
    """Whole pixels, of which both tools compute the same IoUs; many detections of wrong labels.

    No label of these has a recall of just a hundredth that the tools compare unlike.
    """
    pytest.importorskip("valor_lite")
    truth, found = coco_files(confused_dataset(seed, images=30, matching="valor"))
    for side in (truth["annotations"], found):
        for one in side:
            one["bbox"] = [float(round(number)) for number in one["bbox"]]
        side[:] = [one for one in side if min(one["bbox"][2:]) > 0]
    assert_as_valor_lite(truth, found, tmp_path)


def assert_as_valor_lite(truth: Any, found: Any, folder: Path) -> None:
    (folder / "gt.json").write_text(json.dumps(truth))
    (folder / "dt.json").write_text(json.dumps(found))
    mine = only(load(folder / "gt.json", folder / "dt.json"))
    ious = [0.1, 0.5, 0.75]
    stored = evaluator_of(truth, found).compute_precision_recall(ious, [0.5])
    theirs = {kind.value: metrics for kind, metrics in stored.items()}
    compared = 0
    for name, metric in (("AP", AVERAGE_PRECISION), ("Precision", PRECISION), ("F1", F1)):
        for iou in ious:
            one = {"iou_thresholds": (iou,), "max_detections": None}
            asking = one if name == "AP" else {"iou_threshold": iou, "score_threshold": 0.5}
            values = numbers(ask(mine, metric, **asking), "value")
            for entry in theirs[name]:
                value = values.get(entry.parameters["label"])
                if entry.parameters["iou_threshold"] == iou and value is not None:
                    assert value == pytest.approx(entry.value, abs=1e-9)
                    compared += 1
    assert compared > 40
