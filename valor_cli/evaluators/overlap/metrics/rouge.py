"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum.

C.-Y. Lin, ROUGE: A Package for Automatic Evaluation of Summaries, ACL Workshop on Text
Summarization Branches Out, 2004. Numbers are those of the package rouge-score, which follows
ROUGE-1.5.5. Texts are compared in lower case, by runs of a-z and 0-9.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.overlap.answer_overlap import (
    LOST,
    LOST_REASON,
    Tokenizer,
    drops_most_letters,
    lost_warning,
    word_codes,
)
from valor_cli.evaluators.overlap.reference_texts import comparable, incomparable_outcomes
from valor_cli.evaluators.samples.outcomes import Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.common_subsequence import common_lengths, union_words
from valor_cli.kernels.text.shared_grams import gram_counts, overlap_rates, shared_grams
from valor_cli.kernels.text.token_codes import Coded, Ints, as_characters
from valor_cli.metric import Metric, Output
from valor_cli.results import STATUSES, Findings

OUTPUTS = tuple(Output(name, "higher") for name in ("f1", "precision", "recall"))

MOST_PAIRS: Final = 10_000_000_000
"""Pairs of words, one of each text, whose common subsequence is looked for: some seconds."""

Bools = NDArray[np.bool_]


class Pairs(NamedTuple):
    """Responses and references as words.

    Attributes:
        unit_count: How many samples the shard has.
        sample: (p,) the sample of each response.
        responses: p texts.
        references: r texts, those of a sample together.
        response: (r,) the position of its response for each reference; ascending.
        lost: (p,) which samples lose most of their letters to the tokenizer.
    """

    unit_count: int
    sample: Ints
    responses: Coded
    references: Coded
    response: Ints
    lost: Bools

    @property
    def too_long(self) -> Bools:
        """(r,) whether each reference is too long to be compared with its response."""
        words = self.responses.lengths[self.response] * self.references.lengths
        return np.asarray(words > MOST_PAIRS)


def rouge_1(texts: Texts, *, use_stemmer: bool = False, tokenizer: Tokenizer = "rouge") -> Outcomes:
    """ROUGE-1: unigram F1 of the response and its best reference.

    Words are runs of a-z and 0-9 in lower case, each counted as often as both sides have it; of
    several references the one with the highest F1 counts. A text without words has the value 0,
    as in rouge-score: that is every text in Arabic or Chinese, unless `tokenizer` is "unicode".

    Formula:
        precision = shared words / words of the response
        recall = shared words / words of the reference
        f1 = 2 · precision · recall / (precision + recall)

    Pitfalls:
        Counts words, not meaning: a paraphrase gets little, and "it is not safe" has 0.857 against
        "it is safe". Long responses lose precision and short ones recall, so compare models at
        similar lengths. Papers on summaries often stem (`use_stemmer: true`), which lifts the
        value, or report recall alone.

    Example:
        "the cat sat" against "the cat sat on the mat" shares 3 words: precision 3 / 3 = 1, recall 3
        / 6 = 0.5, f1 = 2 · 1 · 0.5 / 1.5 = 0.667.

    Args:
        texts: Samples with response and references.
        use_stemmer: Compare the Porter stems of words of more than three characters.
        tokenizer: What a word is. rouge: as rouge-score; unicode: letters and digits of any
            script, the characters of scripts without spaces between words each by itself.
    """
    return _grams(texts, 1, use_stemmer, tokenizer)


def rouge_2(texts: Texts, *, use_stemmer: bool = False, tokenizer: Tokenizer = "rouge") -> Outcomes:
    """ROUGE-2: bigram F1 of the response and its best reference.

    As `rouge_1`, of bigrams (ROUGE-2). A text of one word has the value 0.

    Formula:
        precision = shared pairs / pairs of neighbouring words of the response
        recall = shared pairs / pairs of neighbouring words of the reference
        f1 = 2 · precision · recall / (precision + recall)

    Pitfalls:
        One changed word breaks both pairs that contain it: values lie far below those of
        `rouge_1`, and are rough on short texts. A response of one word has 0 even where it is the
        reference.

    Example:
        "the cat sat" against "the cat sat on the mat" shares 2 pairs: precision 2 / 2 = 1, recall 2
        / 5 = 0.4, f1 = 2 · 1 · 0.4 / 1.4 = 0.571.
    """
    return _grams(texts, 2, use_stemmer, tokenizer)


