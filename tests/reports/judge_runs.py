"""A run that asked judges: made up, seeded, as the metrics of judges fill it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.reports.task_runs import filled, gate_row, run_of, value_row
from valor_cli.results import (
    AgreementResult,
    CoverageResult,
    ExampleResult,
    JudgeCalls,
    Parameters,
    PromptUsed,
    RunResult,
    SamplesResult,
    ShownText,
    UsageResult,
    Verdict,
)

METRICS = ("faithfulness", "context_recall", "nv_answer_accuracy", "custom_judge")
JUDGES = ("openai/gpt-4o-mini", "anthropic/claude-haiku", "ollama/llama3.1")
MODELS = ("small", "large")
BATCH: Parameters = {"batch_size": 5, "judge_retries": None}

QUESTION = "When was the harbour bridge opened, and how many lanes does it carry today?"
RESPONSE = (
    "The harbour bridge was opened on 19 March 1932. It carries eight lanes of road traffic, two "
    "railway lines, a footway and a cycleway. It was the tallest structure of the city until 1967. "
    "The toll is paid in both directions."
)
CONTEXT = (
    "The bridge was formally opened on 19 March 1932. Today it carries eight traffic lanes and two "
    "rail lines, with a path for pedestrians on the eastern side and one for cyclists on the "
    "western. A toll is levied on southbound traffic only."
)
VERDICTS = (
    Verdict("The harbour bridge was opened on 19 March 1932.", "supported", True,
            "Context 1 says that it was formally opened on that day."),
    Verdict("The harbour bridge carries eight lanes of road traffic.", "supported", True,
            "Context 1 names eight traffic lanes."),
    Verdict("The harbour bridge was the tallest structure of the city until 1967.",
            "not supported", False, "No context says how tall it is or was."),
    Verdict("The toll of the harbour bridge is paid in both directions.", "not supported", False,
            "Context 1 says that the toll is levied on southbound traffic only."),
    Verdict("I hope that this helps.", "not a claim", None, ""),
)  # fmt: skip


def usage(metric: str, model: str, judge: str, **rest: Any) -> UsageResult:
    """What one metric took; the local judge has no price and does not count."""
    at = METRICS.index(metric) if metric in METRICS else 0
    calls = 180 + 40 * at
    told: dict[str, Any] = {"calls": calls, "cached": 12 * at, "failed": 3 if at == 2 else 0}
    if judge != JUDGES[2]:
        told |= {"tokens_in": 812 * calls, "tokens_out": 96 * calls}
        told |= {"cost_usd": round(0.0001794 * calls, 7), "saved_usd": round(0.0021 * at, 7)}
    return filled(UsageResult, **{"metric": metric, "model": model, "judge": judge, **told, **rest})


def agreement(metric: str, model: str, **rest: Any) -> AgreementResult:
    """How far the judges say the same."""
    told = {"parameters": BATCH, "kind": "judges", "raters": ("a", "b", "c"), "n": 222}
    told |= {"values": (0.8125, 0.79, None), "agreement": 0.9234, "spread": 0.0766}
    told |= {"coefficient": 0.61, "statistic": "Fleiss' kappa"}
    told |= {"disagreements": ("s3", "s9"), "disagreeing": 17}
    return filled(AgreementResult, **{"metric": metric, "model": model, **told, **rest})


def worst(metric: str, model: str, rank: int, **rest: Any) -> ExampleResult:
    """A sample among the worst, with what the judge said of its claims."""
    told: dict[str, Any] = {"metric": metric, "model": model, "parameters": BATCH}
    told |= {"kind": "worst_sample", "sample_id": f"faq-{rank:03}", "value": 0.5 + rank / 20}
    fields = {"user_input": QUESTION, "response": RESPONSE, "retrieved_contexts[0]": CONTEXT}
    told["texts"] = tuple(ShownText(*one) for one in fields.items())
    told["verdicts"] = VERDICTS if metric == "faithfulness" else VERDICTS[2:4]
    return filled(ExampleResult, **{**told, **rest})


def judge_run(
    models: Sequence[str] = MODELS, judges: Sequence[str] = JUDGES[:1], **rest: Any
) -> RunResult:
    """A run of `METRICS` of 120 samples; what is no field of the run is one of its `run`."""
    dice = random.Random(7)
    counts: dict[str, int] = {"ok": 110, "parse_failure": 4, "judge_error": 3, "skipped": 3}
    calls = [(metric, model) for metric in METRICS for model in models]
    values = {call: round(dice.uniform(0.6, 0.9), 4) for call in calls}
    fields: dict[str, Any] = {
        "primary": [(metric, "value") for metric in METRICS],
        "data": {"samples": 120},
        "metrics": tuple(
            value_row(*call, value, parameters=BATCH, n=110) for call, value in values.items()
        ),
        "coverage": tuple(
            CoverageResult(*call, None, BATCH, 120, counts, 110 / 120) for call in calls
        ),
        "samples": tuple(_column(*call, counts, dice) for call in calls),
        "examples": tuple(worst(*call, rank) for call in calls for rank in range(4)),
        "gates": tuple(
            gate_row("min", 0.8, value, "passed" if value >= 0.8 else "failed", model=model,
                     metric="faithfulness", parameters=BATCH)
            for (metric, model), value in values.items() if metric == "faithfulness"
        ),
        "prompts": (
            PromptUsed("claims", 1, "0123456789abcdef" * 4),
            PromptUsed("faithfulness_verdicts", 2, "fedcba9876543210" * 4),
            PromptUsed("house_style", 1, "aaaabbbbccccdddd" * 4, own=True),
        ),
    }  # fmt: skip
    if len(judges) > 1:
        fields["agreements"] = tuple(agreement(*call) for call in calls)
    run = run_of("text_generation", models, **fields)
    asked = {
        "models_used": tuple(judges),
        "usage": tuple(usage(*call, judge) for call in calls for judge in judges),
    }
    own = {
        name: rest.pop(name)
        for name in ("usage", "models_used", "stopped", "stopped_by")
        if name in rest
    }
    return replace(run, run=replace(run.run, **{**asked, **own}), **rest)


def _column(metric: str, model: str, counts: dict[str, int], dice: random.Random) -> SamplesResult:
    statuses: list[Any] = [name for name, count in counts.items() for _ in range(count)]
    judged = [one == "ok" for one in statuses]
    return SamplesResult(
        metric,
        model,
        BATCH,
        [f"faq-{at:03}" for at in range(len(statuses))],
        {"value": [round(dice.random(), 3) if ok else None for ok in judged]},
        [None if ok else "the reply is no JSON" for ok in judged],
        statuses,
        [{"claims": 4} if ok else None for ok in judged],
        [JudgeCalls(2, 1, ("{}", "{}")) if ok else JudgeCalls() for ok in judged],
    )
