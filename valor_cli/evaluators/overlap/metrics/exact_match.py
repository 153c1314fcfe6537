"""Exact match, as in SQuAD."""

from __future__ import annotations

from collections.abc import Callable

from valor_cli.evaluators.overlap.reference_texts import compared
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.kernels.text.squad import normalised
from valor_cli.metric import Metric

OUTPUTS = ("value",)


def exact_match(texts: Texts, *, normalize: bool = True) -> Outcomes:
    """Whether the response equals a reference, ignoring case, punctuation, articles and spacing.

    Only ASCII punctuation and the English articles are dropped, as SQuAD's script does. A response
    of which nothing is left equals a reference of which nothing is left. Without `normalize` the
    texts are compared as they are, character by character.

    Formula:
        value = responses that equal one of their references / responses

    Pitfalls:
        All or nothing: "It is Paris." against "Paris" is 0, so ask the model for the bare answer,
        or read `token_f1` beside it. Normalisation drops every punctuation mark: "3.5" equals "35",
        and "-5" equals "5".

    Example:
        Against "eiffel tower", "The Eiffel Tower." is equal and "Eiffel Tower, Paris" is not: 1 / 2
        = 0.5.
    """
    form: Callable[[str], str] = normalised if normalize else str

    def compare(response: str, references: tuple[str, ...]) -> Outcome:
        answer = form(response)
        for at, reference in enumerate(references):
            if form(reference) == answer:
                return Outcome({"value": 1.0}, details={"reference": at})
        return Outcome({"value": 0.0})

    return Outcomes.of(compared(texts.data, compare), OUTPUTS)


EXACT_MATCH = Metric(
    name="exact_match",
    measure=exact_match,
    compute=rate_of_samples,
    reference="SQuAD's evaluate-v1.1.py, exact_match_score",
    citation="Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
    "EMNLP 2016",
    needs=("response", "references"),
    aliases=("ExactMatch",),
)
