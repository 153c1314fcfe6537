"""The share of statements or contexts to which a judge says yes: relevance and hallucination."""

from __future__ import annotations

from collections.abc import Mapping

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share, statements_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.models.judge.prompts import Field, Numbered, Passages, UntrustedText

RELEVANT_STATEMENT = Trait("statement", "statements", "relevant", "irrelevant")
RELEVANT = Trait("context", "contexts", "relevant", "irrelevant", numbered=True)
CONTRADICTED = Trait(
    "context", "contexts", "contradicted", "not contradicted", good=False, numbered=True
)


async def answer_relevance(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the response's statements that are relevant to the question.

    The judge lists the statements, then gives a verdict on each. Without statements the metric is
    not applicable.

    Formula:
        value = relevant statements / statements of the response

    Pitfalls:
        On the subject is not right: a false answer is as relevant as a true one. Answers of one
        statement are 0 or 1. Two calls. Not to be confused with `answer_relevancy`, which compares
        made-up questions with the one asked.

    Example:
        3 of 4 statements are relevant: 3 / 4 = 0.75.
    """
    user_input, response = asking.sample.user_input, asking.sample.response
    statements = await statements_of(asking, response, judge_retries)
    if not statements:
        return Outcome(status="not_applicable", reason="the response makes no statements")
    found = await asking.ask(
        "answer_relevance",
        verdicts(len(statements)),
        {"user_input": UntrustedText(user_input), "statements": Numbered(statements)},
        retries=judge_retries,
    )
    return share(RELEVANT_STATEMENT, statements, found)


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
    fields = {"user_input": UntrustedText(asking.sample.user_input)}
    return await _share_of_contexts(asking, "context_relevance", RELEVANT, fields, judge_retries)


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
    fields = {"response": UntrustedText(asking.sample.response)}
    return await _share_of_contexts(asking, "hallucination", CONTRADICTED, fields, judge_retries)


async def _share_of_contexts(
    asking: Conversation,
    prompt: str,
    trait: Trait,
    fields: Mapping[str, Field],
    retries: int | None,
) -> Outcome:
    """The share of the retrieved contexts to which the judge, asked once, says yes."""
    contexts = asking.sample.contexts
    found = await asking.ask(
        prompt,
        verdicts(len(contexts)),
        {**fields, "contexts": Passages(contexts)},
        retries=retries,
    )
    return share(trait, contexts, found)


ANSWER_RELEVANCE = Metric(
    name="answer_relevance",
    measure=answer_relevance,
    compute=mean_of_samples,
    reference="valor-lite's AnswerRelevance; DeepEval's AnswerRelevancyMetric",
    aliases=("AnswerRelevance",),
    citation="https://striveworks.github.io/valor",
    needs=("user_input", "response"),
    asks=("judge",),
    prompts=("statements", "answer_relevance"),
)
CONTEXT_RELEVANCE = Metric(
    name="context_relevance",
    measure=context_relevance,
    compute=mean_of_samples,
    reference="valor-lite's ContextRelevance; DeepEval's ContextualRelevancyMetric",
    aliases=("ContextRelevance",),
    citation="https://striveworks.github.io/valor",
    needs=("user_input", "retrieved_contexts"),
    asks=("judge",),
    prompts=("context_relevance",),
)
HALLUCINATION = Metric(
    name="hallucination",
    measure=hallucination,
    compute=mean_of_samples,
    reference="valor-lite's Hallucination; DeepEval's HallucinationMetric",
    outputs=(Output(better="lower"),),
    aliases=("Hallucination",),
    citation="https://striveworks.github.io/valor",
    needs=("response", "retrieved_contexts"),
    asks=("judge",),
    prompts=("hallucination",),
)
