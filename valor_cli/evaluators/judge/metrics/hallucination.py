"""Hallucination: the share of contexts that the response contradicts."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.models.judge.prompts import Passages, UntrustedText

CONTRADICTED = Trait(
    "context", "contexts", "contradicted", "not contradicted", good=False, numbered=True
)


async def hallucination(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the retrieved contexts that the response contradicts.

    The judge is asked once, about all of them. What the response adds without contradicting a
    context does not count; see faithfulness for that.

    Formula:
        value = contexts that the response contradicts / retrieved contexts

    Pitfalls:
        Inventions that no context speaks of do not count. It is divided by contexts, not by claims:
        the same contradiction is 0.5 of two contexts and 0.1 of ten, so compare at equal numbers of
        contexts. In `hallucination_hhem` higher is better.

    Example:
        The response contradicts 1 of 4 contexts: 1 / 4 = 0.25.
    """
    response, contexts = asking.sample.response, asking.sample.contexts
    found = await asking.ask(
        "hallucination",
        verdicts(len(contexts)),
        {"response": UntrustedText(response), "contexts": Passages(contexts)},
        retries=judge_retries,
    )
    return share(CONTRADICTED, contexts, found)


HALLUCINATION = Metric(
    name="hallucination",
    measure=hallucination,
    compute=mean_of_samples,
    reference="valor-lite's Hallucination; DeepEval's HallucinationMetric",
    citation="https://striveworks.github.io/valor",
    outputs=(Output(better="lower"),),
    aliases=("Hallucination",),
    needs=("response", "retrieved_contexts"),
    asks=("judge",),
    prompts=("hallucination",),
)
