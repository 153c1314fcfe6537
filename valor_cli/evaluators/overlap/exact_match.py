"""Exact match: whether the response is one of the references, as SQuAD compares them."""

from __future__ import annotations

from valor_cli.evaluators.samples import Outcome, Outcomes, Texts, mean_of_samples, missing
from valor_cli.metric import Metric

OUTPUTS = ("value",)


def exact_match(texts: Texts) -> Outcomes:
    """Whether the response equals a reference, without case, punctuation, articles and spacing."""
    data = texts.data
    return Outcomes.of(
        [
            missing("no response")
            if response is None
            else missing("no reference")
            if not references
            else Outcome({"value": float(any(response == one for one in references))})
            for response, references in zip(data.response, data.references, strict=True)
        ],
        OUTPUTS,
    )


EXACT_MATCH = Metric(
    name="exact_match",
    measure=exact_match,
    compute=mean_of_samples,
    reference="SQuAD's evaluate-v1.1.py, exact_match_score",
    citation="Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
    "EMNLP 2016",
    needs=("response", "references"),
)
