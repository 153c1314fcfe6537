"""Runs to report: made up in the style of COCO, seeded, with whatever a test needs odd."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.task_runs import (
    INFO,
    Points,
    by_score,
    counts_by_reason,
    gate_row,
    run_of,
    value_row,
)
from valor_cli.results import (
    CurveResult,
    ExampleObject,
    ExampleResult,
    GateResult,
    InputFile,
    MetricResult,
    Parameters,
    Picture,
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

AT: Parameters = {"iou_threshold": 0.5, "score_threshold": 0.3}
COSTS = {
    "classification": (0.043, 0.031),
    "localisation": (0.121, 0.064),
    "both": (0.011, 0.008),
    "duplicate": (0.002, 0.001),
    "background": (0.052, 0.071),
    "missed": (0.097, 0.058),
}
"""What each kind of error costs the first model, and the others."""


def _headline(model: str, index: int, intervals: bool) -> list[MetricResult]:
    rows = []
    for output, values in COCO.items():
        value = values[min(index, 1)]
        value = value if value is None or index < 2 else round(value - 0.013 * index, 4)
        interval = (value - 0.011, value + 0.009) if intervals and value is not None else None
        rows.append(value_row("coco", model, value, output=output, interval=interval, n=36781))
    return rows


def _slices(model: str, index: int, intervals: bool) -> list[MetricResult]:
    rows = []
    for name, value in (("day", 0.41), ("night", 0.236), ("rain", 0.302), ("fog", 0.198)):
        value += 0.08 * min(index, 1)
        rest: dict[str, Any] = {"slice": f"metadata.weather={name}", "n": 1204}
        rest["interval"] = (value - 0.031, value + 0.028) if intervals else None
        rows.append(value_row("coco", model, value, output="AP", **rest))
        rows.append(value_row("coco", model, value + 0.17, output="AP50", **rest))
    return rows


def _label_rows(model: str, label: str, dice: random.Random) -> list[MetricResult]:
    count = int(dice.lognormvariate(5, 1))
    ap = dice.uniform(0.15, 0.9)
    tp = int(count * ap)
    of: dict[str, Any] = {"label": label, "n": count}
    at: dict[str, Any] = {**of, "parameters": {"iou_threshold": 0.5, "score_threshold": 0.5}}
    rows = [
        value_row("average_precision", model, min(1, ap * f), parameters={"iou_threshold": t}, **of)
        for t, f in ((0.5, 1.2), (0.75, 0.9))
    ]
    for output, value in (("tp", tp), ("fp", int(tp * 0.4)), ("fn", count - tp)):
        better = "higher" if output == "tp" else "lower"
        rest = {"output": output, "unit": "count", "direction": better, **at}
        rows.append(value_row("counts", model, value, **rest))
    rows.append(value_row("precision", model, ap * 0.95, **at))
    rows.append(value_row("recall", model, ap * 0.9, **at))
    if label == "toaster":
        rows = [replace(row, value=None, undefined="no ground truth", n=0) for row in rows]
    return rows


def _recall_curve(dice: random.Random) -> Points:
    recall = [i / 100 for i in range(101)]
    end, skill = dice.uniform(0.6, 0.98), dice.uniform(1.2, 4)
    precision = [0.98 * (1 - (r / end) ** skill * 0.8) if r < end else 0.0 for r in recall]
    score = [0.97 - 0.9 * r if r < end else None for r in recall]
    return {"recall": recall, "precision": precision, "score": score}


def _gates(model: str, ap: float | None, gates: str, label: str) -> list[GateResult]:
    limit = 0.30 if gates == "passed" else 0.40
    status = "passed" if (ap or 0) >= limit else "failed"
    at: dict[str, Any] = {"model": model, "metric": "coco"}
    held = [
        gate_row("min", limit, ap, status, output="AP", **at),
        gate_row("min", 0.4, 0.489, "passed", output="APlarge", **at),
    ]
    if gates == "failed":
        at = {"model": model, "metric": "recall", "label": label, "reason": "no ground truth"}
        at["parameters"] = {"iou_threshold": 0.5, "score_threshold": 0.5}
        held.append(gate_row("min", 0.5, None, "not checked", **at))
    return [] if gates == "none" else held


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
    at: Parameters = {"thresholds": curve, "pr_curve_iou_threshold": 0.5}
    for index, model in enumerate(models):
        metrics += _headline(model, index, intervals)
        metrics += _slices(model, index, intervals) if slices else []
        for label in labels:
            metrics += _label_rows(model, label, dice)
            scores = curve == "scores"
            points = by_score(dice.uniform(0.8, 2.5), 200) if scores else _recall_curve(dice)
            curves.append(CurveResult("pr_curve", model, label, None, at, points))
        held += _gates(model, COCO["AP"][min(index, 1)], gates, next(iter(labels), "person"))
    files = (InputFile(f"data/{model[:20]}.json", "cd" * 32, 80123, 2) for model in models)
    command = "valor evaluate configs/object_detection.yaml"
    truth = InputFile("data/ground_truth.json", "ab" * 32, 36781)
    return run_of(
        "object_detection",
        models,
        primary=tuple(("coco", output) for output in ("AP", "AP50", "AP75", "APsmall", "AR@100")),
        data={"images": 5000, "ground_truths": 36781, "labels": len(labels)},
        settings={"matching": "coco", "geometry": "box"},
        run=replace(INFO, duration_s=1.234, command=command, inputs=(truth, *files)),
        metrics=tuple(metrics),
        curves=tuple(curves),
        gates=tuple(held),
        warnings=tuple(warnings),
        missing_prediction_labels=missing or {},
    )


def two() -> RunResult:
    """Two models, eighty labels, one failed gate, and something to warn of."""
    return built(
        warnings=("3 boxes of zero area match nothing", "data/small.json: 12 scores are tied"),
        missing={"small": ("hair_drier", "toaster"), "large": ()},
    )


def _box(x: float, y: float, w: float, h: float) -> dict[str, Any]:
    ring = [[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]]
    return {"type": "Polygon", "coordinates": [ring]}


def _ragged(x: float, y: float, w: float, h: float, dice: random.Random) -> dict[str, Any]:
    """A round shape with a hole, as a mask has."""
    rings = []
    for part, turn in ((1.0, 1), (0.4, -1)):
        angles = [turn * 2 * math.pi * i / 40 for i in range(40)]
        reach = [part * dice.uniform(0.9, 1.0) / 2 for _ in angles]
        ring = [
            [x + w * (0.5 + r * math.cos(a)), y + h * (0.5 + r * math.sin(a))]
            for a, r in zip(angles, reach, strict=True)
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
    parts = (truth if truth is not None else predicted, None, AT, kind, image, None, picture)
    return ExampleResult("confusion_matrix", model, *parts, tuple(objects))


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
    return TableResult("confusion_matrix", model, None, AT, labels, rows, alone, wrong), examples


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
    parts = (None, None, AT, "worst_image", rank, value, picture, tuple(objects))
    return ExampleResult("image_scores", model, *parts)


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


def _errors(model: str, index: int, labels: Sequence[str]) -> list[MetricResult]:
    at: dict[str, Any] = {"parameters": {"iou_threshold": 0.5, "background_iou": 0.1}}
    at["direction"] = "lower"
    rows = []
    for kind, costs in COSTS.items():
        cost, count = costs[min(index, 1)], int(costs[min(index, 1)] * 20_000)
        at["output"] = kind
        rows.append(value_row("error_breakdown", model, count, unit="count", **at))
        for label in labels:
            rest = {"label": label, "n": 100, "unit": "count", **at}
            rows.append(value_row("error_breakdown", model, count // 80, **rest))
        at["output"] = f"{kind}_cost"
        rows.append(value_row("error_breakdown", model, cost, **at))
    for side, cost in (("false_positive_cost", 0.14), ("false_negative_cost", 0.21)):
        rows.append(value_row("error_breakdown", model, cost, **{**at, "output": side}))
    for label in labels:
        for output in ("f1", "score_threshold", "precision", "recall"):
            direction = None if output == "score_threshold" else "higher"
            best: dict[str, Any] = {"output": output, "direction": direction, "n": 100}
            rows.append(value_row("best_f1", model, 0.61, label=label, **best))
    return rows


def built_with_findings(
    models: Sequence[str] = ("small", "large"), labels: Sequence[str] = tuple(LABELS)
) -> RunResult:
    """As `built`, with tables, examples, error costs and samples."""
    run = built(models, labels, warnings=("3 boxes of zero area match nothing",))
    dice = random.Random(11)
    tables, examples, samples = [], [], []
    metrics, curves = list(run.metrics), list(run.curves)
    at: Parameters = {"score_thresholds": "all", "pr_curve_iou_threshold": 0.5}
    points = counts_by_reason(100, ("misclassifications", "hallucinations"))
    columns: Points = {"f1": [0.5, None], "tp": [3, 0]}
    for index, model in enumerate(models):
        table, cases = _confused(model, labels, dice)
        tables.append(table)
        examples += [*cases, *_mistaken(model, labels, dice)]
        examples += [_worst(model, rank, labels, dice) for rank in range(24)]
        curves += [
            CurveResult("detailed_pr_curve", model, label, None, at, points) for label in labels
        ]
        metrics += _errors(model, index, labels)
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
def build() -> Build:
    """`build(models, labels, gates, …)`: a run with those parts."""
    return built


@pytest.fixture
def found() -> Build:
    """`found(models, labels)`: as `build`, with tables, examples, error costs and samples."""
    return built_with_findings


@pytest.fixture
def two_models() -> RunResult:
    """Two models, eighty labels, one failed gate, and something to warn of."""
    return two()
