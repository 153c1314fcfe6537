"""Summarization judge: whether a judge rates a summary as good."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.one_word import ask_one_word
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.evaluators.verdicts import RATES
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import UntrustedText

PROMPT = "summarization_judge"


async def summarization_judge(
    asking: Conversation, *, judge_retries: JudgeRetries = None
) -> Outcome:
    """Whether the response is a good summary of the user input, by a judge.

    One call; the judge says "good" where the summary is comprehensive, concise, coherent and
    stands on its own, else "bad", and good passes. No reference summary is looked at: H2O Sonar's
    page asks for one, its prompt compares summary and document.

    Formula:
        a sample passes if the judge says "good"
        pass = samples that pass / samples judged, unreadable replies included

    Pitfalls:
        One word, no degrees: a summary with one fault fails like a useless one, and a lenient judge
        passes nearly all. Four qualities are one verdict; its reason says which failed. Hold the
        judge against people's verdicts with `valor calibrate`.

    Example:
        The judge says "good" of 7 of 10 summaries: 7 / 10 = 0.7.
    """
    sample = asking.sample
    return await ask_one_word(
        asking,
        PROMPT,
        passes="good",
        fails="bad",
        judge_retries=judge_retries,
        user_input=UntrustedText(sample.user_input),
        response=UntrustedText(sample.response),
    )


SUMMARIZATION_JUDGE = Metric(
    name="summarization_judge",
    measure=summarization_judge,
    compute=rate_of_samples,
    reference="H2O Sonar's Summarization (Judge) Evaluator",
    citation="https://docs.h2o.ai/h2o-sonar",
    outputs=RATES,
    aliases=("Summarization (Judge) Evaluator", "SummarizationJudge"),
    needs=("user_input", "response"),
    asks=("judge",),
    prompts=(PROMPT,),
    threshold=0.5,
)