def rouge_l(texts: Texts, *, use_stemmer: bool = False, tokenizer: Tokenizer = "rouge") -> Outcomes:
    """ROUGE-L: F1 of the longest common subsequence of words with the best reference.

    ROUGE-L of whole texts: ends of lines are ignored. Words as in `rouge_1`. Time grows with the
    product of both lengths: 50,000 words against 50,000 take half a second. Samples with more than
    10,000,000,000 pairs of words (100,000 against 100,000) are skipped.

    Formula:
        LCS = words of the longest common subsequence: in order, gaps allowed
        precision = LCS / words of the response
        recall = LCS / words of the reference
        f1 = 2 · precision · recall / (precision + recall)

    Pitfalls:
        Sees the order of words, not their meaning: a rewording is low, and a negation that is
        slipped in hardly changes the value. What papers on summaries of several sentences call
        ROUGE-L is often `rouge_lsum`, which is usually higher.

    Example:
        "the gunman killed police" against "police killed the gunman": the longest common
        subsequence is "the gunman", so f1 = 2 / 4 = 0.5, where `rouge_1` has 1.
    """
    pairs = _pairs(texts, use_stemmer, tokenizer)
    hits = _subsequences(texts, use_stemmer, tokenizer)
    return _outcomes(texts, pairs, hits, 1, pairs.too_long)


def rouge_lsum(
    texts: Texts, *, use_stemmer: bool = False, tokenizer: Tokenizer = "rouge"
) -> Outcomes:
    """ROUGE-Lsum: F1 of the words in common subsequences of lines with the best reference.

    Summary-level ROUGE-L: every line of the reference is compared with every line of the response,
    and the union of what they share counts, each word as often as both texts have it at most.
    Words as in `rouge_1`. Of texts of one line it is `rouge_l`. Two lines of 50,000 words take
    about a second; longer samples are skipped as by `rouge_l`.

    Formula:
        hits = Σ over lines of the reference: words in the union of its longest
               common subsequences with the lines of the response
        precision, recall = hits / words of the response, of the reference
        f1 = 2 · precision · recall / (precision + recall)

    Pitfalls:
        Only line breaks part sentences: put each sentence on a line of its own, in responses and
        references alike; texts of one line have the value of `rouge_l`. The order of the lines does
        not count.

    Example:
        The lines "one two", "three four" against the same lines the other way round: all 4 words
        are hits, f1 = 1. `rouge_l` reads each text as one line and has 2 / 4 = 0.5.
    """
    pairs = _pairs(texts, use_stemmer, tokenizer)
    hits = _subsequences(texts, use_stemmer, tokenizer).copy()
    several = (pairs.references.line_counts() > 1) | (
        pairs.responses.line_counts()[pairs.response] > 1
    )
    chosen = np.flatnonzero(several & ~pairs.too_long)
    if len(chosen):
        held = union_words(pairs.responses, pairs.references, pairs.response, chosen)
        hits[chosen] = shared_grams(pairs.responses, held, pairs.response, 1)[chosen]
    return _outcomes(texts, pairs, hits, 1, pairs.too_long)


def mean_rouge(sampled: Sampled) -> Findings:
    """Mean of every output over the samples that have a value."""
    return sampled.findings(sampled.means(), warnings=lost_warning(sampled))


def _grams(texts: Texts, order: int, use_stemmer: bool, tokenizer: Tokenizer) -> Outcomes:
    pairs = _pairs(texts, use_stemmer, tokenizer)
    hits = shared_grams(pairs.responses, pairs.references, pairs.response, order)
    return _outcomes(texts, pairs, hits, order, np.zeros(len(hits), np.bool_))


def _pairs(texts: Texts, use_stemmer: bool, tokenizer: Tokenizer) -> Pairs:
    return texts.once(
        ("rouge pairs", use_stemmer, tokenizer), lambda: _paired(texts, use_stemmer, tokenizer)
    )


def _subsequences(texts: Texts, use_stemmer: bool, tokenizer: Tokenizer) -> Ints:
    """(r,) lengths of the common subsequence of each reference and its response; 0 of too long."""
    pairs = _pairs(texts, use_stemmer, tokenizer)

    def lengths() -> Ints:
        found = np.zeros(len(pairs.response), np.int64)
        chosen = np.flatnonzero(~pairs.too_long)
        references, responses = as_characters(pairs.references, pairs.responses)
        found[chosen] = common_lengths(
            [references[at] for at in chosen.tolist()],
            [responses[at] for at in pairs.response[chosen].tolist()],
        )
        return found

    return texts.once(("rouge subsequences", use_stemmer, tokenizer), lengths)


