"""What a sample passes or fails by: one word that a judge replies, or a rating."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valor_cli.evaluators.judge.evidence.conversation import Conversation, shortened
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import word
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.evaluators.verdicts import RATES, verdict
from valor_cli.models.judge.prompts import Field
from valor_cli.results import Findings, Verdict

RATING = "rating"
"""The output with the mean rating."""


async def ask_one_word(
    asking: Conversation,
    prompt: str,
    *,
    passes: str,
    fails: str,
    judge_retries: JudgeRetries,
    **fields: Field,
) -> Outcome:
    """Ask for one of two words.

    Args:
        asking: The conversation about the sample.
        prompt: The name of the prompt.
        passes, fails: The words, and what they mean for the sample.
        judge_retries: How often to ask again; None: as the config says.
        fields: Values of the placeholders of the prompt.
    """
    found = await asking.ask(prompt, word((passes, fails)), fields, retries=judge_retries)
    passed = found.word == passes
    return word_outcome(found.word, found.reason, passed=passed, details={"word": found.word})


def word_outcome(said: str, reason: str, *, passed: bool, details: Mapping[str, Any]) -> Outcome:
    """The outcome of a sample for which a judge returned a word or a number."""
    outcome = verdict(
        passed, reason=shortened(reason) or f'the judge said "{said}"', details=details
    )
    return outcome._replace(verdicts=(Verdict("", said, passed, reason),))


def rating_outcome(
    rating: float, reason: str, *, passed: bool, details: Mapping[str, Any]
) -> Outcome:
    """The outcome of a sample that a judge rated."""
    said = int(rating) if rating == int(rating) else rating
    outcome = word_outcome(f"{said:g}", reason, passed=passed, details={"rating": said, **details})
    return outcome._replace(values={**outcome.values, RATING: float(rating)})


def rates_and_rating(sampled: Sampled) -> Findings:
    """The pass rates of samples with input, and the mean of the ratings that could be parsed."""
    rates = [sampled.rate(output.name) for output in RATES]
    return sampled.findings([*rates, *sampled.means(RATING)])
