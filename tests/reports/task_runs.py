"""Runs of classification and segmentation to report: made up, as their metrics fill them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields, replace

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

DIGITS = tuple(map(str, range(10)))
THINGS = ("road", "sidewalk", "building", "vegetation", "sky", "person", "car")
THRESHOLDS = [round(x / 100, 2) for x in range(5, 100, 5)]

Points = Mapping[str, Sequence[float | None]]
R = TypeVar("R", bound=Struct)


@cache
def _empty(record: type[Struct]) -> dict[str, Any]:
    """By field that a record needs, nothing: None where it may be, or nothing in it."""
    return {
        field.name: None
        if type(None) in get_args(field.type)
        else {}
        if get_origin(field.type) is Mapping
        else ()
        for field in fields(record)
        if field.required
    }


def filled(record: type[R], /, *parts: Any, **said: Any) -> R:
    """A record in which all that is not said is empty: None where it may be, or nothing in it."""
    named = dict(zip(record.__struct_fields__, parts, strict=False))
    return record(**{**_empty(record), **named, **said})


def value_row(metric: str, model: str, value: float | None, **rest: Any) -> MetricResult:
    """A value of the whole data."""
    told: dict[str, Any] = {"output": "value", "unit": "fraction", "direction": "higher", "n": 900}
    told["undefined"] = None if value is not None else "no ground truth"
    return filled(MetricResult, metric=metric, model=model, value=value, **{**told, **rest})


def gate_row(rule: str, limit: float, value: float | None, status: Any, **rest: Any) -> GateResult:
    """A gate of F1, if it says nothing else."""
    held = {"rule": rule, "limit": limit, "value": value, "status": status}
    told: dict[str, Any] = {"metric": "f1", "output": "value", "model": "small", **held}
    return filled(GateResult, **{**told, **rest})


INFO = RunInfo(
    valor_version="0.1.0",
    started_at="2026-03-01T09:30:00+00:00",
    duration_s=0.8,
    command="valor evaluate run.yaml",
    config="run.yaml",
    config_sha256="c0" * 32,
    inputs=(InputFile("data/ground_truth.csv", "ab" * 32, 900),),
    packages={"numpy": "2.4.6"},
)


def run_of(task: str, models: Sequence[str], **rest: Any) -> RunResult:
    """A run that has what is said."""
    config = f"configs/{task}.yaml"
    info = replace(INFO, command=f"valor evaluate {config}", config=config)
    return filled(RunResult, **{"task": task, "models": tuple(models), "run": info, **rest})


def by_score(skill: float, positives: int) -> Points:
    """A curve of precision and recall by the score."""
    recall = [(1 - t**skill) * 0.95 for t in THRESHOLDS]
    precision = [1 - (1 - t) ** (skill + 0.5) * 0.6 for t in THRESHOLDS]
    tp = [round(positives * r) for r in recall]
    return {
        "score_threshold": THRESHOLDS,
        "tp": tp,
        "fp": [round(n / p - n) for n, p in zip(tp, precision, strict=True)],
        "fn": [positives - n for n in tp],
        "precision": precision,
        "recall": recall,
        "f1": [2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True)],
    }


def counts_by_reason(positives: int, kinds: Sequence[str] = ("misclassifications",)) -> Points:
    """Fewer ground truths are found the higher the score; false positives are of these kinds."""
    tp = [round(positives * (1 - t**3)) for t in THRESHOLDS]
    taken = [round((positives - n) * (1 - t)) for n, t in zip(tp, THRESHOLDS, strict=True)]
    wrong = [round(20 * (1 - t)) for t in THRESHOLDS]
    return {
        "score_threshold": THRESHOLDS,
        "tp": tp,
        "fp": [n * len(kinds) for n in wrong],
        "fn": [positives - n for n in tp],
        **{f"fp_{kind}": wrong for kind in kinds},
        "fn_misclassifications": taken,
        "fn_no_predictions": [positives - n - m for n, m in zip(tp, taken, strict=True)],
    }


def _roc(skill: float) -> Points:
    across = [(i / 40) ** 2 for i in range(41)]
    return {
        "score": [None, *(1 - i / 41 for i in range(1, 41))],
        "false_positive_rate": across,
        "true_positive_rate": [value ** (1 / (3 * skill)) for value in across],
    }


def reliability(bins: int, over: float, dice: random.Random) -> Points:
    """Bins whose accuracy is below their confidence by about `over`; the lowest are empty."""
    edges = [i / bins for i in range(bins + 1)]
    empty = [high <= 0.2 for high in edges[1:]]
    confidence = [
        None if e else high - 0.4 / bins for e, high in zip(empty, edges[1:], strict=True)
    ]
    return {
        "confidence_low": edges[:-1],
        "confidence_high": edges[1:],
        "n": [0 if e else int(5 + 600 * high**6) for e, high in zip(empty, edges[1:], strict=True)],
        "confidence": confidence,
        "accuracy": [
            None if one is None else min(1.0, max(0.0, one - over + dice.uniform(-0.04, 0.04)))
            for one in confidence
        ],
    }


def _sorted(
    model: str, labels: Sequence[str], at: Parameters, dice: random.Random
) -> tuple[TableResult, list[ExampleResult]]:
    size = len(labels)
    rows = [[0] * size for _ in labels]
    examples = []
    at = {**at, "score_threshold": 0.0, "hardmax": True, "max_examples": 3}
    for i, label in enumerate(labels):
        rows[i][i] = dice.randrange(60, 95)
        for _ in range(3):
            j = dice.randrange(size)
            if j == i:
                continue
            rows[i][j] += dice.randrange(1, 9)
            for number in range(3):
                name = f"{label}/{len(examples):05d}"
                objects = (
                    ExampleObject("ground_truth", None, label, None, "misclassification", None),
                    ExampleObject("prediction", None, labels[j], 0.93 - number / 9, "", None),
                )
                parts = ("misclassification", name, None, None, objects)
                examples.append(ExampleResult("confusion_matrix", model, label, None, at, *parts))
    alone = [dice.randrange(3) for _ in labels]
    zeros = [0] * size
    return TableResult("confusion_matrix", model, None, at, labels, rows, alone, zeros), examples


def classified(
    models: Sequence[str] = ("forest", "bayes"),
    labels: Sequence[str] = DIGITS,
    keys: Sequence[str | None] = (None,),
    *,
    thresholds: Mapping[str, float] | None = None,
) -> RunResult:
    """A run of classification; with `keys`, each label key has all of the labels."""
    dice = random.Random(5)
    metrics: list[MetricResult] = []
    curves: list[CurveResult] = []
    tables: list[TableResult] = []
    examples: list[ExampleResult] = []
    for index, model in enumerate(models):
        for number, key in enumerate(keys):
            at: Parameters = {} if key is None else {"label_key": key}
            high, wrong = 0.972 - 0.11 * index - 0.02 * number, 0.03 + 0.08 * index
            rest: dict[str, Any] = {"parameters": at, "interval": (high - 0.012, high + 0.01)}
            for metric in ("accuracy", "balanced_accuracy", "cohen_kappa", "mean_roc_auc"):
                metrics.append(value_row(metric, model, high, **rest))
            macro: Parameters = {**at, "average": "macro", "score_threshold": thresholds or 0.0}
            metrics.append(value_row("f1", model, high - 0.01, parameters=macro))
            ece: Parameters = {**at, "bins": 15, "normalize": False}
            for output, value in (("value", wrong), ("maximum", 2 * wrong)):
                rest = {"output": output, "parameters": ece, "direction": "lower"}
                metrics.append(value_row("expected_calibration_error", model, value, **rest))
            parts = (None, None, ece, reliability(15, wrong, dice))
            curves.append(CurveResult("expected_calibration_error", model, *parts))
            for label in labels:
                own: Parameters = dict(macro)
                if thresholds is not None:
                    own = {**macro, "score_threshold": thresholds.get(label, 0.0)}
                of: dict[str, Any] = {"label": label, "n": 90}
                metrics.append(value_row("f1", model, dice.uniform(0.7, 1), parameters=own, **of))
                area = dice.uniform(0.8, 1)
                metrics.append(value_row("roc_auc", model, area, parameters=at, **of))
                skill = dice.uniform(1.5, 4) / (1 + index)
                drawn = {"pr_curve": by_score(skill, 90), "roc_auc": _roc(skill)}
                drawn["detailed_pr_curve"] = counts_by_reason(90)
                for metric, points in drawn.items():
                    curves.append(CurveResult(metric, model, label, None, at, points))
            one, cases = _sorted(model, labels, at, dice)
            tables.append(one)
            examples += cases
    return run_of(
        "classification",
        models,
        primary=tuple((metric, "value") for metric in ("accuracy", "f1", "mean_roc_auc")),
        data={"samples": 900, "labels": len(labels)},
        metrics=tuple(metrics),
        curves=tuple(curves),
        tables=tuple(tables),
        examples=tuple(examples),
    )


def _pixels(model: str, labels: Sequence[str], dice: random.Random) -> TableResult:
    size = len(labels)
    rows = [[dice.randrange(40_000) for _ in labels] for _ in labels]
    for i in range(size):
        rows[i][i] = dice.randrange(1_000_000, 40_000_000)
    rows[0][size - 1] = 12_345_678
    alone = [dice.randrange(20_000) for _ in labels]
    invented = [dice.randrange(20_000) for _ in labels]
    truths = [sum(row) + extra for row, extra in zip(rows, alone, strict=True)]
    found = [sum(row[i] for row in rows) + invented[i] for i in range(size)]
    ious: list[list[float | None]] = [
        [rows[i][j] / (truths[i] + found[j] - rows[i][j]) for j in range(size)] for i in range(size)
    ]
    return TableResult(
        "confusion_matrix",
        model,
        None,
        {},
        labels,
        rows,
        alone,
        invented,
        ious,
        [a / b for a, b in zip(alone, truths, strict=True)],
        [a / b for a, b in zip(invented, found, strict=True)],
    )


def segmented(
    models: Sequence[str] = ("small", "large"), labels: Sequence[str] = THINGS, images: int = 260
) -> RunResult:
    """A run of semantic segmentation."""
    dice = random.Random(9)
    metrics: list[MetricResult] = []
    curves: list[CurveResult] = []
    examples: list[ExampleResult] = []
    samples: list[SamplesResult] = []
    at: Parameters = {"worst": 12}
    ids = [f"frankfurt/frankfurt_000000_{i:06d}" for i in range(images)]
    for index, model in enumerate(models):
        for metric in ("mean_iou", "pixel_accuracy", "mean_accuracy"):
            metrics.append(value_row(metric, model, 0.71 + 0.06 * index, n=524_288_000))
        ious = sorted(min(1.0, dice.betavariate(7 + 3 * index, 2.5)) for _ in ids)
        right = [min(1.0, value + 0.1) for value in ious]
        for output, column in (("mean_iou", ious), ("pixel_accuracy", right)):
            rest: dict[str, Any] = {"output": output, "parameters": at, "n": images}
            metrics.append(value_row("image_scores", model, sum(column) / images, **rest))
        for label in labels:
            n = dice.randrange(10_000, 90_000_000)
            for metric in ("iou", "precision", "recall", "f1"):
                metrics.append(value_row(metric, model, dice.uniform(0.3, 0.98), label=label, n=n))
        steps = [i / 20 for i in range(21)]
        spread: Points = {
            "quantile": steps,
            "mean_iou": [ious[round(q * (images - 1))] for q in steps],
            "pixel_accuracy": [right[round(q * (images - 1))] for q in steps],
        }
        curves.append(CurveResult("image_scores", model, None, None, at, spread))
        for rank in range(12):
            picture = Picture(ids[rank], 2048, 1024)
            parts = ("worst_image", ids[rank], ious[rank], picture, ())
            examples.append(ExampleResult("image_scores", model, None, None, at, *parts))
        columns: Points = {
            "mean_iou": ious,
            "pixel_accuracy": right,
            "pixels": [2_097_152] * images,
            "errors": [round(2_097_152 * (1 - value)) for value in right],
        }
        samples.append(SamplesResult("image_scores", model, at, ids, columns, [None] * images))
    return run_of(
        "semantic_segmentation",
        models,
        primary=tuple(
            (metric, "value") for metric in ("mean_iou", "pixel_accuracy", "mean_accuracy")
        ),
        data={"images": images, "labels": len(labels)},
        settings={"ignore_index": 255, "background": None, "reduce_labels": False},
        metrics=tuple(metrics),
        curves=tuple(curves),
        tables=tuple(_pixels(model, labels, dice) for model in models),
        examples=tuple(examples),
        samples=tuple(samples),
    )


def renamed(run: RunResult, names: Mapping[str, str]) -> RunResult:
    """The run with other names of labels."""

    def told(label: str | None) -> str | None:
        return None if label is None else names.get(label, label)

    return replace(
        run,
        metrics=tuple(replace(row, label=told(row.label)) for row in run.metrics),
        curves=tuple(replace(row, label=told(row.label)) for row in run.curves),
        tables=tuple(
            replace(one, labels=[names.get(label, label) for label in one.labels])
            for one in run.tables
        ),
    )
