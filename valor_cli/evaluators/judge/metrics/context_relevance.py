"""Context relevance: the share of contexts that are relevant to the question."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Passages, UntrustedText

RELEVANT = Trait("context", "contexts", "relevant", "irrelevant", numbered=True)


async def context_relevance(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the retrieved contexts that are relevant to the question.

    A context is relevant when any part of it is. The judge is asked once, about all of them.

    Formula:
        value = relevant contexts / retrieved contexts

    Pitfalls:
        Relevant is not sufficient: contexts on the subject may all lack the answer. Ranks do not
        count, and a single context is 0 or 1. One call judges all contexts; of very many some
        judges lose count, which is a parse failure in the end.

    Example:
        2 of 5 contexts are relevant: 2 / 5 = 0.4.
    """
    user_input, contexts = asking.sample.user_input, asking.sample.contexts
    found = await asking.ask(
        "context_relevance",
        verdicts(len(contexts)),
        {"user_input": UntrustedText(user_input), "contexts": Passages(contexts)},
        retries=judge_retries,
    )
    return share(RELEVANT, contexts, found)


CONTEXT_RELEVANCE = Metric(
    name="context_relevance",
    measure=context_relevance,
    compute=mean_of_samples,
    reference="valor-lite's ContextRelevance; DeepEval's ContextualRelevancyMetric",
    citation="https://striveworks.github.io/valor",
    aliases=("ContextRelevance",),
    needs=("user_input", "retrieved_contexts"),
    asks=("judge",),
    prompts=("context_relevance",),
)
