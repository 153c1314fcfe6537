"""Ragas score: harmonic mean of four retrieval and response metrics."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Any

from msgspec.structs import replace

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import (
    BatchSize,
    FirstContexts,
    JudgeRetries,
    QuestionCount,
)
from valor_cli.evaluators.judge.metrics.answer_relevancy import (
    ANSWER_RELEVANCY,
    answer_relevancy,
    question_of,
)
from valor_cli.evaluators.judge.metrics.context_precision import (
    CONTEXT_PRECISION,
    context_precision,
)
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL, context_recall
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS, faithfulness
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output

PARTS = (
    (FAITHFULNESS, faithfulness),
    (ANSWER_RELEVANCY, answer_relevancy),
    (CONTEXT_PRECISION, context_precision),
    (CONTEXT_RECALL, context_recall),
)
"""In the order in which they are asked."""

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    metric.name: {one.name: one.default for one in metric.parameters} for metric, _ in PARTS
}


async def ragas_score(
    asking: Conversation,
    *,
    batch_size: BatchSize = 5,
    num_questions: QuestionCount = 3,
    top_n: FirstContexts = None,
    judge_retries: JudgeRetries = None,
) -> Outcome:
    """Harmonic mean of faithfulness, answer relevancy, context precision and context recall.

    The parameters are those of the parts. A part that is 0, or negative, makes it 0; a part without
    a value leaves it without one. A part that the config lists too, with the same parameters, is
    asked for once.

    Formula:
        value = 4 / (1/f + 1/a + 1/p + 1/r)
        f: faithfulness, a: answer_relevancy, p: context_precision, r: context_recall

    Pitfalls:
        The lowest part rules, and one part without a value drops the sample: read the parts, and
        `n`. answer_relevancy is a cosine, so that the value shifts with the embedder. It is dear: 5
        contexts, 1 reference and 5 claims take 2 + 3 + 5 + 2 = 12 calls.

    Example:
        Parts of 0.9, 0.8, 0.5 and 1: 4 / (1.111 + 1.25 + 2 + 1) = 0.746.
    """
    sample = asking.sample
    # All that any part needs is looked for before a judge is asked.
    _ = question_of(sample), sample.response, sample.references, sample.contexts
    own = {
        "batch_size": batch_size,
        "num_questions": num_questions,
        "top_n": top_n,
        "judge_retries": judge_retries,
    }
    found = {}
    for metric, measure in PARTS:
        defaults = DEFAULTS[metric.name]
        parameters = {name: own.get(name, default) for name, default in defaults.items()}
        part = await asking.measured(metric.name, measure, parameters)
        if part.status != "ok":
            return Outcome(status=part.status, reason=f"{metric.name}: {part.reason}")
        found[metric.name] = part
    return _together(found)


def _together(found: Mapping[str, Outcome]) -> Outcome:
    """The outcome by those of all parts."""
    parts = {name: _value(part) for name, part in found.items()}
    told = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return Outcome(
        {"value": harmonic_mean(tuple(parts.values())), **parts},
        reason=told,
        details={
            name: {"value": parts[name], "reason": part.reason, **(part.details or {})}
            for name, part in found.items()
        },
        verdicts=tuple(verdict for part in found.values() for verdict in part.verdicts),
    )


def _value(part: Outcome) -> float:
    value = part.values["value"]
    if value is None:
        raise ValueError("a part that is ok has a value")
    return value


def harmonic_mean(values: tuple[float, ...]) -> float:
    """Harmonic mean; 0 if a value is not positive."""
    if min(values) <= 0:
        return 0.0
    return len(values) / fsum(1 / value for value in values)


RAGAS_SCORE = Metric(
    name="ragas_score",
    measure=ragas_score,
    compute=mean_of_samples,
    reference="H2O Sonar's RAGAS Evaluator; ragas_score of Ragas 0.0",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    outputs=(
        Output("value", "higher"),
        *(replace(metric.outputs[0], name=metric.name) for metric, _ in PARTS),
    ),
    aliases=("RAGAS", "RAGAS Evaluator"),
    needs=("user_input", "response", "references", "retrieved_contexts"),
    asks=ANSWER_RELEVANCY.asks,
    prompts=tuple(dict.fromkeys(name for metric, _ in PARTS for name in metric.prompts)),
    threshold=0.75,
)
