"""SQuAD's exact match and token F1."""

from __future__ import annotations

from collections.abc import Callable

from valor_cli.evaluators.overlap.reference_texts import compared
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import mean_of_samples, rate_of_samples
from valor_cli.kernels.text.squad import normalised, word_overlap
from valor_cli.metric import Metric, Output

OUTPUTS = ("f1", "precision", "recall")
CITATION = (
    "Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, EMNLP 2016"
)


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

    return Outcomes.of(compared(texts.data, compare), ("value",))


def token_f1(texts: Texts) -> Outcomes:
    """F1 of the words of response and reference, ignoring case, punctuation and articles.

    Of several references the one with the highest F1 counts, of equal ones the first; precision
    and recall are those of that one. Where neither the response nor the reference has a word left
    all three are 1, and where one of them has none they are 0, as in SQuAD 2.0; SQuAD 1.1 has 0 for
    both.

    Formula:
        precision = shared words / words of the response
        recall = shared words / words of the reference
        f1 = 2 · precision · recall / (precision + recall)

    Pitfalls:
        A bag of words: order and negation hardly count, and "not guilty" has 0.667 against
        "guilty". A right answer in a long sentence loses precision. A text in a script without
        spaces is one word, all right or all wrong.

    Example:
        "in Paris, France" against "Paris" shares 1 word: precision 1/3, recall 1, f1 = 2 · (1/3) ·
        1 / (4/3) = 0.5.
    """
    return Outcomes.of(compared(texts.data, _best), OUTPUTS)


def _best(response: str, references: tuple[str, ...]) -> Outcome:
    """What the response shares with the reference that it shares most with."""
    given = normalised(response).split()
    overlaps = [word_overlap(given, normalised(reference).split()) for reference in references]
    best = max(overlaps, key=lambda overlap: overlap.f1)
    return Outcome(best._asdict(), details={"reference": overlaps.index(best)})


EXACT_MATCH = Metric(
    name="exact_match",
    measure=exact_match,
    compute=rate_of_samples,
    reference="SQuAD's evaluate-v1.1.py, exact_match_score",
    citation=CITATION,
    needs=("response", "references"),
    aliases=("ExactMatch",),
)
TOKEN_F1 = Metric(
    name="token_f1",
    measure=token_f1,
    compute=mean_of_samples,
    reference="SQuAD's evaluate-v1.1.py, f1_score; evaluate-v2.0.py where no word is left",
    citation=CITATION,
    outputs=tuple(Output(name, "higher") for name in OUTPUTS),
    needs=("response", "references"),
    aliases=("TokenF1",),
)
