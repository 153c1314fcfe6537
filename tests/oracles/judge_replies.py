"""What a judge replies, as METRICS has the forms of replies; and what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.oracles.judges import Judging
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.results import STATUSES

UNFIT = "I would rather not say."
"""A reply that fits no form."""


def statements(*texts: str) -> str:
    """Statements, claims or opinions."""
    return json.dumps({"statements": texts})


def verdicts(*words: int, contexts: Sequence[int | None] | None = None) -> str:
    """Verdicts with the reasons r1, r2 …, and the contexts they name if any."""
    said = [{"reason": f"r{at}", "verdict": word} for at, word in enumerate(words, 1)]
    if contexts is not None:
        said = [{**one, "context": number} for one, number in zip(said, contexts, strict=True)]
    return json.dumps({"verdicts": said})


def verdict(word: int, reason: str = "because") -> str:
    """A verdict on one context."""
    return json.dumps({"reason": reason, "verdict": word})


def compared(tp: Sequence[str], fp: Sequence[str], fn: Sequence[str]) -> str:
    """Statements of a response beside those of a reference."""
    return json.dumps({"TP": list(tp), "FP": list(fp), "FN": list(fn)})


def question(text: str, noncommittal: int = 0) -> str:
    """A question made up for a response."""
    return json.dumps({"question": text, "noncommittal": noncommittal})


def sentences(*texts: str) -> str:
    """Copied sentences."""
    return json.dumps({"sentences": texts})


def rating(number: float, reason: str = "because") -> str:
    """A rating."""
    return json.dumps({"reason": reason, "rating": number})


def asked(judging: Judging) -> list[str]:
    """The prompts that were asked, in their order."""
    return [request.purpose.prompt for request in judging.requests]


def questions(judging: Judging) -> list[str]:
    """What was said to the judge last in each request."""
    return [request.messages[-1].content for request in judging.requests]


def outcome(judging: Judging, sample: int = 0, call: int = 0) -> Outcome:
    """What became of a sample under a call; outputs without a value left out."""
    found = judging.outcomes[call]
    values = {name: float(column[sample]) for name, column in found.columns.items()}
    return Outcome(
        {name: value for name, value in values.items() if value == value},
        STATUSES[found.status[sample]],
        found.reasons[sample],
        found.details[sample],
        found.marks[sample],
        found.verdicts[sample] if found.verdicts else (),
        found.asked[sample] if found.asked else None,
    )
