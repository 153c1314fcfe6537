"""NVIDIA's metrics: answer accuracy, context relevance and response groundedness by two ratings."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation, ParseFailure
from valor_cli.evaluators.judge.evidence.dual_rating import (
    DualRating,
    decided_by_texts,
    dual_rating,
)
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.evaluators.missing_inputs import ABSENT
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Passages, UntrustedText

SCALE = (0, 1, 2)
SCALE_OF_ANSWERS = (0, 2, 4)
ACCURACY_PROMPTS = ("nv_answer_accuracy_1", "nv_answer_accuracy_2")
RELEVANCE_PROMPTS = ("nv_context_relevance_1", "nv_context_relevance_2")
GROUNDEDNESS_PROMPTS = ("nv_response_groundedness_1", "nv_response_groundedness_2")

Found = list[DualRating | ParseFailure]
"""By reference, what came of it."""


async def nv_answer_accuracy(asking: Conversation, *, judge_retries: JudgeRetries = 4) -> Outcome:
    """Agreement of the response with the reference: mean of two ratings of 0, 2 or 4, over 4.

    Two prompts are asked; in the second one response and reference change places. A rating that
    cannot be read leaves the other to stand alone; two are a parse failure. Of several references
    each is asked about, two calls each, and the best one counts (of equal ones the first); one
    whose ratings cannot be read is passed over.

    Formula:
        value = (r₁ + r₂) / (2 · 4), the ratings r of 0, 2 or 4; the best reference

    Pitfalls:
        Coarse: a sample has 0, 0.25, 0.5, 0.75 or 1, so that small data sets move in jumps. It is
        agreement with the reference, right or wrong. Two calls a reference, each tried again up to
        `judge_retries` times.

    Example:
        Ratings of 4 and 2: 6 / 8 = 0.75.
    """
    sample = asking.sample
    question, response, references = sample.user_input, sample.response, sample.references
    found: Found = []
    for reference in references:
        try:
            found.append(
                await dual_rating(
                    asking,
                    ACCURACY_PROMPTS,
                    SCALE_OF_ANSWERS,
                    judge_retries=judge_retries,
                    user_input=UntrustedText(question),
                    response=UntrustedText(response),
                    reference=UntrustedText(reference),
                )
            )
        except ParseFailure as failure:
            found.append(failure)
    return _best(found, references)


def _best(found: Found, references: tuple[str, ...]) -> Outcome:
    """The outcome of the reference that the response agrees with most.

    Raises:
        ParseFailure: No rating of any reference could be read.
    """
    read = {at: one for at, one in enumerate(found) if isinstance(one, DualRating)}
    if not read:
        several = len(found) > 1
        told = (
            f"reference {at + 1}: {one}" if several else str(one) for at, one in enumerate(found)
        )
        raise ParseFailure("; ".join(told))
    best = max(read, key=lambda at: read[at].value)
    outcome = read[best].outcome
    details = {**(outcome.details or {}), "reference": best}
    if len(found) == 1:
        return outcome._replace(details=details)
    return outcome._replace(
        details={
            **details,
            "references": [
                {"unreadable": str(one)}
                if isinstance(one, ParseFailure)
                else {"value": one.value, "ratings": one.details}
                for one in found
            ],
        },
        verdicts=tuple(
            verdict for at, one in read.items() for verdict in one.verdicts(references[at])
        ),
    )


async def nv_context_relevance(asking: Conversation, *, judge_retries: JudgeRetries = 4) -> Outcome:
    """Relevance of the retrieved contexts to the question: mean of two ratings, over 2.

    Two prompts, each about all contexts together, ask for 0 (not relevant), 1 (partly) or 2. A
    rating that cannot be read leaves the other to stand alone; two are a parse failure. Without a
    call it is 0 where, in this order, the question is blank; the contexts are, an empty list
    among them; both are the same text; the contexts stand inside the question. For that the
    contexts are joined by line breaks, and white space around either text does not count.

    Formula:
        value = (r₁ + r₂) / (2 · 2), the ratings r of 0, 1 or 2

    Pitfalls:
        All contexts are rated as one: what answers the question may stand among any amount of
        noise, and its rank does not count. A sample has one of five values. Empty retrieval is 0
        here and has no value in most other metrics of contexts.

    Example:
        Ratings of 2 and 1: 3 / 4 = 0.75.
    """
    question, contexts = asking.sample.user_input, _contexts(asking.sample)
    if why := _irrelevant(question.strip(), "\n".join(contexts).strip()):
        return decided_by_texts(0.0, why)
    found = await dual_rating(
        asking,
        RELEVANCE_PROMPTS,
        SCALE,
        judge_retries=judge_retries,
        user_input=UntrustedText(question),
        contexts=Passages(contexts),
    )
    return found.outcome


def _irrelevant(question: str, contexts: str) -> str:
    """Why contexts are irrelevant without asking a judge; empty if that is open."""
    if not question:
        return "the question is blank"
    if not contexts:
        return "the contexts are blank"
    if question == contexts:
        return "the contexts are the question itself"
    return "the contexts stand inside the question" if contexts in question else ""


async def nv_response_groundedness(
    asking: Conversation, *, judge_retries: JudgeRetries = 4
) -> Outcome:
    """Support of the response by the retrieved contexts: mean of two ratings, over 2.

    Two prompts, each about all contexts together, ask for 0 (not at all), 1 (partly) or 2. A
    rating that cannot be read leaves the other to stand alone; two are a parse failure. Without a
    call it is 0 where the response or the contexts are blank, an empty list among them, and then 1
    where the response stands in the contexts word for word. For that the contexts are joined by
    line breaks, and white space around either text does not count.

    Formula:
        value = (r₁ + r₂) / (2 · 2), the ratings r of 0, 1 or 2

    Pitfalls:
        A response that stands in the contexts letter for letter has 1 without a call: "no" stands
        in "know". One rating for a whole response hides a single unsupported sentence;
        `faithfulness` counts claims. A sample has one of five values.

    Example:
        Ratings of 1 and 1: 2 / 4 = 0.5.
    """
    response, contexts = asking.sample.response, _contexts(asking.sample)
    answer, joined = response.strip(), "\n".join(contexts).strip()
    if not answer:
        return decided_by_texts(0.0, "the response is blank")
    if not joined:
        return decided_by_texts(0.0, "the contexts are blank")
    if answer in joined:
        return decided_by_texts(1.0, "the response stands in the contexts word for word")
    found = await dual_rating(
        asking,
        GROUNDEDNESS_PROMPTS,
        SCALE,
        judge_retries=judge_retries,
        response=UntrustedText(response),
        contexts=Passages(contexts),
    )
    return found.outcome


def _contexts(sample: Sample) -> tuple[str, ...]:
    """The retrieved contexts, of which there may be none.

    Raises:
        Missing: The sample has no list of them.
    """
    if sample.retrieved is None:
        raise Missing(ABSENT["retrieved_contexts"])
    return sample.retrieved


NV_ANSWER_ACCURACY = Metric(
    name="nv_answer_accuracy",
    measure=nv_answer_accuracy,
    compute=mean_of_samples,
    reference="ragas.metrics.AnswerAccuracy",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("user_input", "response", "references"),
    aliases=("NVIDIA AnswerAccuracy", "AnswerAccuracy"),
    asks=("judge",),
    prompts=ACCURACY_PROMPTS,
)
NV_CONTEXT_RELEVANCE = Metric(
    name="nv_context_relevance",
    measure=nv_context_relevance,
    compute=mean_of_samples,
    reference="ragas.metrics.ContextRelevance",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("user_input", "retrieved_contexts"),
    aliases=("NVIDIA ContextRelevance",),
    asks=("judge",),
    prompts=RELEVANCE_PROMPTS,
)
NV_RESPONSE_GROUNDEDNESS = Metric(
    name="nv_response_groundedness",
    measure=nv_response_groundedness,
    compute=mean_of_samples,
    reference="ragas.metrics.ResponseGroundedness",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("response", "retrieved_contexts"),
    aliases=("NVIDIA ResponseGroundedness", "ResponseGroundedness"),
    asks=("judge",),
    prompts=GROUNDEDNESS_PROMPTS,
)
