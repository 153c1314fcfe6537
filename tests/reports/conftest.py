"""Runs to report: made up in the style of COCO, seeded, with whatever a test needs odd."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from valor_cli.results import (
    CurveResult,
    ExampleObject,
    ExampleResult,
    GateResult,
    InputFile,
    MetricResult,
    Parameters,
    Picture,
    RunInfo,
    RunResult,
    SamplesResult,
    TableResult,
)

NAMES = (
    "person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant "
    "stop_sign parking_meter bench bird cat dog horse sheep cow elephant bear zebra giraffe "
    "backpack umbrella handbag tie suitcase frisbee skis snowboard sports_ball kite "
    "baseball_bat baseball_glove skateboard surfboard tennis_racket bottle wine_glass cup fork "
    "knife spoon bowl banana apple sandwich orange broccoli carrot hot_dog pizza donut cake "
    "chair couch potted_plant bed dining_table toilet tv laptop mouse remote keyboard "
    "cell_phone microwave oven toaster sink refrigerator book clock vase scissors teddy_bear "
    "hair_drier toothbrush"
)
LABELS = NAMES.split()

HOSTILE = (
    "<script>document.title='owned'</script>",
    "</script><!--",
    "a|b",
    "`code`",
    "\x1b[31mred\x1b[0m",
    "שלום\u202egnp.exe",
    "🚲 e-bike",
    "[bold]shout[/bold]",
    '" onmouseover="alert(1)',
    "two\nlines",
    "@octocat www.example.org",
    "x" * 10_000,
)

COCO = {
    "AP": (0.371, 0.505),
    "AP50": (0.552, 0.693),
    "AP75": (0.402, 0.551),
    "APsmall": (0.204, None),
    "APmedium": (0.415, 0.556),
    "APlarge": (0.489, 0.662),
    "AR@1": (0.312, 0.381),
    "AR@10": (0.501, 0.621),
    "AR@100": (0.532, 0.655),
    "ARsmall": (0.331, None),
    "ARmedium": (0.571, 0.702),
    "ARlarge": (0.689, 0.823),
}

Build = Callable[..., RunResult]


def _row(metric: str, model: str, value: float | None, **rest: Any) -> MetricResult:
    fields: dict[str, Any] = {
        "output": "value",
        "label": None,
        "slice": None,
        "parameters": {},
        "unit": "fraction",
        "direction": "higher",
        "n": 36781,
        "interval": None,
        "undefined": None if value is not None else "no ground truth of this size",
    }
    return MetricResult(metric=metric, model=model, value=value, **{**fields, **rest})


def _label_rows(model: str, label: str, dice: random.Random) -> list[MetricResult]:
    count = int(dice.lognormvariate(5, 1))
    ap = dice.uniform(0.15, 0.9)
    common: dict[str, Any] = {"label": label, "n": count}
    at: dict[str, Any] = {"iou_threshold": 0.5, "score_threshold": 0.5}
    tp = int(count * ap)
    rows = [
        _row("average_precision", model, min(1, ap * f), parameters={"iou_threshold": t}, **common)
        for t, f in ((0.5, 1.2), (0.75, 0.9))
    ]
    for output, value in (("tp", tp), ("fp", int(tp * 0.4)), ("fn", count - tp)):
        direction = "higher" if output == "tp" else "lower"
        rest = {"output": output, "unit": "count", "direction": direction, "parameters": at}
        rows.append(_row("counts", model, value, **rest, **common))
    rows.append(_row("precision", model, ap * 0.95, parameters=at, **common))
    rows.append(_row("recall", model, ap * 0.9, parameters=at, **common))
    if label == "toaster":
        rows = [replace(row, value=None, undefined="no ground truth", n=0) for row in rows]
    return rows


def _score_curve(model: str, label: str | None, dice: random.Random) -> CurveResult:
    thresholds = [round(x / 100, 2) for x in range(5, 100, 5)]
    total, skill = 200, dice.uniform(0.8, 2.5)
    recall = [(1 - t**skill) * 0.92 for t in thresholds]
    precision = [1 - (1 - t) ** (skill + 0.4) * 0.7 for t in thresholds]
    tp = [int(total * r) for r in recall]
    points: dict[str, list[float | None]] = {
        "score_threshold": [*thresholds],
        "tp": [*tp],
        "fp": [int(n / p - n) for n, p in zip(tp, precision, strict=True)],
        "fn": [total - n for n in tp],
        "precision": [*precision],
        "recall": [*recall],
        "f1": [2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True)],
    }
    parameters: Parameters = {"thresholds": "scores", "pr_curve_iou_threshold": 0.5}
    return CurveResult("pr_curve", model, label, None, parameters, points)


def _recall_curve(model: str, label: str | None, dice: random.Random) -> CurveResult:
    recall = [i / 100 for i in range(101)]
    end, skill = dice.uniform(0.6, 0.98), dice.uniform(1.2, 4)
    precision = [0.98 * (1 - (r / end) ** skill * 0.8) if r < end else 0.0 for r in recall]
    score = [0.97 - 0.9 * r if r < end else None for r in recall]
    parameters: Parameters = {"thresholds": "recall", "pr_curve_iou_threshold": 0.5}
    points = {"recall": recall, "precision": precision, "score": score}
    return CurveResult("pr_curve", model, label, None, parameters, points)


def _headline(model: str, index: int, intervals: bool) -> list[MetricResult]:
    rows = []
    for output, values in COCO.items():
        value = values[min(index, 1)]
        value = value if value is None or index < 2 else round(value - 0.013 * index, 4)
        interval = (value - 0.011, value + 0.009) if intervals and value is not None else None
        rows.append(_row("coco", model, value, output=output, interval=interval))
    return rows


def _slices(model: str, index: int, intervals: bool) -> list[MetricResult]:
    rows = []
    for name, value in (("day", 0.41), ("night", 0.236), ("rain", 0.302), ("fog", 0.198)):
        value += 0.08 * min(index, 1)
        interval = (value - 0.031, value + 0.028) if intervals else None
        rest: dict[str, Any] = {"slice": f"metadata.weather={name}", "n": 1204}
        rows += [
            _row("coco", model, value, output="AP", interval=interval, **rest),
            _row("coco", model, value + 0.17, output="AP50", interval=interval, **rest),
        ]
    return rows


def _gate(
    model: str, metric: str, output: str, value: float | None, limit: float, **rest: Any
) -> GateResult:
    passed = value is not None and value >= limit
    fields: dict[str, Any] = {
        "label": None,
        "slice": None,
        "parameters": {},
        "rule": "min",
        "status": "passed" if passed else "failed" if value is not None else "not checked",
        "reason": None if value is not None else "no ground truth",
    }
    return GateResult(
        metric=metric, output=output, model=model, limit=limit, value=value, **{**fields, **rest}
    )


def built(
    models: Sequence[str] = ("small", "large"),
    labels: Sequence[str] = tuple(LABELS),
    *,
    gates: str = "failed",
    intervals: bool = True,
    slices: bool = True,
    curve: str = "scores",
    warnings: Sequence[str] = (),
    missing: Mapping[str, Sequence[str]] | None = None,
) -> RunResult:
    """A run of detection with those parts."""
    dice = random.Random(7)
    metrics: list[MetricResult] = []
    curves: list[CurveResult] = []
    held: list[GateResult] = []
    for index, model in enumerate(models):
        metrics += _headline(model, index, intervals)
        metrics += _slices(model, index, intervals) if slices else []
        shape = _score_curve if curve == "scores" else _recall_curve
        for label in labels:
            metrics += _label_rows(model, label, dice)
            curves.append(shape(model, label, dice))
        ap = COCO["AP"][min(index, 1)]
        if gates != "none":
            held.append(_gate(model, "coco", "AP", ap, 0.30 if gates == "passed" else 0.40))
            held.append(_gate(model, "coco", "APlarge", 0.489, 0.4))
            if gates == "failed":
                at = {"iou_threshold": 0.5, "score_threshold": 0.5}
                rest = {"label": next(iter(labels), "person"), "parameters": at}
                held.append(_gate(model, "recall", "value", None, 0.5, **rest))
    return RunResult(
        task="object_detection",
        models=tuple(models),
        primary=tuple(("coco", output) for output in ("AP", "AP50", "AP75", "APsmall", "AR@100")),
        data={"images": 5000, "ground_truths": 36781, "labels": len(labels)},
        settings={"matching": "coco", "geometry": "box"},
        run=RunInfo(
            valor_version="0.1.0",
            started_at="2026-03-01T09:30:00+00:00",
            duration_s=1.234,
            command="valor evaluate configs/object_detection.yaml",
            config="configs/object_detection.yaml",
            config_sha256="c0" * 32,
            inputs=(
                InputFile("data/ground_truth.json", "ab" * 32, 36781),
                *(InputFile(f"data/{m[:20]}.json", "cd" * 32, 80123, 2) for m in models),
            ),
            packages={"numpy": "2.4.6", "orjson": "3.13.0"},
        ),
        metrics=tuple(metrics),
        curves=tuple(curves),
        tables=(),
        examples=(),
        gates=tuple(held),
        warnings=tuple(warnings),
        missing_prediction_labels=missing or {},
        ignored_prediction_labels={},
    )


@pytest.fixture
def build() -> Build:
    """`build(models, labels, gates, …)`: a run with those parts."""
    return built


def two() -> RunResult:
    """Two models, eighty labels, one failed gate, and something to warn of."""
    return built(
        warnings=("3 boxes of zero area match nothing", "data/small.json: 12 scores are tied"),
        missing={"small": ("hair_drier", "toaster"), "large": ()},
    )


AT: Parameters = {"iou_threshold": 0.5, "score_threshold": 0.3}
COSTS = {
    "classification": (0.043, 0.031),
    "localisation": (0.121, 0.064),
    "both": (0.011, 0.008),
    "duplicate": (0.002, 0.001),
    "background": (0.052, 0.071),
    "missed": (0.097, 0.058),
}


def _box(x: float, y: float, w: float, h: float) -> dict[str, Any]:
    ring = [[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]]
    return {"type": "Polygon", "coordinates": [ring]}


def _ragged(x: float, y: float, w: float, h: float, dice: random.Random) -> dict[str, Any]:
    """A round shape with a hole, as a mask has."""
    rings = []
    for part, turn in ((1.0, 1), (0.4, -1)):
        angles = [turn * 2 * math.pi * i / 40 for i in range(40)]
        wobble = [part * dice.uniform(0.9, 1.0) / 2 for _ in angles]
        ring = [
            [x + w * (0.5 + r * math.cos(a)), y + h * (0.5 + r * math.sin(a))]
            for a, r in zip(angles, wobble, strict=True)
        ]
        rings.append([*ring, ring[0]])
    return {"type": "MultiPolygon", "coordinates": [rings]}


def _thing(
    role: Any, name: Any, label: str, geometry: dict[str, Any], outcome: str = ""
) -> ExampleObject:
    score = None if role == "ground_truth" else 0.83
    return ExampleObject(role, name, label, score, outcome, geometry)


def _case(
    kind: str, model: str, image: int, truth: str | None, predicted: str | None, dice: random.Random
) -> ExampleResult:
    x, y = dice.uniform(20, 380), dice.uniform(20, 280)
    w, h = dice.uniform(60, 240), dice.uniform(50, 180)
    objects = []
    if truth is not None:
        objects.append(_thing("ground_truth", 9000 + image, truth, _box(x, y, w, h)))
    if predicted is not None:
        objects.append(_thing("prediction", image, predicted, _box(x + 8, y - 5, w, h * 0.9)))
    picture = Picture(f"{image:012d}.jpg", 640, 480)
    label = truth if truth is not None else predicted
    return ExampleResult(
        "confusion_matrix", model, label, None, AT, kind, image, None, picture, tuple(objects)
    )


def _confused(
    model: str, labels: Sequence[str], dice: random.Random
) -> tuple[TableResult, list[ExampleResult]]:
    size = len(labels)
    rows = [[0] * size for _ in labels]
    examples = []
    for i, label in enumerate(labels):
        rows[i][i] = dice.randrange(20, 400)
        examples.append(_case("true_positive", model, i + 1, label, label, dice))
        for _ in range(4):
            j = dice.randrange(size)
            if i != j:
                rows[i][j] += dice.randrange(1, 40)
                for image in range(4):
                    args = (model, 100 * i + image, label, labels[j], dice)
                    examples.append(_case("misclassification", *args))
        examples.append(_case("unmatched_prediction", model, 5000 + i, None, label, dice))
        examples.append(_case("unmatched_ground_truth", model, 6000 + i, label, None, dice))
    alone = [dice.randrange(1, 80) for _ in labels]
    wrong = [dice.randrange(1, 90) for _ in labels]
    table = TableResult("confusion_matrix", model, None, AT, labels, rows, alone, wrong)
    return table, examples


def _worst(model: str, rank: int, labels: Sequence[str], dice: random.Random) -> ExampleResult:
    objects = []
    fates = ("true_positive", *COSTS, "ignored")
    for number in range(6 + rank % 5):
        fate = fates[(number + rank) % len(fates)]
        label = labels[dice.randrange(len(labels))]
        x, y = dice.uniform(0, 460), dice.uniform(0, 300)
        w, h = dice.uniform(40, 180), dice.uniform(40, 170)
        shape = _ragged(x, y, w, h, dice) if number % 3 == 2 else _box(x, y, w, h)
        if fate in ("missed", "true_positive", "localisation"):
            seen = "missed" if fate == "missed" else "found"
            objects.append(_thing("ground_truth", number, label, shape, seen))
        if fate != "missed":
            at = _box(x + 12, y + 6, w * 0.9, h) if number % 3 != 2 else shape
            objects.append(_thing("prediction", 70 + number, label, at, fate))
    picture = Picture(f"{rank:012d}.jpg", 640, 480) if rank % 8 != 7 else None
    value = None if rank == 23 else rank * 0.012
    at: Parameters = {"iou_threshold": 0.5, "score_threshold": 0.3}
    return ExampleResult(
        "image_scores", model, None, None, at, "worst_image", rank, value, picture, tuple(objects)
    )


def _mistaken(model: str, labels: Sequence[str], dice: random.Random) -> list[ExampleResult]:
    """Three examples of every kind of error."""
    at: Parameters = {"iou_threshold": 0.5, "background_iou": 0.1}
    cases = []
    for number, kind in enumerate(COSTS):
        for image in range(3):
            truth = None if kind in ("background", "duplicate", "both") else labels[image % 2]
            predicted = None if kind == "missed" else labels[(image + 1) % 2]
            case = _case(kind, model, 7000 + 10 * number + image, truth, predicted, dice)
            cases.append(replace(case, metric="error_breakdown", parameters=at))
    return cases


def _counts_curve(model: str, label: str, dice: random.Random) -> CurveResult:
    """Counts by their reason: 100 ground truths, of which fewer are found the higher the score."""
    thresholds = [round(x / 100, 2) for x in range(5, 100, 5)]
    tp = [round(90 * (1 - t) ** dice.uniform(0.5, 0.6)) for t in thresholds]
    taken = [round((100 - n) * 0.25) for n in tp]
    points: dict[str, list[float | None]] = {
        "score_threshold": [*thresholds],
        "tp": [*tp],
        "fp": [round(n * 0.75) for n in tp],
        "fn": [100 - n for n in tp],
        "fp_misclassifications": [round(n * 0.25) for n in tp],
        "fp_hallucinations": [round(n * 0.5) for n in tp],
        "fn_misclassifications": [*taken],
        "fn_no_predictions": [100 - n - m for n, m in zip(tp, taken, strict=True)],
    }
    parameters: Parameters = {"score_thresholds": thresholds, "pr_curve_iou_threshold": 0.5}
    return CurveResult("detailed_pr_curve", model, label, None, parameters, points)


def _errors(model: str, index: int, labels: Sequence[str]) -> list[MetricResult]:
    at: dict[str, Any] = {"parameters": {"iou_threshold": 0.5, "background_iou": 0.1}}
    rows = []
    for kind, costs in COSTS.items():
        cost, count = costs[min(index, 1)], int(costs[min(index, 1)] * 20_000)
        lower: dict[str, Any] = {"direction": "lower", **at}
        rows.append(_row("error_breakdown", model, count, output=kind, unit="count", **lower))
        rows.append(_row("error_breakdown", model, cost, output=f"{kind}_cost", **lower))
        for label in labels:
            rest: dict[str, Any] = {"label": label, "n": 100, "unit": "count", **lower}
            rows.append(_row("error_breakdown", model, count // 80, output=kind, **rest))
    for side, cost in (("false_positive_cost", 0.14), ("false_negative_cost", 0.21)):
        rows.append(_row("error_breakdown", model, cost, output=side, direction="lower", **at))
    for label in labels:
        for output in ("f1", "score_threshold", "precision", "recall"):
            direction = None if output == "score_threshold" else "higher"
            rest = {"output": output, "label": label, "direction": direction, "n": 100}
            rows.append(_row("best_f1", model, 0.61, **rest))
    return rows


def built_with_findings(
    models: Sequence[str] = ("small", "large"), labels: Sequence[str] = tuple(LABELS)
) -> RunResult:
    """As `built`, with tables, examples, error costs and samples."""
    run = built(models, labels, warnings=("3 boxes of zero area match nothing",))
    dice = random.Random(11)
    tables, examples, metrics, samples = [], [], list(run.metrics), []
    curves = list(run.curves)
    for index, model in enumerate(models):
        table, cases = _confused(model, labels, dice)
        tables.append(table)
        examples += cases
        examples += _mistaken(model, labels, dice)
        curves += [_counts_curve(model, label, dice) for label in labels]
        examples += [_worst(model, rank, labels, dice) for rank in range(24)]
        metrics += _errors(model, index, labels)
        columns: dict[str, list[float | None]] = {"f1": [0.5, None], "tp": [3, 0]}
        reasons = (None, "no objects")
        samples.append(SamplesResult("image_scores", model, AT, (1, 2), columns, reasons))
    return replace(
        run,
        metrics=tuple(metrics),
        curves=tuple(curves),
        tables=tuple(tables),
        examples=tuple(examples),
        samples=tuple(samples),
    )


@pytest.fixture
def found() -> Build:
    """`found(models, labels)`: as `build`, with tables, examples, error costs and samples."""
    return built_with_findings


def attacked() -> RunResult:
    """Every name that data can choose is an attack or an accident."""
    names = HOSTILE[:2]
    run = built(names, HOSTILE, warnings=HOSTILE, missing={names[0]: HOSTILE})
    return replace(
        run,
        task=HOSTILE[0],
        data={HOSTILE[0]: 1},
        metrics=tuple(
            replace(row, slice=HOSTILE[0] + row.slice if row.slice else None, undefined=HOSTILE[8])
            for row in run.metrics
        ),
        gates=tuple(replace(gate, reason=HOSTILE[0]) for gate in run.gates),
        run=replace(run.run, command=HOSTILE[0], config=HOSTILE[1], packages={HOSTILE[0]: "1"}),
    )


@pytest.fixture
def hostile() -> RunResult:
    """Every name that data can choose is an attack or an accident."""
    return attacked()


@pytest.fixture
def two_models() -> RunResult:
    """Two models, eighty labels, one failed gate, and something to warn of."""
    return two()
