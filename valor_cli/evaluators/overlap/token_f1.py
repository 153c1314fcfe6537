"""Token F1: how many words the response shares with a reference, as SQuAD counts them."""

from __future__ import annotations

from valor_cli.evaluators.samples import Outcome, Outcomes, Texts, mean_of_samples, missing
from valor_cli.kernels.squad import normalised, word_overlap
from valor_cli.metric import Metric, Output

OUTPUTS = ("f1", "precision", "recall")


def token_f1(texts: Texts) -> Outcomes:
    """F1 of the words of the response and of a reference, without case, punctuation and articles.

    Of several references the one with the highest F1 counts, of equal ones the first; precision and
    recall are those of that one. Where neither the response nor the reference has a word left all
    three are 1, and where one of them has none they are 0, as SQuAD 2.0 has it; SQuAD 1.1 has 0 for
    both.
    """
    data = texts.data
    return Outcomes.of(
        [
            _compared(response, references)
            for response, references in zip(data.response, data.references, strict=True)
        ],
        OUTPUTS,
    )


def _compared(response: str | None, references: tuple[str, ...]) -> Outcome:
    if response is None:
        return missing("no response")
    if not references:
        return missing("no reference")
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
