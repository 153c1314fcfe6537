"""Context relevance (NVIDIA): relevance of the retrieved contexts to the question."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.dual_rating import decided_by_texts, dual_rating
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.sample import Missing
from valor_cli.evaluators.missing_inputs import ABSENT
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Passages, UntrustedText

SCALE = (0, 1, 2)
PROMPTS = ("nv_context_relevance_1", "nv_context_relevance_2")


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
    sample = asking.sample
    question = sample.user_input
    contexts = sample.retrieved
    if contexts is None:
        raise Missing(ABSENT["retrieved_contexts"])
    if why := _irrelevant(question.strip(), "\n".join(contexts).strip()):
        return decided_by_texts(0.0, why)
    found = await dual_rating(
        asking,
        PROMPTS,
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


NV_CONTEXT_RELEVANCE = Metric(
    name="nv_context_relevance",
    measure=nv_context_relevance,
    compute=mean_of_samples,
    reference="ragas.metrics.ContextRelevance",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("user_input", "retrieved_contexts"),
    asks=("judge",),
    aliases=("NVIDIA ContextRelevance",),
    prompts=PROMPTS,
)
