"""Scores counted label by label: against a Counter, merged in any order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking import score_counts as module
from valor_cli.kernels.ranking.score_counts import ScoreCounts

LABELS = 4

Entry = tuple[int, float, bool]
"""A label, a score for it, and whether the row has the label."""

ENTRIES = st.lists(
    st.tuples(
        st.integers(0, LABELS - 1),
        st.sampled_from([-1.0, -0.5, 5e-324, 0.25, 0.5, 1.0]),
        st.booleans(),
    ),
    max_size=60,
)


def counted(entries: list[Entry]) -> ScoreCounts:
    """Those of all labels."""
    return ScoreCounts.of(
        tuple(
            np.array(sorted(score for at, score, hit in entries if at == label and hit >= least))
            for least in (True, False)
        )
        for label in range(LABELS)
    )


def told(counts: ScoreCounts) -> list[dict[float, tuple[int, int]]]:
    """By label and score, how many rows there are, and how many positives."""
    return [
        dict(zip(score.tolist(), zip(every.tolist(), positive.tolist(), strict=True), strict=True))
        for score, every, positive in counts.by_label()
    ]


def expected(entries: list[Entry]) -> list[dict[float, tuple[int, int]]]:
    """The same by counting."""
    every = Counter((label, score) for label, score, _ in entries)
    positive = Counter((label, score) for label, score, hit in entries if hit)
    return [
        {
            score: (count, positive[at, score])
            for (at, score), count in sorted(every.items())
            if at == label
        }
        for label in range(LABELS)
    ]


def assert_same(one: ScoreCounts, other: ScoreCounts) -> None:
    """Bit by bit, types included."""
    for left, right in zip((one.start, *one.scores), (other.start, *other.scores), strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("together", [1, 1 << 15])
@given(ENTRIES, st.integers(1, 5), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_parts_in_any_order_are_the_whole(
    together: int, entries: list[Entry], cuts: int, seed: int
) -> None:
    # Labels one by one, and several of them at a time.
    module.SCORES_TOGETHER, before = together, module.SCORES_TOGETHER
    try:
        whole = counted(entries)
        assert told(whole) == expected(entries)
        assert [list(label) for label in told(whole)] == [list(one) for one in expected(entries)]
        rng = np.random.default_rng(seed)
        of = rng.integers(0, cuts, len(entries))
        parts = [
            counted([one for one, part in zip(entries, of, strict=True) if part == at])
            for at in rng.permutation(cuts)
        ]
        assert_same(ScoreCounts.merged(parts), whole)
        tree = parts[0]
        for part in parts[1:]:
            tree = ScoreCounts.merged([part, tree])
        assert_same(tree, whole)
    finally:
        module.SCORES_TOGETHER = before


def test_counts_are_as_narrow_as_may_be() -> None:
    def part(count: int) -> ScoreCounts:
        return counted([(0, 0.5, False)] * count + [(1, 0.5, True)])

    few, more = part(200), part(300)
    assert [column.dtype for column in few.scores[1:]] == [np.uint8, np.uint8]
    assert [column.dtype for column in more.scores[1:]] == [np.uint16, np.uint8]
    both = ScoreCounts.merged([few, few])
    assert both.scores.every.tolist() == [400, 2]
    assert [column.dtype for column in both.scores[1:]] == [np.uint16, np.uint8]


def test_no_labels() -> None:
    nothing = ScoreCounts.of([])
    assert_same(ScoreCounts.merged([nothing, nothing]), nothing)
    assert list(nothing.by_label()) == []
