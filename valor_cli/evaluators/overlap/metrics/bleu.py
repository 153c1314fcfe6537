"""Sentence BLEU.

Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, ACL 2002. Without
smoothing the numbers are those of NLTK's `sentence_bleu` on the same words, with one exception:
where no n-gram of a length that counts matches, NLTK warns and returns a tiny number (1e-77 with
equal weights of four); the value here is 0. With smoothing they are sacrebleu's. So is
`effective_order`, which NLTK does not have and which sacrebleu's `sentence_bleu` switches on.

`tokenizer` "word" treats the whole text as one sentence, as NLTK's `word_tokenize` does when asked
to preserve the line; splitting into sentences first needs a model that NLTK downloads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import fsum
from typing import Annotated, Any

from annotated_types import Interval, MinLen
from pydantic import AfterValidator

from valor_cli.evaluators.overlap.bleu_matches import WORDS, Tokenizer, matches_of
from valor_cli.evaluators.overlap.reference_texts import incomparable_outcomes
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled, mean_of_samples
from valor_cli.kernels.text.bleu import NgramMatches, Smoothing, bleu, brevity_penalty
from valor_cli.metric import Metric

OUTPUTS = ("value",)

SUM_WITHIN = 1e-6
"""How far the sum of weights may be from 1, which decimals (0.333) cannot always give."""


def _convex(weights: tuple[float, ...]) -> tuple[float, ...]:
    total = fsum(weights)
    if min(weights) < 0 or abs(total - 1) > SUM_WITHIN:
        raise ValueError(f"weights must be 0 or more and sum to 1; these sum to {total:.6g}")
    return weights


Weights = Annotated[tuple[float, ...], MinLen(1), AfterValidator(_convex)]
SmoothingValue = Annotated[float, Interval(gt=0)] | None


def sentence_bleu(
    texts: Texts,
    *,
    weights: Weights = (0.25, 0.25, 0.25, 0.25),
    tokenizer: Tokenizer = "valor",
    smoothing: Smoothing = "none",
    smoothing_value: SmoothingValue = None,
    effective_order: bool = False,
) -> Outcomes:
    """Sentence BLEU: a geometric mean of n-gram precisions, weighted, with a brevity penalty.

    All references together clip the n-grams; the nearest in length counts for brevity. An order
    without a match gives 0, and so does an empty response.

    Formula:
        BLEU = BP · exp(Σ wₙ · ln pₙ)
        pₙ = n-grams of the response that a reference has, clipped / its n-grams
        BP = min(1, exp(1 − r / c))
        c, r: words of the response, of the reference nearest in length

    Pitfalls:
        With the default weights and no smoothing a response without four words in a row that a
        reference has is 0, and so is every right answer of fewer words: use `bleu_1` for those, or
        `effective_order: true`. The mean over samples is not corpus BLEU. Case counts, and values
        under two tokenizers cannot be compared.

    Example:
        "the cat sat on the mat" against "the cat sat on a mat", 6 words each, so BP = 1: precisions
        5/6, 3/5, 2/4 and 1/3, with the default weights (5/6 · 3/5 · 2/4 · 1/3)^(1/4) = 0.537.
    """
    return _outcomes(texts, weights, tokenizer, smoothing, smoothing_value, effective_order)


def bleu_1(
    texts: Texts,
    *,
    tokenizer: Tokenizer = "valor",
    smoothing: Smoothing = "none",
    smoothing_value: SmoothingValue = None,
    effective_order: bool = False,
) -> Outcomes:
    """Sentence BLEU of unigrams: their clipped precision, with a brevity penalty.

    Formula:
        BLEU = BP · p₁
        p₁ = words of the response that a reference has, clipped / its words
        BP = min(1, exp(1 − r / c))
        c, r: words of the response, of the reference nearest in length

    Pitfalls:
        The order of words does not count: a reference with its words shuffled has 1. It is a
        precision; what is left out is punished by the brevity penalty alone, and steeply: "the cat"
        against "the cat sat on the mat" has exp(1 − 6/2) = 0.135.

    Example:
        "the the the cat" against "the cat sat": "the" counts once and "cat" once, of 4 words, and 4
        words are no fewer than 3, so BP = 1: 2 / 4 = 0.5.
    """
    return _outcomes(texts, (1.0,), tokenizer, smoothing, smoothing_value, effective_order)


def bleu_2(
    texts: Texts,
    *,
    tokenizer: Tokenizer = "valor",
    smoothing: Smoothing = "none",
    smoothing_value: SmoothingValue = None,
    effective_order: bool = False,
) -> Outcomes:
    """Sentence BLEU of uni- and bigrams, equally weighted, with a brevity penalty.

    Formula:
        BLEU = BP · √(p₁ · p₂)
        pₙ = n-grams of the response that a reference has, clipped / its n-grams
        BP = min(1, exp(1 − r / c))
        c, r: words of the response, of the reference nearest in length

    Pitfalls:
        By default a response of one word, or without two words in a row that a reference has, is 0.
        The value is cumulative: some tools call the precision of pairs alone, p₂, BLEU-2.

    Example:
        "the cat sat on the mat" against "the cat sat on a mat", 6 words each, so BP = 1: √(5/6 ·
        3/5) = 0.707.
    """
    return _outcomes(texts, (0.5,) * 2, tokenizer, smoothing, smoothing_value, effective_order)


def bleu_3(
    texts: Texts,
    *,
    tokenizer: Tokenizer = "valor",
    smoothing: Smoothing = "none",
    smoothing_value: SmoothingValue = None,
    effective_order: bool = False,
) -> Outcomes:
    """Sentence BLEU of n-grams up to 3 words, equally weighted, with a brevity penalty.

    Formula:
        BLEU = BP · (p₁ · p₂ · p₃)^(1/3)
        pₙ = n-grams of the response that a reference has, clipped / its n-grams
        BP = min(1, exp(1 − r / c))
        c, r: words of the response, of the reference nearest in length

    Pitfalls:
        By default a response without three words in a row that a reference has is 0. The value is
        cumulative: some tools call the precision of triples alone, p₃, BLEU-3.

    Example:
        "the cat sat on the mat" against "the cat sat on a mat", 6 words each, so BP = 1: (5/6 · 3/5
        · 2/4)^(1/3) = 0.630.
    """
    return _outcomes(texts, (1 / 3,) * 3, tokenizer, smoothing, smoothing_value, effective_order)


def bleu_4(
    texts: Texts,
    *,
    tokenizer: Tokenizer = "valor",
    smoothing: Smoothing = "none",
    smoothing_value: SmoothingValue = None,
    effective_order: bool = False,
) -> Outcomes:
    """Sentence BLEU of n-grams up to 4 words, equally weighted, with a brevity penalty.

    Formula:
        BLEU = BP · (p₁ · p₂ · p₃ · p₄)^(1/4)
        pₙ = n-grams of the response that a reference has, clipped / its n-grams
        BP = min(1, exp(1 − r / c))
        c, r: words of the response, of the reference nearest in length

    Pitfalls:
        By default a response without four words in a row that a reference has is 0, as many short
        answers and good paraphrases are: the mean may say little more than how many are not. What
        papers on translation call BLEU is `corpus_bleu`, not this mean.

    Example:
        "the cat sat on the mat" against "the cat sat on a mat", 6 words each, so BP = 1: (5/6 · 3/5
        · 2/4 · 1/3)^(1/4) = 0.537.
    """
    return _outcomes(texts, (0.25,) * 4, tokenizer, smoothing, smoothing_value, effective_order)


def _outcomes(
    texts: Texts,
    weights: tuple[float, ...],
    tokenizer: Tokenizer,
    smoothing: Smoothing,
    smoothing_value: float | None,
    effective_order: bool,
) -> Outcomes:
    order = len(weights)

    def outcome(found: NgramMatches) -> Outcome:
        value = bleu(
            found,
            weights,
            smoothing=smoothing,
            smoothing_value=smoothing_value,
            effective_order=effective_order,
        )
        return Outcome({"value": value}, details=bleu_details(found, order))

    outcomes = incomparable_outcomes(texts.data)
    for at, found in matches_of(texts, tokenizer, WORDS[tokenizer], order).items():
        outcomes[at] = outcome(found)
    return Outcomes.of(outcomes, OUTPUTS)


def bleu_details(found: NgramMatches, order: int) -> Mapping[str, Any]:
    """Details of a BLEU value; precisions are those before smoothing."""
    return {
        "precisions": found.precisions(order),
        "brevity_penalty": brevity_penalty(found.response_words, found.reference_words),
        "response_tokens": found.response_words,
        "reference_tokens": found.reference_words,
    }


def _sentence_bleu(
    name: str, measure: Callable[..., Outcomes], aliases: tuple[str, ...]
) -> Metric[Sampled]:
    return Metric(
        name=name,
        measure=measure,
        compute=mean_of_samples,
        reference="nltk.translate.bleu_score.sentence_bleu",
        citation="Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, "
        "ACL 2002",
        needs=("response", "references"),
        aliases=aliases,
    )


BLEU = _sentence_bleu("bleu", sentence_bleu, ("BLEU", "sentence_bleu"))
BLEU_1 = _sentence_bleu("bleu_1", bleu_1, ("BLEU-1", "BLEU Evaluator"))
BLEU_2 = _sentence_bleu("bleu_2", bleu_2, ("BLEU-2",))
BLEU_3 = _sentence_bleu("bleu_3", bleu_3, ("BLEU-3",))
BLEU_4 = _sentence_bleu("bleu_4", bleu_4, ("BLEU-4",))
