"""Text matching: whether texts fulfil a condition on required and forbidden strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated, Any

from pydantic import AfterValidator

from valor_cli.errors import printable
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.evaluators.verdicts import OUTPUTS, RATES, unreadable, verdict
from valor_cli.kernels.patterns.conditions import ConditionError, ConditionResult, parse_condition
from valor_cli.kernels.patterns.regex import Patience, PatternTimeout
from valor_cli.kernels.secrets.spans import Span
from valor_cli.metric import ByParameters, Metric
from valor_cli.results import Mark


def _parsed(condition: str) -> str:
    """The condition as it is; refused where it cannot be read."""
    parse_condition(condition)
    return condition


ConditionText = Annotated[str, AfterValidator(_parsed)]


def text_matching(texts: Texts, *, condition: ConditionText | None = None) -> Outcomes:
    """Whether the response fulfils a condition on the strings and patterns in it.

    A condition is made of `"…"` and `regexp("…")` with AND, OR, NOT and brackets, and holds for
    all samples; without one each sample has its own. The retrieved contexts are judged
    likewise, all of a sample as one text, a line break between them; a sample that retrieved
    nothing (an empty list) has the empty text. A pattern may take a second of processor time on a
    text. A sample that needs longer is a parse failure, and so is, once a pattern took too long on
    three, any that is as long as one of those.

    Formula:
        a sample passes if the condition holds for its response
        pass = samples that pass / samples with a response and a condition
        retrieval_failures = samples whose contexts fail it / the same samples

    Pitfalls:
        Strings are case-sensitive and found inside words: "cat" is in "education". It sees what
        stands there, not what is said of it: "It is not Paris." has "Paris". Contexts do not change
        `pass`.

    Example:
        Under `"Paris" AND NOT "sorry"` the response "It is Paris." passes and "Paris, I am sorry."
        does not: pass = 1 / 2 = 0.5.
    """
    data = texts.data
    patience = Patience()
    given = [condition] * data.unit_count if condition is not None else data.condition
    return Outcomes.of(
        [
            missing("no response")
            if response is None
            else missing("no condition")
            if asked is None
            else _judged(asked, response, contexts, patience)
            for asked, response, contexts in zip(
                given, data.response, data.retrieved_contexts, strict=True
            )
        ],
        OUTPUTS,
    )


def _judged(
    asked: str, response: str, contexts: Sequence[str] | None, patience: Patience
) -> Outcome:
    """The result of a condition on a response, and on the contexts if any."""
    try:
        condition = parse_condition(asked)
        answer = condition.judged(response, patience)
    except (ConditionError, PatternTimeout) as why:
        return unreadable(printable(str(why)))
    marks = [Mark("response", *span) for span in answer.spans]
    told = list(answer.faults)
    passed: bool | None = None
    if contexts is not None:
        try:
            found = condition.judged("\n".join(contexts), patience)
        except PatternTimeout as why:
            return unreadable(printable(f"contexts: {why}"))
        passed = found.holds
        told += [f"contexts: {fault}" for fault in found.faults]
        marks += _in_contexts(contexts, found)
    return verdict(
        answer.holds,
        contexts_passed=passed,
        reason=printable("; ".join(told)) or None,
        details={"found": [mark_of(mark) for mark in marks]} if marks else None,
        marks=tuple(marks),
    )


def mark_of(mark: Mark) -> Mapping[str, Any]:
    """A span for `Outcome.details`."""
    return {"field": mark.field, "start": mark.start, "end": mark.end, "kind": mark.kind}


def _in_contexts(contexts: Sequence[str], found: ConditionResult) -> list[Mark]:
    """Places in the joined contexts as places in each, those that reach over a border in parts."""
    starts = [0, *accumulate(len(context) + 1 for context in contexts)]
    marks = []
    at = 0
    for span in found.spans:
        while starts[at + 1] <= span.start:
            at += 1
        marks += _parts(span, at, contexts, starts)
    return marks


def _parts(span: Span, at: int, contexts: Sequence[str], starts: Sequence[int]) -> list[Mark]:
    parts = []
    while at < len(contexts) and starts[at] < span.end:
        start = max(span.start - starts[at], 0)
        end = min(span.end - starts[at], len(contexts[at]))
        if start < end:
            parts.append(Mark(f"retrieved_contexts[{at}]", start, end, span.kind))
        at += 1
    return parts


def _needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    return () if parameters["condition"] is not None else ("condition",)


TEXT_MATCHING = Metric(
    name="text_matching",
    measure=text_matching,
    compute=rate_of_samples,
    reference="H2O Sonar's Text Matching Evaluator (RagStrStrEvaluator)",
    citation="https://docs.h2o.ai/h2o-sonar",
    outputs=RATES,
    aliases=("Text Matching Evaluator", "TextMatching"),
    needs=("response",),
    by_parameters=ByParameters(needs=_needs),
    threshold=0.5,
)
