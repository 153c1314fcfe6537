"""Metrics of sentences: the cosines of a text's sentences with the nearest ones of others."""

from __future__ import annotations

from functools import partial

from valor_cli.evaluators.embedding.sentence_pairs import Compared, by_sentences, paired
from valor_cli.evaluators.embedding.worst_sentence import (
    mean_with_worst_sentence,
    with_worst_sentence,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled, mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, Mark

SIMILARITIES = (
    Output("mean", "higher", (-1, 1)),
    Output("min", "higher", (-1, 1)),
)
RELEVANCES = (
    Output("recall", "higher", (-1, 1)),
    Output("precision", "higher", (-1, 1)),
)
LEAST_GROUNDED = "least grounded"
CITATION = "Reimers and Gurevych, Sentence-BERT, EMNLP 2019"


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
    return by_sentences(
        texts, pairs, _nearness_of_response, [output.name for output in SIMILARITIES]
    )


def _nearness_of_response(found: Compared) -> Outcome:
    means = found.nearest.mean(axis=0)
    best = int(means.argmax())
    number = found.others[best].number
    return Outcome(
        {"mean": float(means[best]), "min": float(found.nearest[:, best].min())},
        details={"reference": number} if number else None,
    )


def context_relevancy_soft(texts: ModelTexts) -> Outcomes:
    """Similarity of the question to the nearest sentence of each context: the highest (recall), and
    the mean over contexts (precision).

    The question is one text, however many sentences it has; blank contexts do not count. Cosines
    may be negative, and are not clipped.

    Formula:
        r(c) = max over sentences s of context c of cos(question, s)
        recall = max over contexts c of r(c)
        precision = mean over contexts c of r(c)

    Pitfalls:
        Not the recall and precision of retrieval: there is no ground truth, and nothing is said of
        what was not retrieved. A context that repeats the question comes nearer than one that
        answers it.

    Example:
        Contexts with 0.8, 0.5 and 0.2: recall 0.8, precision 1.5 / 3 = 0.5.
    """
    pairs = paired(texts, "user_input", "retrieved_contexts")
    return by_sentences(
        texts, pairs, _relevance_of_contexts, [output.name for output in RELEVANCES]
    )


def _relevance_of_contexts(found: Compared) -> Outcome:
    relevance = found.nearest[0]
    best = int(relevance.argmax())
    return Outcome(
        {"recall": float(relevance[best]), "precision": float(relevance.mean())},
        details={"most_relevant": found.others[best].field},
    )


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
    return by_sentences(texts, pairs, _most_relevant)


def _most_relevant(found: Compared) -> Outcome:
    relevant = found.nearest[:, 0]
    best = int(relevant.argmax())
    mark = Mark(found.one.field, *found.one.spans[best], "most relevant")
    return Outcome({"value": float(relevant[best])}, marks=(mark,))


def groundedness_semantic(texts: ModelTexts) -> Outcomes:
    """Cosine of the least grounded response sentence with its nearest context sentence.

    That is the lowest, over the sentences of the response, of the highest cosine with any sentence
    of any context. It may be negative, and is not clipped. A sentence that contradicts the context
    is near it, too. The least grounded sentence is kept with the sample.

    Formula:
        n(s) = max over sentences t of all contexts of cos(s, t)
        value = min over sentences s of the response of n(s)

    Pitfalls:
        Nearness, not entailment: a sentence with a wrong number on the right subject is near its
        source. A "Hope this helps!" is a sentence too and decides the value, and responses of more
        sentences have a lower minimum: compare them at similar lengths.

    Example:
        Three sentences whose nearest ones have the cosines 0.9, 0.8 and 0.3: 0.3.
    """
    pairs = paired(texts, "response", "retrieved_contexts")
    return by_sentences(texts, pairs, partial(_least_grounded, texts))


def _least_grounded(texts: ModelTexts, found: Compared) -> Outcome:
    grounded = found.nearest.max(axis=1)
    worst = int(grounded.argmin())
    chunk = int(found.nearest[worst].argmax())
    return with_worst_sentence(
        texts,
        (found.one, found.one.spans[worst]),
        (found.others[chunk], found.nearest_span(worst, chunk)),
        float(grounded[worst]),
        LEAST_GROUNDED,
    )


def _findings(sampled: Sampled) -> Findings:
    return mean_with_worst_sentence(sampled, LEAST_GROUNDED)


SENTENCE_SIMILARITY = Metric(
    name="sentence_similarity",
    measure=sentence_similarity,
    compute=mean_of_samples,
    outputs=SIMILARITIES,
    reference="H2O Sonar's Answer Semantic Sentence Similarity Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation=CITATION,
    needs=("response", "references"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("SentenceSimilarity", "Answer Semantic Sentence Similarity Evaluator"),
)
CONTEXT_RELEVANCY_SOFT = Metric(
    name="context_relevancy_soft",
    measure=context_relevancy_soft,
    compute=mean_of_samples,
    outputs=RELEVANCES,
    reference="H2O Sonar's Context Relevancy (Soft Recall and Precision) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation=CITATION,
    needs=("user_input", "retrieved_contexts"),
    asks=("embedder",),
    threshold=0.75,
    aliases=(
        "ContextRelevancySoft",
        "Context Relevancy (Soft Recall and Precision) Evaluator",
    ),
)
ANSWER_RELEVANCY_SENTENCE = Metric(
    name="answer_relevancy_sentence",
    measure=answer_relevancy_sentence,
    compute=mean_of_samples,
    outputs=(Output(bounds=(-1, 1)),),
    reference="H2O Sonar's Answer Relevancy (Sentence Similarity) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation=CITATION,
    needs=("user_input", "response"),
    asks=("embedder",),
    threshold=0.75,
    aliases=("AnswerRelevancySentence", "Answer Relevancy (Sentence Similarity) Evaluator"),
)
GROUNDEDNESS_SEMANTIC = Metric(
    name="groundedness_semantic",
    measure=groundedness_semantic,
    compute=_findings,
    outputs=(Output(bounds=(-1, 1)),),
    reference="H2O Sonar's Groundedness (Semantic Similarity) Evaluator; "
    "sentence_transformers.util.cos_sim",
    citation=CITATION,
    needs=("response", "retrieved_contexts"),
    asks=("embedder",),
    threshold=0.75,
    aliases=(
        "GroundednessSemantic",
        "Groundedness Evaluator",
        "Groundedness (Semantic Similarity) Evaluator",
    ),
)
