"""Exact match: whether the response is one of the references, as SQuAD compares them."""

from __future__ import annotations

from collections.abc import Callable

from valor_cli.evaluators.samples import Outcome, Outcomes, Texts, mean_of_samples, missing
from valor_cli.kernels.squad import normalised
from valor_cli.metric import Metric

OUTPUTS = ("value",)


def exact_match(texts: Texts, *, normalize: bool = True) -> Outcomes:
    """Whether the response equals a reference, without case, punctuation, articles and spacing.

    Only ASCII punctuation and the English articles are dropped, as SQuAD's script does. A response
    of which nothing is left equals a reference of which nothing is left. Without `normalize` the
    texts are compared as they are, character by character.
    """
    data = texts.data
    form = normalised if normalize else _itself
    return Outcomes.of(
        [
            _compared(response, references, form)
            for response, references in zip(data.response, data.references, strict=True)
        ],
        OUTPUTS,
    )


def _itself(text: str) -> str:
    return text


def _compared(
    response: str | None, references: tuple[str, ...], form: Callable[[str], str]
) -> Outcome:
    """1 with the first reference that the response equals, else 0."""
    if response is None:
        return missing("no response")
    if not references:
        return missing("no reference")
    answer = form(response)
    for at, reference in enumerate(references):
        if form(reference) == answer:
            return Outcome({"value": 1.0}, details={"reference": at})
    return Outcome({"value": 0.0})


EXACT_MATCH = Metric(
    name="exact_match",
    measure=exact_match,
    compute=mean_of_samples,
    reference="SQuAD's evaluate-v1.1.py, exact_match_score",
    citation="Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
    "EMNLP 2016",
    needs=("response", "references"),
    aliases=("ExactMatch",),
)
