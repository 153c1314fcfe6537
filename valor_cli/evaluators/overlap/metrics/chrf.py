"""chrF: F-score of character n-grams.

Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015; with `word_order: 2`
chrF++ (WMT 2017). Values are sacrebleu's, bit for bit, on 0..1; only the signature is
made by sacrebleu itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Interval

from valor_cli.evaluators.overlap.reference_texts import comparable, incomparable_outcomes
from valor_cli.evaluators.overlap.sacrebleu_settings import (
    REFERENCES,
    STATISTICS,
    of_corpus,
    reference_counts,
)
from valor_cli.evaluators.samples.outcomes import Floats, Ints, Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import Findings

if TYPE_CHECKING:
    from sacrebleu.metrics import chrf as sacrebleu_chrf

OUTPUTS = ("value",)

AT_ONCE = 1 << 17
"""Characters, about, that are counted together."""

_EPSILON = 1e-16
"""What sacrebleu puts in place of a 0/0."""

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

Pairs = Sequence[tuple[str, str]]


def chrf(
    texts: Texts,
    *,
    char_order: Annotated[int, Interval(ge=1)] = 6,
    word_order: Annotated[int, Interval(ge=0)] = 0,
    beta: Annotated[int, Interval(ge=1)] = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Outcomes:
    """Corpus chrF with sacrebleu's signature: the F-score of summed character n-gram counts.

    Of several references the one with the highest value counts. `word_order: 2` is chrF++.

    Formula:
        chrF = (1 + β²) · P · R / (β² · P + R), β = 2
        P = mean over n = 1 … 6 of matched character n-grams / those of the responses
        R = mean over n = 1 … 6 of matched character n-grams / those of the references

    Pitfalls:
        Recall counts twice as much as precision, so that padding costs little. Unrelated sentences
        of one language share short runs of characters and have 0.1 to 0.2: 0 is not the floor.
        sacrebleu prints 100 times the value, and chrF++ is another metric.

    Example:
        "cats" against "cat", which has no run of more than 3 characters: P = (3/4 + 2/3 + 1/2) / 3
        = 0.639, R = 1, chrF = 5 · 0.639 / (4 · 0.639 + 1) = 0.898.
    """
    data = texts.data
    chosen = comparable(data)
    form: Callable[[str], str] = str.lower if lowercase else str
    pairs = [
        (form(response), form(reference))
        for _, response, references in chosen
        for reference in references
    ]
    counts = chrf_counts(pairs, char_order, word_order, whitespace=whitespace)
    scores = f_scores(counts, beta, eps_smoothing=eps_smoothing)
    rows = zip(scores.tolist(), counts.tolist(), strict=True)
    statistics = np.zeros((data.unit_count, 3 * (char_order + word_order)), np.int64)
    outcomes = incomparable_outcomes(data)
    for at, _, references in chosen:
        value, row = max(islice(rows, len(references)), key=itemgetter(0))
        statistics[at] = row
        outcomes[at] = Outcome({"value": value}, details=_told(row))
    numbers = {STATISTICS: statistics, REFERENCES: reference_counts(data)}
    return Outcomes.of(outcomes, OUTPUTS, numbers)


def f_scores(counts: Ints, beta: int, *, eps_smoothing: bool) -> Floats:
    """(m,) F-scores, bit for bit those of sacrebleu's corpora with these counts.

    Args:
        counts: (m, 3 · orders) as from `chrf_counts`.
        beta: How many times recall weighs as much as precision.
        eps_smoothing: Whether the mean is over the F-scores of all orders, in place of that over
            precision and recall of those that both sides have.
    """
    factor, orders = beta**2, counts.shape[1] // 3
    scores, precisions, recalls, both = np.zeros((4, len(counts)))
    for response, reference, shared in counts.reshape(len(counts), orders, 3).transpose(1, 2, 0):
        precision = quotient(shared, response, _EPSILON)
        recall = quotient(shared, reference, _EPSILON)
        scores += _f_score(precision, recall, factor, _EPSILON)
        known = (response > 0) & (reference > 0)
        precisions += np.where(known, precision, 0.0)
        recalls += np.where(known, recall, 0.0)
        both += known
    # In percent, as sacrebleu has it, and back.
    if eps_smoothing:
        return np.asarray(100 * scores / orders / 100)
    precision, recall = (quotient(total, both, 0.0) for total in (precisions, recalls))
    return np.asarray(100 * _f_score(precision, recall, factor, 0.0) / 100)


def _f_score(precision: Floats, recall: Floats, factor: int, instead: float) -> Floats:
    return quotient((1 + factor) * precision * recall, factor * precision + recall, instead)


def _told(row: list[int]) -> dict[str, list[int]]:
    names = ("response_ngrams", "reference_ngrams", "matches")
    return {name: row[first::3] for first, name in enumerate(names)}


def chrf_of_corpus(sampled: Sampled) -> Findings:
    """chrF from summed counts."""
    asked = sampled.parameters
    beta, eps_smoothing = asked["beta"], asked["eps_smoothing"]
    return of_corpus(
        sampled,
        lambda: _settings(**asked),
        lambda rows: [f_scores(rows, beta, eps_smoothing=eps_smoothing)],
    )


def _settings(
    char_order: int,
    word_order: int,
    beta: int,
    lowercase: bool,
    whitespace: bool,
    eps_smoothing: bool,
) -> sacrebleu_chrf.CHRF:
    from sacrebleu.metrics import chrf as sacrebleu_chrf

    return sacrebleu_chrf.CHRF(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)


CHRF = Metric(
    name="chrf",
    measure=chrf,
    compute=chrf_of_corpus,
    reference="sacrebleu.metrics.CHRF.corpus_score",
    citation="Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015",
    needs=("response", "references"),
    aliases=("chrF",),
)


def chrf_counts(pairs: Pairs, char_order: int, word_order: int, *, whitespace: bool) -> Ints:
    """(p, 3 · (char_order + word_order)) n-gram counts of hypothesis, reference and matches.

    Three for each length of n-gram: first of characters, from 1, then of words.

    Args:
        pairs: (response, reference).
        char_order, word_order: The longest n-grams of characters and of words.
        whitespace: Whether white space is among the characters.
    """
    parts = [
        np.concatenate(
            [
                _of_characters(some, char_order, whitespace),
                *([_of_words(some, word_order)] if word_order else []),
            ],
            axis=1,
        )
        for some in _portions(pairs)
    ]
    empty = np.zeros((0, 3 * (char_order + word_order)), np.int64)
    return np.concatenate([empty, *parts])


def _portions(pairs: Pairs) -> Iterator[Pairs]:
    first, characters = 0, 0
    for at, (response, reference) in enumerate(pairs):
        characters += len(response) + len(reference)
        if characters >= AT_ONCE:
            yield pairs[first : at + 1]
            first, characters = at + 1, 0
    if first < len(pairs):
        yield pairs[first:]


def _of_characters(pairs: Pairs, order: int, whitespace: bool) -> Ints:
    texts = list(chain.from_iterable(pairs))
    if not whitespace:
        texts = ["".join(text.split()) for text in texts]
    lengths = np.array([len(text) for text in texts])
    return _counts(character_codes("".join(texts)), lengths, order)


def _of_words(pairs: Pairs, order: int) -> Ints:
    texts = [_words(text) for text in chain.from_iterable(pairs)]
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(word, len(numbers)) for words in texts for word in words]
    lengths = np.array([len(words) for words in texts])
    return _counts(np.array(codes, np.int64), lengths, order)


def _counts(items: Ints, lengths: Ints, order: int) -> Ints:
    counts = run_counts(lengths, order)
    response, reference = counts[::2], counts[1::2]
    # sacrebleu counts no n-grams of a response where the reference has none of that length.
    response = np.where(reference > 0, response, 0)
    found = np.stack([response, reference, shared_runs(items, lengths, order)], axis=2)
    return found.reshape(len(found), -1)


def _words(text: str) -> list[str]:
    """Words, with one mark of punctuation taken off: the last character, or else the first."""
    return list(chain.from_iterable(map(_apart, text.split())))


def _apart(word: str) -> tuple[str, ...]:
    if len(word) > 1:
        if word[-1] in _PUNCTUATION:
            return word[:-1], word[-1]
        if word[0] in _PUNCTUATION:
            return word[0], word[1:]
    return (word,)


def character_codes(text: str) -> Ints:
    """(n,) character codes of a text."""
    # Texts from JSON may hold halves of characters ("\ud800").
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


def run_counts(lengths: Ints, order: int) -> Ints:
    """(n, order) number of n-grams of each length in sequences of given lengths."""
    counts: Ints = np.maximum(lengths[:, None] - np.arange(order), 0)
    return counts


def shared_runs(items: Ints, lengths: Ints, order: int) -> Ints:
    """(p, order) n-grams of each length shared by each pair, with multiplicity.

    Args:
        items: The sequences one after the other: one side of the first pair, the other side, one
            side of the second pair …
        lengths: (2p,) items of each.
        order: The longest runs; 1 or more.
    """
    shared = np.zeros((len(lengths) // 2, order), np.int64)
    side = np.repeat(np.arange(len(lengths)), lengths)
    end = np.repeat(np.cumsum(lengths), lengths)
    distinct, item = np.unique(items, return_inverse=True)
    # Where runs begin, and a number for each: at first its pair, then equal runs of equal pairs.
    start = np.arange(len(items))
    run = side >> 1
    for n in range(order):
        inside = start + n < end[start]
        start, run = start[inside], run[inside]
        if not len(start):
            break
        longer = run * len(distinct) + item[start + n]
        together = np.argsort(longer)
        start, longer = start[together], longer[together]
        new = np.concatenate([[True], longer[1:] != longer[:-1]])
        first = np.flatnonzero(new)
        theirs = np.add.reduceat(side[start] & 1, first)
        both = np.minimum(theirs, np.diff(first, append=len(start)) - theirs)
        np.add.at(shared[:, n], side[start[first]] >> 1, both)
        run = np.cumsum(new) - 1
        kept = both[run] > 0
        start, run = start[kept], run[kept]
    return shared
