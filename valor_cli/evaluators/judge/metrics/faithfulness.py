"""Faithfulness: the share of claims that the retrieved contexts support.

A claim that the contexts do not mention counts against the response, as in Ragas; DeepEval counts
it in favour.
"""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import BatchSize, JudgeRetries, ValueIfNone
from valor_cli.evaluators.judge.evidence.reply_readings import Judged, verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share, statements_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Numbered, Passages

SUPPORTED = Trait("claim", "claims", "supported", "unsupported")
NO_CLAIMS = "the response makes no claims"


async def faithfulness(
    asking: Conversation,
    *,
    batch_size: BatchSize = 5,
    empty: ValueIfNone = None,
    judge_retries: JudgeRetries = None,
) -> Outcome:
    """The share of the response's claims that the retrieved contexts imply.

    The judge lists the claims, then gives a verdict on `batch_size` of them at a time. A claim that
    the contexts contradict counts against the response, and so does one they say nothing about.
    Without claims the metric is not applicable, or the value is `empty`.

    Formula:
        value = claims that the contexts imply / claims of the response

    Pitfalls:
        True to the contexts, not to the world: a response that repeats a wrong context has 1. A
        refusal may make no claims and then does not count, so that a model which often refuses
        looks good: look at `n`. One call for the claims, one for each `batch_size` of them.

    Example:
        The contexts imply 4 of 5 claims: 4 / 5 = 0.8.
    """
    response, contexts = asking.sample.response, asking.sample.contexts
    claims = await statements_of(asking, response, judge_retries)
    if not claims:
        if empty is None:
            return Outcome(status="not_applicable", reason=NO_CLAIMS)
        return Outcome({"value": float(empty)}, reason=NO_CLAIMS)
    found: list[Judged] = []
    for start in range(0, len(claims), batch_size):
        batch = claims[start : start + batch_size]
        judged = await asking.ask(
            "faithfulness",
            verdicts(len(batch)),
            {"claims": Numbered(batch), "contexts": Passages(contexts)},
            retries=judge_retries,
        )
        found += judged
    return share(SUPPORTED, claims, found)


FAITHFULNESS = Metric(
    name="faithfulness",
    measure=faithfulness,
    compute=mean_of_samples,
    reference="valor-lite's Faithfulness; Ragas' Faithfulness; H2O Sonar's Faithfulness Evaluator",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    aliases=("Faithfulness", "Faithfulness Evaluator"),
    needs=("response", "retrieved_contexts"),
    asks=("judge",),
    prompts=("statements", "faithfulness"),
    threshold=0.75,
)
