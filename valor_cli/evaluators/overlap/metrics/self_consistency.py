"""Self-consistency: similarity between a model's answers to one question.

Every answer is compared with every other answer to the same question by ROUGE-1 and ROUGE-L, whose
numbers are those of the package rouge-score. No answer is a reference: the F1 of a pair is
symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain, combinations
from typing import Annotated, Final, NamedTuple

import numpy as np
from annotated_types import Interval

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.overlap.answer_overlap import (
    LOST,
    LOST_REASON,
    Tokenizer,
    drops_most_letters,
    lost_warning,
    word_codes,
)
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.common_subsequence import common_lengths
from valor_cli.kernels.text.shared_grams import Floats, overlap_rates
from valor_cli.kernels.text.token_codes import Ints
from valor_cli.metric import Metric, Output
from valor_cli.results import STATUSES, Findings

OUTPUTS = (Output("rouge_l", "higher"), Output("rouge_1", "higher"))

BUCKETS: Final = 10
"""Answers to a question that are too many are drawn evenly from so many ranges of length."""

LONE: Final = "lone"
"""The count of answers that have no other to be compared with."""

_SKIPPED: Final = STATUSES.index("skipped")

_AT_ONCE: Final = 100_000
"""Pairs whose words are held at once."""


class Group(NamedTuple):
    """The answers to one question, as positions of samples.

    Attributes:
        size: How many there are.
        compared: Those that are compared with one another.
        left_out: Those that were not drawn.
    """

    size: int
    compared: tuple[int, ...]
    left_out: tuple[int, ...]


def self_consistency(
    texts: Texts,
    *,
    max_group_size: Annotated[int, Interval(ge=2)] = 100,
    min_test_cases: Annotated[int, Interval(ge=1)] = 2,
    use_stemmer: bool = False,
    tokenizer: Tokenizer = "rouge",
    seed: int = 0,
) -> Outcomes:
    """ROUGE-L and ROUGE-1 F1 between all answers to the same question, averaged for each answer.

    Answers belong together when their `user_input` is the same to the character. An answer that is
    the only one to its question has the value 1 and the report warns of it. Two answers without a
    single word share nothing: 0, as in rouge-score.

    Formula:
        value of an answer = mean over the other answers to its question of ROUGE F1
        value = mean over all answers

    Pitfalls:
        Agreement is not correctness: a model that is always wrong in the same words has 1, and so
        has one that was asked at temperature 0, or whose answers came from a cache. The same
        meaning in other words counts as disagreement.

    Example:
        The answers "Paris", "Paris" and "Rome" to one question have (1 + 0) / 2 = 0.5, 0.5 and 0: 1
        / 3 = 0.333 on average.

    Args:
        texts: All samples of a model: a group is never split.
        max_group_size: Of more answers to a question so many are drawn, evenly from ten ranges of
            their length in characters; the others are skipped. 100 make 4,950 pairs.
        min_test_cases: The report warns of fewer answers in all.
        use_stemmer: As in `rouge_1`.
        tokenizer: As in `rouge_1`.
        seed: Which answers are drawn depends on it, and not on the order of the samples.
    """
    data = texts.data
    groups = list(_groups(data, max_group_size, seed))
    coded = word_codes(tokenizer, use_stemmer).of(one or "" for one in data.response)
    values = _mean_overlaps(groups, coded.sequences())
    found = [
        missing("no response" if response is None else "no user_input")
        for response in data.response
    ]
    lost, lone = np.zeros((2, data.unit_count), np.int64)
    for group in groups:
        lone[list(group.compared)] = len(group.compared) == 1
        for at in group.left_out:
            found[at] = _skipped(group)
        for at in group.compared:
            lost[at] = drops_most_letters([data.response[at] or ""], tokenizer)
            found[at] = _compared(group, values[:, at], bool(lost[at]))
    return Outcomes.of(found, [one.name for one in OUTPUTS], {LOST: lost, LONE: lone})


def mean_consistency(sampled: Sampled) -> Findings:
    """Mean of every output over the answers that have a value."""
    return sampled.findings(
        sampled.means(), warnings=chain(_remarks(sampled), lost_warning(sampled))
    )


def _remarks(sampled: Sampled) -> Iterator[str]:
    lone = int(sampled.outcomes.numbers[LONE][sampled.scored].sum())
    skipped = int((sampled.outcomes.status == _SKIPPED).sum())
    answers, least = int(sampled.scored.sum()) + skipped, sampled.parameters["min_test_cases"]
    if answers < least:
        yield f"{answers:,} answers are fewer than min_test_cases, {least:,}"
    if lone:
        yield (
            f"{lone:,} of {answers:,} answers are the only one to their question and have the "
            "value 1: ask every question several times"
        )
    if skipped:
        most = sampled.parameters["max_group_size"]
        yield (
            f"{skipped:,} of {answers:,} answers were skipped: of each question with more than "
            f"{most:,} answers (max_group_size), {most:,} were drawn"
        )


def _groups(data: TextDataset, most: int, seed: int) -> Iterator[Group]:
    """The answers to each question, in an order that is that of no file."""
    questions: dict[str, list[tuple[int, str, str, int]]] = {}
    columns = zip(data.user_input, data.response, data.sample_ids, strict=True)
    for at, (question, response, sample_id) in enumerate(columns):
        if question is not None and response is not None:
            key = (len(response), response, sample_id, at)
            questions.setdefault(question, []).append(key)
    for keys in questions.values():
        keys.sort()
        order = [at for *_, at in keys]
        drawn = set(order if len(order) <= most else _drawn(data.sample_ids, order, most, seed))
        yield Group(
            len(order),
            tuple(at for at in order if at in drawn),
            tuple(at for at in order if at not in drawn),
        )


def _drawn(sample_ids: Sequence[str], order: list[int], most: int, seed: int) -> list[int]:
    """So many of more answers, evenly from buckets of equal size along their order."""

    def lot(at: int) -> tuple[bytes, int]:
        # A hash draws the same in every version of every library.
        text = f"{seed} {sample_ids[at]}".encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=8).digest(), at

    shares = [len(part) for part in np.array_split(np.arange(most), BUCKETS)]
    buckets = [part.tolist() for part in np.array_split(np.array(order), BUCKETS)]
    return [
        at
        for bucket, share in zip(buckets, shares, strict=True)
        for at in sorted(bucket, key=lot)[:share]
    ]


def _mean_overlaps(groups: Sequence[Group], words: Sequence[list[int]]) -> Floats:
    """(2, n) ROUGE-L and ROUGE-1 F1 of each sample, on average over the pairs it is in; else 1."""
    totals = np.zeros((2, len(words)))
    counts = np.zeros(len(words))
    lengths = np.array([len(one) for one in words], np.int64)
    # Words in order have what they share as their longest common subsequence.
    sorted_words = [sorted(one) for one in words]
    for pairs in _batches(groups):
        left, right = pairs.T
        for total, texts in zip(totals, (words, sorted_words), strict=True):
            sides = ([texts[at] for at in side.tolist()] for side in (left, right))
            hits = np.array(common_lengths(*sides), np.int64)
            f1 = overlap_rates(hits, lengths[left], lengths[right]).f1
            np.add.at(total, pairs, f1[:, None])
        np.add.at(counts, pairs, 1)
    return np.divide(totals, counts, out=np.ones_like(totals), where=counts > 0)


def _batches(groups: Sequence[Group]) -> Iterator[Ints]:
    """(p, 2) all pairs within groups, some of them at a time."""
    pairs: list[tuple[int, int]] = []
    for group in groups:
        for pair in combinations(group.compared, 2):
            pairs.append(pair)
            if len(pairs) == _AT_ONCE:
                yield np.array(pairs)
                pairs = []
    if pairs:
        yield np.array(pairs)


def _compared(group: Group, values: Floats, is_lost: bool) -> Outcome:
    pairs = len(group.compared) - 1
    reason = LOST_REASON if is_lost else None
    return Outcome(
        {output.name: float(value) for output, value in zip(OUTPUTS, values, strict=True)},
        reason=reason if pairs else "the only answer to its question",
        details={"group_size": group.size, "pairs": pairs},
    )


def _skipped(group: Group) -> Outcome:
    return Outcome(
        status="skipped",
        reason=f"not among the {len(group.compared):,} answers drawn (max_group_size)",
        details={"group_size": group.size, "pairs": 0},
    )


SELF_CONSISTENCY = Metric(
    name="self_consistency",
    measure=self_consistency,
    compute=mean_consistency,
    outputs=OUTPUTS,
    reference="rouge_score.rouge_scorer.RougeScorer, rougeL and rouge1 of every pair",
    citation="Lin, ROUGE: A Package for Automatic Evaluation of Summaries, ACL Workshop 2004",
    aliases=("Self-Consistency", "SelfConsistency"),
    needs=("user_input", "response"),
    threshold=0.75,
)
