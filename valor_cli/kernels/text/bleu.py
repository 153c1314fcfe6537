"""BLEU: words as its tokenizers split them, n-gram counts, and the score from them.

The rules of `treebank_words`, and their order, are those of NLTK's NLTKWordTokenizer, which extends
Robert McIntyre's tokenizer.sed. Every pattern is linear in the length of the text. `mteval_words`
are those of NIST's mteval-v13a.pl ("13a" in sacrebleu).

Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, ACL 2002.
Smoothing is sacrebleu's (Chen and Cherry, A Systematic Comparison of Smoothing Techniques for
Sentence-Level BLEU, WMT 2014).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, fsum, log
from typing import Any, Final, Literal, NamedTuple

_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotes.
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r"^\"", r"``"),
        (r"(``)", r" \1 "),
        (r"([ \(\[{<])(\"|\'{2})", r"\1 `` "),
        (r"(?i)(?<!\w)(\')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\1 "),
        # Punctuation; the last period of the text, not those before.
        (r"([^\.])(\.)([\]\)}>\"\'»”’ ]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (r"([^\.])(\.)([\]\)}>\"\']*)\s*$", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[\(\)\{\}\<\>]", r" \g<0> "),
        (r"--", r" -- "),
    )
)

_RULES_BETWEEN_SPACES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Closing quotes.
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"\s+", " "),
        # Endings that are words of their own.
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # Two words written as one.
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)


def treebank_words(text: str) -> list[str]:
    """The words of a text as one sentence: a period inside it stays with its word.

    Equal to NLTK's `word_tokenize(text, preserve_line=True)`. Beside accents of their own and
    joiners that is so up to NLTK 3.9: 3.10 takes `regex`, to which these are letters.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _RULES_BETWEEN_SPACES:
        text = pattern.sub(replacement, text)
    return text.split()


_ENTITIES: Final = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# The script's first rule splits at spaces too, which changes nothing and costs half of the time.
_MARKS: Final = re.compile(r"([\{-\~\[-\`\!-\&\(-\+\:-\@\/])")
_AFTER_NO_DIGIT: Final = re.compile(r"([^0-9])([\.,])")
_BEFORE_NO_DIGIT: Final = re.compile(r"([\.,])([^0-9])")
_AFTER_DIGIT: Final = re.compile(r"([0-9])(-)")


def mteval_words(text: str) -> list[str]:
    """The words of a text, with punctuation split off except points and commas between digits.

    Equal to what sacrebleu's Tokenizer13a makes of it, with white space at its end stripped.
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
    text = _MARKS.sub(r" \1 ", f" {text} ")
    if "." in text or "," in text:
        text = _AFTER_NO_DIGIT.sub(r"\1 \2 ", text)
        text = _BEFORE_NO_DIGIT.sub(r" \1 \2", text)
    if "-" in text:
        text = _AFTER_DIGIT.sub(r"\1 \2 ", text)
    return text.split()


Smoothing = Literal["none", "floor", "add-k", "exp"]

SMOOTHING_VALUES = {"floor": 0.1, "add-k": 1.0}
"""Default smoothing value, as in sacrebleu."""


class NgramMatches(NamedTuple):
    """N-gram matches of one response.

    Attributes:
        matches: By length of n-gram, from 1: those of the response that references have too. An
            n-gram counts at most as often as in the reference that has it most often.
        totals: Likewise, all n-grams of the response.
        response_words: Words of the response.
        reference_words: Words of the reference nearest in length; the shorter of two as near.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    response_words: int
    reference_words: int

    def precisions(self, order: int) -> list[float | None]:
        """Clipped precision by n-gram length up to `order`; None if the response is shorter."""
        pairs = zip(self.matches[:order], self.totals[:order], strict=True)
        return [matched / total if total else None for matched, total in pairs]


