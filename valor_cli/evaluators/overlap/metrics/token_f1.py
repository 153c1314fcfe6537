"""Token F1, as in SQuAD."""

from __future__ import annotations

from valor_cli.evaluators.overlap.reference_texts import compared
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.text.squad import normalised, word_overlap
from valor_cli.metric import Metric, Output

OUTPUTS = ("f1", "precision", "recall")


def token_f1(texts: Texts) -> Outcomes:
    """F1 of the words of response and reference, ignoring case, punctuation and articles.

    Of several references the one with the highest F1 counts, of equal ones the first; precision
    and
    recall are those of that one. Where neither the response nor the reference has a word left all
    three are 1, and where one of them has none they are 0, as in SQuAD 2.0; SQuAD 1.1 has 0 for
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


TOKEN_F1 = Metric(
    name="token_f1",
    measure=token_f1,
    compute=mean_of_samples,
    reference="SQuAD's evaluate-v1.1.py, f1_score; evaluate-v2.0.py where no word is left",
    citation="Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
    "EMNLP 2016",
    outputs=tuple(Output(name, "higher") for name in OUTPUTS),
    needs=("response", "references"),
    aliases=("TokenF1",),
)
