"""Runs to report: made up in the style of COCO, seeded, with whatever a test needs odd."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from valor_cli.results import (
    CurveResult,
    GateResult,
    InputFile,
    MetricResult,
    Parameters,
    RunInfo,
    RunResult,
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


@pytest.fixture
def build() -> Build:
    """`build(models, labels, gates, …)`: a run with those parts."""

    def made(
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
            primary=tuple(
                ("coco", output) for output in ("AP", "AP50", "AP75", "APsmall", "AR@100")
            ),
            data={"images": 5000, "ground_truths": 36781, "labels": len(labels)},
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
            gates=tuple(held),
            warnings=tuple(warnings),
            missing_prediction_labels=missing or {},
            ignored_prediction_labels={},
        )

    return made


@pytest.fixture
def two_models(build: Build) -> RunResult:
    """Two models, eighty labels, one failed gate, and something to warn of."""
    return build(
        warnings=("3 boxes of zero area match nothing", "data/small.json: 12 scores are tied"),
        missing={"small": ("hair_drier", "toaster"), "large": ()},
    )


@pytest.fixture
def hostile(build: Build) -> RunResult:
    """Every name that data can choose is an attack or an accident."""
    names = HOSTILE[:2]
    run = build(names, HOSTILE, warnings=HOSTILE, missing={names[0]: HOSTILE})
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