def ngram_matches(
    response: Sequence[str], references: Sequence[Sequence[str]], order: int
) -> NgramMatches:
    """Count the n-grams that a response shares with its references.

    Args:
        response: Its words.
        references: The words of each reference; at least one.
        order: The longest n-grams.
    """
    words = len(response)
    matches = [0] * order
    for n in range(1, order + 1):
        matched = _shared(_ngrams(response, n), [_ngrams(each, n) for each in references])
        # Longer n-grams hold the shorter: where these do not match, those cannot.
        if not matched:
            break
        matches[n - 1] = matched
    nearest = min((abs(len(each) - words), len(each)) for each in references)[1]
    totals = tuple(max(words - n, 0) for n in range(order))
    return NgramMatches(tuple(matches), totals, words, nearest)


def _ngrams(words: Sequence[str], n: int) -> Sequence[Any]:
    return words if n == 1 else list(zip(*(words[start:] for start in range(n)), strict=False))


def _shared(mine: Sequence[Any], theirs: Iterable[Sequence[Any]]) -> int:
    """How many of mine are among theirs, clipped as BLEU has it."""
    distinct = set(mine)
    if len(distinct) == len(mine):
        return len(set().union(*map(distinct.intersection, theirs)))
    most: dict[Any, int] = {}
    for each in theirs:
        for ngram, count in Counter(filter(distinct.__contains__, each)).items():
            if count > most.get(ngram, 0):
                most[ngram] = count
    counts = Counter(mine) if most else {}
    return sum([min(counts[ngram], count) for ngram, count in most.items()])


def brevity_penalty(words: int, reference_words: int) -> float:
    """BLEU's brevity penalty; 0 for an empty response."""
    if not words:
        return 0.0
    return 1.0 if words >= reference_words else exp(1 - reference_words / words)


def bleu(
    found: NgramMatches,
    weights: Sequence[float],
    *,
    smoothing: Smoothing = "none",
    smoothing_value: float | None = None,
    effective_order: bool = False,
) -> float:
    """BLEU of one response, 0..1.

    Where no word matches it is 0 under every smoothing, and so it is where what is left of a
    precision after smoothing is 0.

    Args:
        found: The counts, of n-grams at least as long as there are weights.
        weights: By length of n-gram, from 1: the exponent of its precision.
        smoothing: What to do about n-grams of a length without a match.
        smoothing_value: What "floor" and "add-k" add; None: `SMOOTHING_VALUES`.
        effective_order: Leave out n-grams longer than the response; the other weights grow by
            the same factor so that their sum stays.
    """
    if not found.matches[0]:
        return 0.0
    precisions = _smoothed(found, len(weights), smoothing, smoothing_value)
    weighted = [(weight, one) for weight, one in zip(weights, precisions, strict=True) if weight]
    if effective_order:
        weighted = [(weight, one) for weight, one in weighted if one is not None]
        kept = fsum(weight for weight, _ in weighted) / fsum(weights)
        weighted = [(weight / kept, one) for weight, one in weighted]
    if not weighted or not all(one for _, one in weighted):
        return 0.0
    mean = exp(fsum(weight * log(one) for weight, one in weighted if one))
    return brevity_penalty(found.response_words, found.reference_words) * mean


def _smoothed(
    found: NgramMatches, order: int, smoothing: Smoothing, value: float | None
) -> list[float | None]:
    """The precisions after smoothing; None of n-grams that the response is too short for."""
    added = SMOOTHING_VALUES.get(smoothing, 0.0) if value is None else value
    precisions: list[float | None] = []
    halved = 1
    counts = zip(found.matches[:order], found.totals[:order], strict=True)
    for n, (matched, total) in enumerate(counts):
        if smoothing == "add-k" and n:
            # Of a response without such n-grams this is k / k, as in sacrebleu.
            precisions.append((matched + added) / (total + added))
        elif not total:
            precisions.append(None)
        elif matched or smoothing in ("none", "add-k"):
            precisions.append(matched / total)
        elif smoothing == "floor":
            precisions.append(added / total)
        else:
            halved *= 2
            precisions.append(1 / (halved * total))
    return precisions
