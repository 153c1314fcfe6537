"""Rubrics that stand in a column: each sample is judged by its own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from valor_cli.evaluators.judge.evidence.conversation import shortened
from valor_cli.evaluators.judge.evidence.reply_readings import Judged
from valor_cli.evaluators.judge.evidence.sample import Sample
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.verdicts import verdict
from valor_cli.metric import written
from valor_cli.results import Verdict

PLACEHOLDER = "rubric_of_the_sample"
"""The field of the rubric in a prompt."""

BEHIND = f"""\
The rubric for this answer alone, which says what it is judged by:
{{{PLACEHOLDER}}}"""

ASSERTIONS = """\
Each item of the rubric is an assertion about the answer. Decide of each, in their order, whether \
the answer meets it.
Reply with one JSON object and nothing else: {"verdicts": [{"reason": "…", "verdict": 1}, …]}
There is one verdict for each item: 1 if it is met, 0 if not. The reason comes first, and says \
why, briefly."""


def rubric_of(sample: Sample, column: str) -> str | tuple[str, ...] | None:
    """The rubric of a sample: a text, or a list of assertions; None where it has none."""
    value = sample.more.get(column)
    text = "" if value is None else written(value).strip()
    if text.startswith("["):
        try:
            items = json.loads(text)
        except ValueError:
            return text
        if isinstance(items, list) and all(isinstance(one, str) for one in items):
            return tuple(one for one in map(str.strip, items) if one) or None
    return text or None


def asserted(assertions: Sequence[str], judged: Sequence[Judged]) -> Outcome:
    """The outcome of a sample whose assertions were judged: it passes if all are met."""
    met = sum(one.verdict for one in judged)
    first = next((one for one in judged if not one.verdict), judged[0])
    outcome = verdict(
        met == len(judged),
        reason=shortened(first.reason) or f"{met} of {len(judged)} assertions are met",
        details={"met": met, "assertions": len(judged)},
    )
    return outcome._replace(
        verdicts=tuple(
            Verdict(text, "met" if one.verdict else "not met", one.verdict, one.reason)
            for text, one in zip(assertions, judged, strict=True)
        )
    )
