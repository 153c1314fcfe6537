"""Context precision: whether useful contexts are ranked first."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import FirstContexts, JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdict
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.evaluators.judge.evidence.shares import Trait, share
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Numbered, UntrustedText

USEFUL = Trait("context", "contexts", "useful", "useless", numbered=True)


async def context_precision(
    asking: Conversation, *, top_n: FirstContexts = None, judge_retries: JudgeRetries = None
) -> Outcome:
    """Mean of precision@k over the ranks k of useful contexts.

    The judge is asked about one context at a time, in their order: is it useful for giving any of
    the references as an answer to the question? Without references the response stands in their
    place. Precision@k is the share of useful contexts among the first k. No useful context: 0.
    `top_n` looks at the first so many contexts alone.

    Formula:
        value = Σ over ranks k of useful contexts of P@k / number of useful contexts
        P@k = useful contexts among the first k / k

    Pitfalls:
        About the order, not the share: one useful context at rank 1 before nine useless ones has 1.
        Without references the response is the yardstick, and a context that led to a wrong answer
        counts as useful. One call a context.

    Example:
        Useful, useless, useful: (1/1 + 2/3) / 2 = 0.833.
    """
    sample = asking.sample
    user_input, contexts = sample.user_input, sample.contexts[:top_n]
    answers = _answers(sample)
    found = [
        await asking.ask(
            "context_precision",
            verdict(),
            {
                "user_input": UntrustedText(user_input),
                "references": Numbered(answers),
                "context": UntrustedText(context),
            },
            retries=judge_retries,
        )
        for context in contexts
    ]
    useful = [one.verdict for one in found]
    outcome = share(USEFUL, contexts, found)
    first = f", the first at rank {useful.index(True) + 1}" if any(useful) else ""
    return outcome._replace(
        values={"value": average_precision(useful)}, reason=f"{outcome.reason}{first}"
    )


def average_precision(useful: Sequence[bool]) -> float:
    """Mean of precision@k over the useful ranks; 0 if there are none."""
    ranks = [rank for rank, one in enumerate(useful, 1) if one]
    if not ranks:
        return 0.0
    return fsum(count / rank for count, rank in enumerate(ranks, 1)) / len(ranks)


def _answers(sample: Sample) -> tuple[str, ...]:
    """What an answer to the question is."""
    if sample.right:
        return sample.right
    if sample.answered is None:
        raise Missing("no reference, and no response in its place")
    if not sample.answered.strip():
        raise Missing("no reference, and the response in its place is empty")
    return (sample.answered,)


CONTEXT_PRECISION = Metric(
    name="context_precision",
    measure=context_precision,
    compute=mean_of_samples,
    reference="valor-lite's ContextPrecision; Ragas' ContextPrecision; H2O Sonar's Context "
    "Precision Evaluator",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    aliases=("ContextPrecision", "Context Precision Evaluator"),
    needs=("user_input", "retrieved_contexts"),
    asks=("judge",),
    prompts=("context_precision",),
    threshold=0.75,
)
