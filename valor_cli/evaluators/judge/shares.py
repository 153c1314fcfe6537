"""Texts and a judge's verdicts on them come in; the share of those it says yes to goes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from valor_cli.evaluators.judge.readings import Judged
from valor_cli.evaluators.samples import Outcome
from valor_cli.results import Verdict


@dataclass(frozen=True, slots=True)
class Trait:
    """What a judge looks for in every text, in words.

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
        """The verdict in its word."""
        return self.yes if judged.verdict else self.no

    def said(self, text: str, judged: Judged) -> Verdict:
        """The verdict on a text, as reports show it."""
        good = judged.verdict == self.good
        return Verdict(text, self.word(judged), good, judged.reason)

    def told(self, at: int, text: str, judged: Judged) -> Mapping[str, Any]:
        """The verdict on the text at a position, as `Outcome.details` has it."""
        named = at + 1 if self.numbered else text
        return {self.thing: named, "verdict": self.word(judged), "reason": judged.reason}


def share(trait: Trait, texts: Sequence[str], found: Sequence[Judged]) -> Outcome:
    """The share of some texts, one at least, that the judge says yes to."""
    pairs = list(zip(texts, found, strict=True))
    count = sum(judged.verdict for judged in found)
    return Outcome(
        {"value": count / len(pairs)},
        reason=f"{count} of {len(pairs)} {trait.things} {trait.yes}",
        details={
            trait.things: [trait.told(at, *pair) for at, pair in enumerate(pairs)],
        },
        verdicts=tuple(trait.said(*pair) for pair in pairs),
    )
