"""The statements or opinions that a judge finds in a text, and the share of them it says yes to.

As in DeepEval an opinion is a personal belief or judgement: no statement of fact, be it wrong, and
nothing that the text reports of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.reply_readings import Judged, statements
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.judge.prompts import Field, UntrustedText
from valor_cli.results import Verdict


class Trait(Struct, frozen=True):
    """What a judge looks for in every text.

    Attributes:
        thing, things: What a text is, and several of them are.
        yes, no: What it is called when the verdict is 1, and when it is 0.
        good: Whether a yes speaks for the sample.
        numbered: Whether details name the texts by their numbers, from 1: they stand in the data.
    """

    thing: str
    things: str
    yes: str
    no: str
    good: bool = True
    numbered: bool = False

    def word(self, judged: Judged) -> str:
        """The verdict as a word."""
        return self.yes if judged.verdict else self.no

    def said(self, text: str, judged: Judged) -> Verdict:
        """The verdict on a text, for reports."""
        good = judged.verdict == self.good
        return Verdict(text, self.word(judged), good, judged.reason)

    def detail(self, at: int, text: str, judged: Judged) -> Mapping[str, Any]:
        """The verdict on the text at a position, for `Outcome.details`."""
        named = at + 1 if self.numbered else text
        return {self.thing: named, "verdict": self.word(judged), "reason": judged.reason}


def share(trait: Trait, texts: Sequence[str], found: Sequence[Judged]) -> Outcome:
    """The share of texts, at least one, to which the judge says yes."""
    pairs = list(zip(texts, found, strict=True))
    count = sum(judged.verdict for judged in found)
    return Outcome(
        {"value": count / len(pairs)},
        reason=f"{count} of {len(pairs)} {trait.things} {trait.yes}",
        details={
            trait.things: [trait.detail(at, *pair) for at, pair in enumerate(pairs)],
        },
        verdicts=tuple(trait.said(*pair) for pair in pairs),
    )


async def statements_of(asking: Conversation, text: str, retries: int | None) -> tuple[str, ...]:
    """The statements of a text, each self-contained."""
    asked = asking.sample.asked
    fields: Mapping[str, Field] = {
        "user_input": None if asked is None else UntrustedText(asked),
        "text": UntrustedText(text),
    }
    return await parts_of(asking, "statements", text, fields, retries)


async def parts_of(
    asking: Conversation, prompt: str, text: str, fields: Mapping[str, Field], retries: int | None
) -> tuple[str, ...]:
    """What a judge lists of a text: its statements, or its opinions.

    All metrics share them; the first that needs them says how often to ask again. A blank text
    has none, and nobody is asked.
    """
    if not text.strip():
        return ()

    async def ask() -> tuple[str, ...]:
        return await asking.ask(prompt, statements(text), fields, retries=retries)

    return await asking.once((prompt, text), ask)
