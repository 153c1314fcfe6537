"""Answer relevancy: similarity of the question to those that the response answers."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries, QuestionCount
from valor_cli.evaluators.judge.evidence.reply_readings import Question, question
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.evaluators.missing_inputs import BLANK
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.vectors.cosines import cosines
from valor_cli.metric import Metric, Output
from valor_cli.models.judge.prompts import TrustedText, UntrustedText
from valor_cli.results import Verdict


async def answer_relevancy(
    asking: Conversation,
    *,
    num_questions: QuestionCount = 3,
    penalize_noncommittal: bool = True,
    judge_retries: JudgeRetries = None,
) -> Outcome:
    """Mean cosine of the question with questions generated from the response.

    The judge makes up `num_questions` questions that the response would answer, one at a time, and
    says whether the response evades. The cosine of vectors may be negative, and is not clipped. A
    response that evades whenever the judge was asked has 0, unless `penalize_noncommittal` is off;
    a blank response has 0, and the judge is not asked. A blank question is missing input.

    Formula:
        value = mean over made-up questions q of cos(question asked, q)
        value = 0 where the response is noncommittal each time

    Pitfalls:
        Whether the response fits the question, not whether it is right; an honest "I do not know"
        has 0. The scale is the embedder's: good answers seldom reach 1, bad ones seldom 0.
        `num_questions` calls a sample.

    Example:
        Three questions with the cosines 0.9, 0.8 and 0.7: 2.4 / 3 = 0.8.
    """
    user_input, response = question_of(asking.sample), asking.sample.response
    if not response.strip():
        return Outcome({"value": 0.0}, reason="the response is empty")
    found = [
        await asking.ask(
            "answer_relevancy",
            question(),
            {
                "response": UntrustedText(response),
                "draft": TrustedText(f"{at + 1} of {num_questions}"),
            },
            retries=judge_retries,
            variant=at,
        )
        for at in range(num_questions)
    ]
    if penalize_noncommittal and all(one.noncommittal for one in found):
        return _outcome(0.0, "the response is noncommittal", found, [None] * len(found))
    vectors = await asking.embed([user_input, *(one.question for one in found)])
    nearness = cosines(vectors[0], vectors[1:]).tolist()
    value = fsum(nearness) / len(nearness)
    evasive = sum(one.noncommittal for one in found)
    reason = f"the questions it answers have cosine {value:.3f} with the one asked"
    if evasive:
        reason += f"; noncommittal in {evasive} of {len(found)}"
    return _outcome(value, reason, found, nearness)


def question_of(sample: Sample) -> str:
    """The user input, not blank, since a blank text has no vector.

    Raises:
        Missing: Nothing.
    """
    if not sample.user_input.strip():
        raise Missing(BLANK["user_input"])
    return sample.user_input


def _outcome(
    value: float, reason: str, found: Sequence[Question], nearness: Sequence[float | None]
) -> Outcome:
    pairs = list(zip(found, nearness, strict=True))
    return Outcome(
        {"value": value},
        reason=reason,
        details={
            "questions": [
                {"question": one.question, "noncommittal": one.noncommittal, "cosine": cosine}
                for one, cosine in pairs
            ]
        },
        verdicts=tuple(
            Verdict(
                one.question,
                "noncommittal" if one.noncommittal else "committal",
                False if one.noncommittal else None,
                "" if cosine is None else f"cosine {cosine:.3f}",
            )
            for one, cosine in pairs
        ),
    )


ANSWER_RELEVANCY = Metric(
    name="answer_relevancy",
    measure=answer_relevancy,
    compute=mean_of_samples,
    reference="Ragas' ResponseRelevancy; H2O Sonar's Answer Relevancy Evaluator",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    outputs=(Output(bounds=(-1, 1)),),
    aliases=("AnswerRelevancy", "Answer Relevancy Evaluator"),
    needs=("user_input", "response"),
    prompts=("answer_relevancy",),
    asks=("judge", "embedder"),
    threshold=0.75,
)
