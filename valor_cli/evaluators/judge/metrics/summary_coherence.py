"""Summary coherence: a judge's rating of key points and coherence."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation, shortened
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import rating
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.models.judge.prompts import UntrustedText
from valor_cli.results import Verdict

SCALE = (1, 2, 3, 4, 5)


async def summary_coherence(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """A judge's rating of a summary, given its source, as an integer from 1 to 5.

    `user_input` holds the text, the response is the summary.

    Formula:
        value = mean over samples of the judge's rating, 1 to 5 points

    Pitfalls:
        Points, not a fraction. Judges tend to give 4 and 5, some more than others: compare models
        under one judge, held against people's ratings with `valor calibrate`. Coverage and
        coherence are one number here.

    Example:
        Ratings of 5, 4 and 3: 12 / 3 = 4 points.
    """
    source, summary = asking.sample.user_input, asking.sample.response
    found = await asking.ask(
        "summary_coherence",
        rating(SCALE),
        {"user_input": UntrustedText(source), "response": UntrustedText(summary)},
        retries=judge_retries,
    )
    words = f": {found.reason}" if found.reason else ""
    return Outcome(
        {"value": float(found.rating)},
        reason=shortened(f"rated {found.rating} of {SCALE[-1]}{words}"),
        details={"rating": found.rating, "reason": found.reason},
        verdicts=(Verdict("", str(found.rating), None, found.reason),),
    )


SUMMARY_COHERENCE = Metric(
    name="summary_coherence",
    measure=summary_coherence,
    compute=mean_of_samples,
    reference="valor-lite's SummaryCoherence",
    citation="Liu et al., G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, "
    "EMNLP 2023",
    outputs=(Output(bounds=(1, 5), unit="points"),),
    aliases=("SummaryCoherence",),
    needs=("user_input", "response"),
    asks=("judge",),
    prompts=("summary_coherence",),
)
