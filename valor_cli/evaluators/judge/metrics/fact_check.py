"""Fact check: how factual a judge rates the response."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Interval

from valor_cli.evaluators.judge.evidence.conversation import Conversation, shortened
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import evaluation_score
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import UntrustedText
from valor_cli.results import Findings, Verdict

PROMPT = "fact_check"

GOOD = 0.75
"""The value from which on a verdict speaks for the sample, as H2O Sonar's threshold has it."""

Tools = tuple[dict[str, Any], ...]
MaxDatasetRows = Annotated[int, Interval(ge=1)]


async def fact_check(
    asking: Conversation,
    *,
    tools: Tools = (),
    max_dataset_rows: MaxDatasetRows | None = None,
    judge_retries: JudgeRetries = None,
) -> Outcome:
    """Factual correctness of the response from 0 to 1, by a judge.

    One call, which shows the user's input where there is one. `tools` are given to the judge as
    its provider's API has them: those that the provider itself runs, such as a search of the web.
    Without one the judge knows what its training taught it, and the report says so. Of a model's
    samples those behind the first `max_dataset_rows` are skipped.

    Formula:
        value = mean over samples of the judge's score, 0 to 1; 1: nothing is false

    Pitfalls:
        Without `tools` the judge checks from memory: what is recent, rare or private it guesses,
        and errors that it shares with the model it does not see. The score weighs how much a
        falsehood matters; it is no share of claims. A response without claims has 1.

    Example:
        Scores of 1, 0.5 and 0: 1.5 / 3 = 0.5.
    """
    sample = asking.sample
    if max_dataset_rows is not None and sample.row >= max_dataset_rows:
        return Outcome(status="skipped", reason="beyond max_dataset_rows")
    response = UntrustedText(sample.response)
    asked = None if sample.asked is None else UntrustedText(sample.asked)
    found = await asking.ask(
        PROMPT,
        evaluation_score(),
        {"user_input": asked, "response": response},
        retries=judge_retries,
        tools=tools,
    )
    said = f"{found.score:g}"
    return Outcome(
        {"value": found.score},
        reason=shortened(found.summary) or f"the judge said {said}",
        details={"evaluation_score": found.score, "evaluation_summary": found.summary},
        verdicts=(Verdict("", said, found.score >= GOOD, found.summary),),
    )


def mean_with_means(sampled: Sampled) -> Findings:
    """The mean over samples with a value, with a warning if the judge has no search tool."""
    told = () if sampled.parameters["tools"] else (_WITHOUT,)
    return sampled.findings(sampled.means(), warnings=told)


_WITHOUT = "asked a plain judge, without a tool to search with: it checks facts from memory"

FACT_CHECK = Metric(
    name="fact_check",
    measure=fact_check,
    compute=mean_with_means,
    reference="H2O Sonar's Fact-Check (Agent-based) Evaluator",
    citation="https://docs.h2o.ai/h2o-sonar",
    needs=("response",),
    asks=("judge",),
    aliases=("Fact-Check (Agent-based) Evaluator", "FactCheck"),
    prompts=(PROMPT,),
    threshold=0.75,
)
