"""Sentence similarity: nearest reference sentence of each response sentence."""

from __future__ import annotations

from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output

OUTPUTS = (
    Output("mean", "higher", (-1, 1)),
    Output("min", "higher", (-1, 1)),
)


def sentence_similarity(texts: ModelTexts) -> Outcomes:
    """Cosine of each response sentence with its nearest reference sentence: the mean over
    sentences, and the lowest.

    Of several references the one with the highest mean counts, for both outputs; sentences of
    different references are not mixed. The cosine may be negative, and is not clipped. What the
    reference says and the response leaves out does not count.

    Formula:
        n(s) = max over sentences t of the reference of cos(s, t)
        mean = mean of n(s) over the sentences s of the response
        min = lowest n(s)

    Pitfalls:
        A precision: a response of one right sentence has 1, and a long reference offers more
        sentences to be near to. Greetings and headings are sentences too, and often they set `min`.

    Example:
        Three sentences whose nearest ones have the cosines 0.9, 0.8 and 0.4: mean 2.1 / 3 = 0.7,
        min 0.4.
    """
    pairs = paired(texts, "response", "references")
    return by_sentences(texts, pairs, _outcome, [output.name for output in OUTPUTS])


def _outcome(found: Compared) -> Outcome:
    means = found.nearest.mean(axis=0)
    best = int(means.argmax())
    number = found.others[best].number
    return Outcome(
        {"mean": float(means[best]), "min": float(found.nearest[:, best].min())},
        details={"reference": number} if number else None,
    )


SENTENCE_SIMILARITY = Metric(
    name="sentence_similarity",
    measure=sentence_similarity,
    compute=mean_of_samples,
    outputs=OUTPUTS,
    reference="H2O Sonar's Answer Semantic Sentence Similarity Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    needs=("response", "references"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("SentenceSimilarity", "Answer Semantic Sentence Similarity Evaluator"),
)
