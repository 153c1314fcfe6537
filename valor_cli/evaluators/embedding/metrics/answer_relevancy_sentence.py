"""Sentence answer relevancy: similarity of the question to its nearest response sentence."""

from __future__ import annotations

from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.results import Mark


def answer_relevancy_sentence(texts: ModelTexts) -> Outcomes:
    """Cosine of the question with the nearest sentence of the response.

    The question is one text, however many sentences it has. The cosine may be negative, and is not
    clipped. A response that repeats the question has 1.

    Formula:
        value = max over sentences s of the response of cos(question, s)

    Pitfalls:
        One similar sentence is enough, whatever the others say: a response that restates the
        question and then evades it is high, a bare right answer ("42.") low. Not to be confused
        with `answer_relevancy`, which asks a judge.

    Example:
        Two sentences with the cosines 0.7 and 0.2: 0.7.
    """
    pairs = paired(texts, "response", "user_input")
    return by_sentences(texts, pairs, _outcome)


def _outcome(found: Compared) -> Outcome:
    relevant = found.nearest[:, 0]
    best = int(relevant.argmax())
    mark = Mark(found.one.field, *found.one.spans[best], "most relevant")
    return Outcome({"value": float(relevant[best])}, marks=(mark,))


ANSWER_RELEVANCY_SENTENCE = Metric(
    name="answer_relevancy_sentence",
    measure=answer_relevancy_sentence,
    compute=mean_of_samples,
    outputs=(Output(bounds=(-1, 1)),),
    reference="H2O Sonar's Answer Relevancy (Sentence Similarity) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    needs=("user_input", "response"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("AnswerRelevancySentence", "Answer Relevancy (Sentence Similarity) Evaluator"),
)
