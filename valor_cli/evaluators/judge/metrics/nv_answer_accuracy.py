"""Answer accuracy (NVIDIA): agreement of the response with a reference."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation, ParseFailure
from valor_cli.evaluators.judge.evidence.dual_rating import DualRating, dual_rating
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import UntrustedText

SCALE = (0, 2, 4)
PROMPTS = ("nv_answer_accuracy_1", "nv_answer_accuracy_2")

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
                    PROMPTS,
                    SCALE,
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


NV_ANSWER_ACCURACY = Metric(
    name="nv_answer_accuracy",
    measure=nv_answer_accuracy,
    compute=mean_of_samples,
    reference="ragas.metrics.AnswerAccuracy",
    citation="NVIDIA's metrics in ragas, docs.ragas.io",
    needs=("user_input", "response", "references"),
    asks=("judge",),
    aliases=("NVIDIA AnswerAccuracy", "AnswerAccuracy"),
    prompts=PROMPTS,
)
