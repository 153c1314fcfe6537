"""Average the ratings of two prompts.

As in NVIDIA's metrics in ragas: each rating is divided by the top of its scale, and if one cannot
be parsed the other is used alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from valor_cli.evaluators.judge.evidence.conversation import Conversation, ParseFailure, shortened
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import rating
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.judge.prompts import Field
from valor_cli.results import Verdict


class RatingReply(NamedTuple):
    """The result of one prompt: a rating with its reason, or why none could be parsed."""

    prompt: str
    rating: int | None
    reason: str


class DualRating(Struct, frozen=True):
    """The results of both prompts, at least one of them a rating.

    Attributes:
        heard: In the order of the calls.
        top: The highest rating there is.
    """

    heard: tuple[RatingReply, ...]
    top: int

    @property
    def value(self) -> float:
        """Mean of the ratings, as a fraction of the scale's top."""
        return sum(self._ratings) / (self.top * len(self._ratings))

    @property
    def reason(self) -> str:
        """The ratings and their reasons."""
        told = " and ".join(map(str, self._ratings))
        words = " / ".join(
            one.reason for one in self.heard if one.rating is not None and one.reason
        )
        unread = "".join(
            f"; {one.prompt} could not be read" for one in self.heard if one.rating is None
        )
        return shortened(f"rated {told} of {self.top}{unread}{words and f': {words}'}")

    @property
    def details(self) -> list[dict[str, Any]]:
        """The result of each prompt, as JSON."""
        return [
            {"prompt": one.prompt, "rating": one.rating}
            if one.rating is not None
            else {"prompt": one.prompt, "rating": None, "unreadable": one.reason}
            for one in self.heard
        ]

    def verdicts(self, text: str = "") -> tuple[Verdict, ...]:
        """The ratings of a text; of the response if no text is given."""
        return tuple(
            Verdict(text, str(one.rating), _good(one.rating, self.top), one.reason)
            for one in self.heard
            if one.rating is not None
        )

    @property
    def outcome(self) -> Outcome:
        """The outcome of a metric that uses one such pair."""
        return Outcome(
            {"value": self.value},
            reason=self.reason,
            details={"ratings": self.details, "top": self.top},
            verdicts=self.verdicts(),
        )

    @property
    def _ratings(self) -> list[int]:
        return [one.rating for one in self.heard if one.rating is not None]


async def dual_rating(
    asking: Conversation,
    prompts: Sequence[str],
    scale: Sequence[int],
    *,
    judge_retries: JudgeRetries,
    **fields: Field,
) -> DualRating:
    """Ask both prompts, in order.

    Args:
        asking: The conversation about the sample.
        prompts: Their names.
        scale: The ratings there are, ascending.
        judge_retries: How often to ask each again; None: as the config says.
        fields: Values of the placeholders of both.

    Raises:
        ParseFailure: Neither rating could be read.
        NoAnswer, Stopped: As `Conversation.ask`.
    """
    heard = []
    for prompt in prompts:
        try:
            found = await asking.ask(prompt, rating(scale), fields, retries=judge_retries)
            heard.append(RatingReply(prompt, found.rating, found.reason))
        except ParseFailure as failure:
            heard.append(RatingReply(prompt, None, str(failure)))
    if all(one.rating is None for one in heard):
        raise ParseFailure("; ".join(f"{one.prompt}: {one.reason}" for one in heard))
    return DualRating(tuple(heard), max(scale))


def decided_by_texts(value: float, why: str) -> Outcome:
    """The outcome of a sample that is decided by its texts, without a call."""
    return Outcome({"value": value}, reason=why, details={"ratings": [], "decided": why})


def _good(rating: int, top: int) -> bool | None:
    """Whether a rating speaks for the sample; one between the ends speaks neither way."""
    return {0: False, top: True}.get(rating)
