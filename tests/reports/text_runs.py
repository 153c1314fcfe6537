"""Runs of texts to report: made up, seeded, as metrics of samples fill them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.reports.task_runs import filled, gate_row, run_of, value_row
from valor_cli.results import (
    CoverageResult,
    ExampleResult,
    GateResult,
    InsightResult,
    MetricResult,
    Parameters,
    ProblemResult,
    RunResult,
    SamplesResult,
    ShownText,
)

MODELS = ("small", "medium", "large")
METRICS = (
    ("bleu_1", ("value", "brevity_penalty"), "higher"),
    ("rouge_l", ("value",), "higher"),
    ("exact_match", ("value",), "higher"),
    ("token_f1", ("value", "precision", "recall"), "higher"),
    ("edit_similarity", ("value",), "higher"),
    ("pii_leakage", ("pass", "fail", "generation_failures", "parse_failures"), "higher"),
    ("text_matching", ("pass", "fail", "generation_failures", "parse_failures"), "higher"),
    ("looping", ("value",), "lower"),
)
"""Name, outputs and direction; the first output is the primary one."""

QUESTION = "When was the harbour bridge opened, and who may I call about the tickets?"
CONTEXT = (
    "The harbour bridge was opened on 19 March 1932 after eight years of work. It carries rail, "
    "vehicular, bicycle and pedestrian traffic between the central business district and the "
    "north shore. Tickets for the climb are sold at the southern pylon. "
)
REPEATED = "The bridge was opened in 1932. "
PRIVATE = "It was opened in 1932. Call Ms Doe at ••••••••••••, or write to ••••••••••••••••."


def texts(metric: str) -> tuple[ShownText, ...]:
    """What a worst sample of that metric shows."""
    if metric == "pii_leakage":
        marks = [(38, 50, "PHONE_NUMBER"), (64, 80, "EMAIL_ADDRESS")]
        response = ShownText("response", PRIVATE, marks)
    elif metric == "looping":
        size = len(REPEATED)
        places = [(size * at, size * (at + 1) - 1, "repeated") for at in range(1, 9)]
        response = ShownText("response", REPEATED * 9, places, left_out=48_211)
    else:
        response = ShownText("response", "I am not sure, but the bridge may be from the 1950s.")
    return (
        ShownText("user_input", QUESTION),
        response,
        ShownText("references[0]", "It was opened on 19 March 1932."),
        ShownText("retrieved_contexts[0]", CONTEXT),
        ShownText("retrieved_contexts[1]", CONTEXT * 8, left_out=120_000),
    )


def worst(metric: str, model: str, rank: int, **rest: Any) -> ExampleResult:
    """A sample among the worst; the last one cannot be read."""
    read = rank < 9
    told: dict[str, Any] = {"metric": metric, "model": model, "parameters": parameters(metric)}
    told |= {"kind": "worst_sample" if read else "unreadable", "sample_id": f"faq-{rank:03}"}
    told |= {"value": round(rank * 0.04, 3) if read else None, "texts": texts(metric)}
    if metric == "pii_leakage":
        told["reason"] = "2 found in the response: PHONE_NUMBER, EMAIL_ADDRESS"
    return filled(ExampleResult, **{**told, **rest})


def parameters(metric: str) -> Parameters:
    """Every parameter of a call."""
    return {"threshold": 0.5} if metric != "exact_match" else {}


def text_run(models: Sequence[str] = MODELS, samples: int = 200, **rest: Any) -> RunResult:
    """A run of `METRICS`, whose first models leave out samples and have problems."""
    dice = random.Random(5)
    metrics: list[MetricResult] = []
    coverage: list[CoverageResult] = []
    columns: list[SamplesResult] = []
    examples: list[ExampleResult] = []
    for index, model in enumerate(models):
        for at, (metric, outputs, direction) in enumerate(METRICS):
            level = (at * 7 % 5) / 6 + 0.06 * min(index, 3)
            counts = _statuses(at, index, samples)
            of: dict[str, Any] = {"parameters": parameters(metric), "n": counts["ok"]}
            for output in outputs:
                lower = direction == "lower" or output.endswith(("fail", "failures"))
                of |= {"output": output, "direction": "lower" if lower else "higher"}
                value = round(1 - level if output == "fail" else level, 4)
                metrics.append(value_row(metric, model, value, **of))
            part = counts["ok"] / (samples - counts.get("not_applicable", 0))
            parts = (parameters(metric), samples, counts, part)
            coverage.append(CoverageResult(metric, model, None, *parts))
            columns.append(_column(metric, outputs, model, counts, level, dice))
            examples += [worst(metric, model, rank) for rank in range(10)]
    fields: dict[str, Any] = {
        "primary": [(metric, outputs[0]) for metric, outputs, _ in METRICS],
        "data": {"samples": samples},
        "metrics": tuple(metrics),
        "coverage": tuple(coverage),
        "samples": tuple(columns),
        "examples": tuple(examples),
        "problems": problems(models),
        "insights": insights(models),
        "gates": gates(models),
        "warnings": ("data/faq.jsonl: 3 samples have the same user_input",),
    }
    return run_of("text_generation", models, **{**fields, **rest})


def _statuses(at: int, model: int, samples: int) -> dict[str, int]:
    """Some metrics of the first models cannot judge all samples."""
    missing = at * 3 % 11 if model < 2 and at % 3 != 1 else 0
    unread = 4 if at == 6 and not model else 0
    beside = 12 if at == 7 else 0
    counts = {"ok": samples - missing - unread - beside, "parse_failure": unread}
    counts |= {"missing_input": missing, "not_applicable": beside}
    return {name: count for name, count in counts.items() if count}


def _column(
    metric: str,
    outputs: Sequence[str],
    model: str,
    counts: dict[str, int],
    level: float,
    dice: random.Random,
) -> SamplesResult:
    statuses: list[Any] = [name for name, count in counts.items() for _ in range(count)]
    dice.shuffle(statuses)
    primary = [min(max(dice.gauss(level, 0.2), 0), 1) if one == "ok" else None for one in statuses]
    return SamplesResult(
        metric,
        model,
        parameters(metric),
        [f"faq-{at:03}" for at in range(len(statuses))],
        {name: list(primary) for name in outputs},
        [None if one == "ok" else f"no {one.split('_')[-1]}" for one in statuses],
        statuses,
        [{"tokens": 7} if one == "ok" else None for one in statuses],
    )


def problems(models: Sequence[str]) -> tuple[ProblemResult, ...]:
    """One of each kind and severity, in the order of the metrics."""
    pair = ("faq-007", "faq-007-typo")
    found: Any = [
        ("threshold", "bleu_1", 0.21, 0.5, "medium", (), "the mean of 0.210 is below 0.5"),
        ("threshold", "rouge_l", 0.48, 0.5, None, (), "its interval has the threshold of 0.5"),
        ("coverage", "text_matching", 0.88, 0.95, "low", ("faq-003",), "24 of 200 have no value"),
        ("flip", "exact_match", 0.0, 0.5, "high", pair, "{} is right, its copy {} is not"),
    ]
    return tuple(
        ProblemResult(
            *(kind, metric, "value", models[0], value, at, severity, ids),
            f"{metric}: {message.format(*ids)}",
            parameters(metric),
        )
        for kind, metric, value, at, severity, ids, message in found
    )


def insights(models: Sequence[str]) -> tuple[InsightResult, ...]:
    """What a run of several models tells."""
    best, last = models[-1], models[0]
    found: Any = [
        ("best_model", "bleu_1", (best,), (), 0.3, f"{best} is best by bleu_1: 0.300"),
        ("best_model", "rouge_l", (best,), (), 0.4, f"{best} is best by rouge_l: 0.400"),
        ("worst_model", "bleu_1", (last,), (), 0.2, f"{last} is worst by bleu_1: 0.210"),
        ("hardest_sample", None, models, ("faq-019",), 0.1, "faq-019 is hardest: 0.100 on average"),
    ]
    return tuple(InsightResult(*one) for one in found)


def gates(models: Sequence[str]) -> tuple[GateResult, ...]:
    """One of a value that failed, and one of coverage for every metric and model."""
    at: dict[str, Any] = {"metric": "rouge_l", "parameters": parameters("rouge_l")}
    failed = gate_row("min", 0.5, 0.333, "failed", model=models[0], **at)
    every = [coverage_gate(metric, model, 0.96) for model in models for metric, _, _ in METRICS]
    return (failed, *every)


def coverage_gate(metric: str, model: str, value: float, limit: float = 0.95) -> GateResult:
    """Whether a metric could judge enough samples."""
    at: dict[str, Any] = {"metric": metric, "parameters": parameters(metric), "output": ""}
    status = "passed" if value >= limit else "failed"
    return gate_row("coverage", limit, value, status, model=model, **at)
