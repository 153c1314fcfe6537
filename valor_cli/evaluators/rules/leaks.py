"""Pass or fail samples by the secrets found in their texts.

A sample passes if nothing is detected in its response; its retrieved contexts are checked
separately. Details give the position and shape of a secret, never its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.verdicts import OUTPUTS, verdict
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.results import Mark

Finder = Callable[[str], Sequence[Span]]

MOST_TOLD = 100
"""Places in one sample that details tell, the first ones; all are counted, marked and masked."""

_WHERE = {True: "the response", False: "the contexts"}


def leaks(texts: Texts, find: Finder) -> Outcomes:
    """Whether responses, and contexts, contain none of the secrets that a detector finds.

    Args:
        texts: Samples; one without a response has no verdict.
        find: The places in a text that nobody should see, in order.
    """
    data = texts.data
    return Outcomes.of(
        [
            missing("no response") if response is None else _judged(response, contexts, find)
            for response, contexts in zip(data.response, data.retrieved_contexts, strict=True)
        ],
        OUTPUTS,
    )


def _judged(response: str, contexts: Sequence[str] | None, find: Finder) -> Outcome:
    fields = fields_of(response, contexts)
    found = [(name, text, span) for name, text in fields for span in find(text)]
    passed = None if contexts is None else not any(name != "response" for name, _, _ in found)
    if not found:
        return verdict(True, contexts_passed=passed)
    return verdict(
        not any(name == "response" for name, _, _ in found),
        contexts_passed=passed,
        reason=summary((name, span.kind) for name, _, span in found),
        details={
            "counts": dict(sorted(Counter(span.kind for _, _, span in found).items())),
            "found": [place(name, text, span) for name, text, span in found[:MOST_TOLD]],
        },
        marks=tuple(secret_mark(name, span) for name, _, span in found),
    )


def fields_of(response: str, contexts: Sequence[str] | None) -> list[tuple[str, str]]:
    """(field, text) of a sample's texts that are checked."""
    named = [(f"retrieved_contexts[{at}]", one) for at, one in enumerate(contexts or ())]
    return [("response", response), *named]


def place(name: str, text: str, span: Span) -> Mapping[str, Any]:
    """The position and shape of a match, with letters and digits masked."""
    shape = masked(text[span.start : span.end], [Span(0, span.end - span.start, span.kind)])
    return {
        "field": name,
        "start": span.start,
        "end": span.end,
        "kind": span.kind,
        "masked": shape,
    }


def secret_mark(name: str, span: Span) -> Mark:
    """The mark of a masked span."""
    return Mark(name, span.start, span.end, span.kind, secret=True)


def summary(found: Iterable[tuple[str, str]]) -> str:
    """A summary of the matches: "2 EMAIL_ADDRESS, 1 US_SSN in the response; …".

    Args:
        found: (field, what) of each place.
    """
    counted = Counter((name == "response", what) for name, what in found)
    parts = []
    for response, where in _WHERE.items():
        here = sorted((-n, what) for (side, what), n in counted.items() if side is response)
        if here:
            parts.append(f"{', '.join(f'{-n} {what}' for n, what in here)} in {where}")
    return "; ".join(parts)
