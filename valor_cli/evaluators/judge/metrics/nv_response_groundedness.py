"""Response groundedness (NVIDIA): support of the response by the contexts."""

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
PROMPTS = ("nv_response_groundedness_1", "nv_response_groundedness_2")


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
    sample = asking.sample
    response = sample.response
    contexts = sample.retrieved
    if contexts is None:
        raise Missing(ABSENT["retrieved_contexts"])
    answer, joined = response.strip(), "\n".join(contexts).strip()
    if not answer:
        return decided_by_texts(0.0, "the response is blank")
    if not joined:
        return decided_by_texts(0.0, "the contexts are blank")
    if answer in joined:
        return decided_by_texts(1.0, "the response stands in the contexts word for word")
    found = await dual_rating(
        asking,
        PROMPTS,
        SCALE,
        judge_retries=judge_retries,
        response=UntrustedText(response),
        contexts=Passages(contexts),
    )
    return found.outcome


NV_RESPONSE_GROUNDEDNESS = Metric(
    name="nv_response_groundedness",
    measure=nv_response_groundedness,
    compute=mean_of_samples,
    reference="ragas.metrics.ResponseGroundedness",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("response", "retrieved_contexts"),
    asks=("judge",),
    aliases=("NVIDIA ResponseGroundedness", "ResponseGroundedness"),
    prompts=PROMPTS,
)
