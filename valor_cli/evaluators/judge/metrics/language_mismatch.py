"""Language mismatch: whether question and response are in one language, by a judge."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.one_word import ask_one_word
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.evaluators.verdicts import RATES
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import UntrustedText

PROMPT = "language_mismatch"


async def language_mismatch(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """Whether the response is in the language of the user input, by a judge.

    One call; the judge says "same" or "different", and same passes. Dialects and tones of one
    language are one. What the texts say does not matter. `language_consistency` tells languages
    without a judge, where the texts are long enough.

    Formula:
        a sample passes if the judge says "same"
        pass = samples that pass / samples judged, unreadable replies included

    Pitfalls:
        A translation that was asked for fails: leave such samples out. `pass` counts matches, so
        higher is better, despite the name. For texts of a sentence or more `language_consistency`
        needs no calls.

    Example:
        The judge says "same" of 19 of 20 samples: 19 / 20 = 0.95.
    """
    sample = asking.sample
    return await ask_one_word(
        asking,
        PROMPT,
        passes="same",
        fails="different",
        judge_retries=judge_retries,
        user_input=UntrustedText(sample.user_input),
        response=UntrustedText(sample.response),
    )


LANGUAGE_MISMATCH = Metric(
    name="language_mismatch",
    measure=language_mismatch,
    compute=rate_of_samples,
    reference="H2O Sonar's Language Mismatch (Judge) Evaluator",
    citation="https://docs.h2o.ai/h2o-sonar",
    outputs=RATES,
    aliases=("Language Mismatch (Judge) Evaluator", "LanguageMismatch"),
    needs=("user_input", "response"),
    asks=("judge",),
    prompts=(PROMPT,),
    threshold=0.5,
)