def _paired(texts: Texts, use_stemmer: bool, tokenizer: Tokenizer) -> Pairs:
    codes = word_codes(tokenizer, use_stemmer)
    chosen = comparable(texts.data)
    return Pairs(
        unit_count=texts.data.unit_count,
        sample=np.array([at for at, _, _ in chosen], np.int64),
        responses=codes.of(response for _, response, _ in chosen),
        references=codes.of(one for _, _, references in chosen for one in references),
        response=np.repeat(
            np.arange(len(chosen)),
            np.array([len(references) for _, _, references in chosen], np.int64),
        ),
        lost=np.array(
            [drops_most_letters([response, *found], tokenizer) for _, response, found in chosen],
            np.bool_,
        ),
    )


def _outcomes(texts: Texts, pairs: Pairs, hits: Ints, order: int, too_long: Bools) -> Outcomes:
    """Of each sample the reference with the highest F1, of equal ones the first."""
    rates = overlap_rates(
        hits,
        gram_counts(pairs.responses, order)[pairs.response],
        gram_counts(pairs.references, order),
    )
    first = np.searchsorted(pairs.response, np.arange(len(pairs.sample)))
    highest = np.maximum.reduceat(rates.f1, first) if len(first) else rates.f1
    candidates = np.flatnonzero(rates.f1 == highest[pairs.response])
    best = candidates[np.searchsorted(pairs.response[candidates], np.arange(len(first)))]
    skipped = np.zeros(len(pairs.sample), np.bool_)
    skipped[pairs.response[too_long]] = True
    columns = {}
    for name, values in rates._asdict().items():
        columns[name] = np.full(pairs.unit_count, np.nan)
        columns[name][pairs.sample] = np.where(skipped, np.nan, values[best])
    status, reasons = _statuses(texts, pairs, skipped)
    lost = np.zeros(pairs.unit_count, np.int64)
    lost[pairs.sample] = pairs.lost
    return Outcomes(
        status,
        reasons,
        _details(pairs, best - first, skipped),
        ((),) * pairs.unit_count,
        columns,
        {LOST: lost},
    )


def _statuses(
    texts: Texts, pairs: Pairs, skipped: Bools
) -> tuple[NDArray[np.int8], tuple[str | None, ...]]:
    status = np.full(pairs.unit_count, STATUSES.index("missing_input"), np.int8)
    status[pairs.sample] = np.where(skipped, STATUSES.index("skipped"), STATUSES.index("ok"))
    reasons = [one.reason for one in incomparable_outcomes(texts.data)]
    for at, lost in zip(pairs.sample.tolist(), pairs.lost.tolist(), strict=True):
        reasons[at] = LOST_REASON if lost else None
    for at in pairs.sample[skipped].tolist():
        reasons[at] = f"more than {MOST_PAIRS:,} pairs of words of response and reference"
    return status, tuple(reasons)


def _details(pairs: Pairs, best: Ints, skipped: Bools) -> tuple[dict[str, Any] | None, ...]:
    """Which reference won, counted from 0, where there were several."""
    details: list[dict[str, Any] | None] = [None] * pairs.unit_count
    several = np.bincount(pairs.response, minlength=len(best)) > 1
    for at in np.flatnonzero(several & ~skipped).tolist():
        details[pairs.sample[at]] = {"reference": int(best[at])}
    return tuple(details)


def _rouge(name: str, measure: Any, original: str, aliases: tuple[str, ...]) -> Metric[Any]:
    return Metric(
        name=name,
        measure=measure,
        compute=mean_rouge,
        outputs=OUTPUTS,
        reference=f"rouge_score.rouge_scorer.RougeScorer, {original}",
        citation="Lin, ROUGE: A Package for Automatic Evaluation of Summaries, ACL Workshop 2004",
        aliases=aliases,
        needs=("response", "references"),
    )


ROUGE_1 = _rouge("rouge_1", rouge_1, "rouge1", ("ROUGE-1", "rouge1"))
ROUGE_2 = _rouge("rouge_2", rouge_2, "rouge2", ("ROUGE-2", "rouge2"))
ROUGE_L = _rouge("rouge_l", rouge_l, "rougeL", ("ROUGE-L", "rougeL", "ROUGE", "rouge"))
ROUGE_LSUM = _rouge("rouge_lsum", rouge_lsum, "rougeLsum", ("ROUGE-Lsum", "rougeLsum"))
