"""Answer relevance: the share of statements that are relevant to the question."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share, statements_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Numbered, UntrustedText

RELEVANT = Trait("statement", "statements", "relevant", "irrelevant")


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
    return share(RELEVANT, statements, found)


ANSWER_RELEVANCE = Metric(
    name="answer_relevance",
    measure=answer_relevance,
    compute=mean_of_samples,
    reference="valor-lite's AnswerRelevance; DeepEval's AnswerRelevancyMetric",
    citation="https://striveworks.github.io/valor",
    aliases=("AnswerRelevance",),
    needs=("user_input", "response"),
    asks=("judge",),
    prompts=("statements", "answer_relevance"),
)
