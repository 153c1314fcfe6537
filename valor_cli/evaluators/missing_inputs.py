"""Say why a metric cannot use a sample: which input is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from valor_cli.evaluators.samples.outcomes import Outcome, missing

Field: TypeAlias = Literal["user_input", "response", "references", "retrieved_contexts"]

ABSENT: Mapping[Field, str] = {
    "user_input": "no user_input",
    "response": "no response",
    "references": "no reference",
    "retrieved_contexts": "no retrieved contexts",
}
"""What is said of a sample that has nothing under a field."""

BLANK: Mapping[Field, str] = {
    "user_input": "the user_input is empty",
    "response": "the response is empty",
    "references": "the references are empty",
    "retrieved_contexts": "the retrieved contexts are empty",
}
"""What is said of one that has only white space there."""


def missing_input(field: Field, texts: str | Sequence[str] | None) -> Outcome | None:
    """The outcome of a sample whose required field is missing or blank; None if present.

    Args:
        field: Where the texts stand.
        texts: The text, or all of them. No references at all are absent; contexts were asked for
            and not found.
    """
    several = (texts,) if isinstance(texts, str) else texts
    if several is None or (field == "references" and not several):
        return missing(ABSENT[field])
    return None if any(one.strip() for one in several) else missing(BLANK[field])
