"""Scores of labels: both kinds of rows against plain loops over lists, and against each other."""

from __future__ import annotations

from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.columns.grouping import offsets
from valor_cli.kernels.ranking import sparse_scores
from valor_cli.kernels.ranking.scores import (
    UNLISTED,
    DenseScores,
    Scores,
    SparseScores,
    joined_scores,
    members_by_label,
    set_numbers,
    sets_of_one,
)

LABELS = 6
Listed = list[tuple[int, float]]


def sparse(rows: list[Listed]) -> SparseScores:
    return SparseScores(
        np.cumsum([0, *map(len, rows)]),
        np.array([label for row in rows for label, _ in row], np.int32),
        np.array([score for row in rows for _, score in row], np.float64),
    )


def dense(rows: list[Listed], labels: list[int]) -> DenseScores:
    score = np.array([[score for _, score in row] for row in rows], np.float64)
    return DenseScores(np.array(labels, np.int64), score.reshape(len(rows), len(labels)))


def lists(scores: Scores) -> list[Listed]:
    """What the rows list."""
    if isinstance(scores, DenseScores):
        return [list(zip(scores.label.tolist(), row, strict=True)) for row in scores.score.tolist()]
    return [
        list(
            zip(
                scores.label[begin:end].tolist(),
                scores.score[begin:end].tolist(),
                strict=True,
            )
        )
        for begin, end in zip(scores.start[:-1].tolist(), scores.start[1:].tolist(), strict=True)
    ]


SCORE = st.sampled_from([-1.0, 0.0, 0.0, 0.125, 0.25, 0.5, 0.5, 1.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Listed], Scores]:
    """Rows as lists, and the same rows as columns."""
    n = draw(st.integers(0, 12))
    if draw(st.booleans()):
        labels = draw(st.lists(st.integers(0, LABELS - 1), unique=True))
        rows = [[(label, draw(SCORE)) for label in labels] for _ in range(n)]
        return rows, dense(rows, labels)
    rows = [
        [(label, draw(SCORE)) for label in draw(st.lists(st.integers(0, LABELS - 1), unique=True))]
        for _ in range(n)
    ]
    return rows, sparse(rows)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two or three rows, so that what one block does shows in the next."""
    monkeypatch.setattr(sparse_scores, "SCORES_AT_ONCE", 12)
    monkeypatch.setattr(sparse_scores, "ENTRIES_GROUPED", 4)


@given(problems())
def test_the_best_is_the_first_of_the_highest(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    found = scores.best()
    for at, row in enumerate(rows):
        highest = max((score for _, score in row), default=0.0)
        equal = [label for label, score in row if score == highest and score != 0]
        assert found.label[at] == (equal[0] if equal else -1)
        assert found.score[at] == highest
        assert found.tied[at] == (len(equal) > 1)


@given(problems(), st.lists(st.integers(0, LABELS + 2), min_size=12, max_size=12))
def test_score_and_place_of_a_label(
    problem: tuple[list[Listed], Scores], labels: list[int]
) -> None:
    rows, scores = problem
    asked = np.array(labels[: len(rows)], np.int64)
    found, place = scores.of(asked), scores.place_of(asked)
    for at, row in enumerate(rows):
        by_label = dict(row)
        assert found[at] == by_label.get(labels[at], 0.0)
        ordered = [label for label, _ in sorted(row, key=lambda pair: -pair[1])]
        assert place[at] == (ordered.index(labels[at]) if labels[at] in by_label else UNLISTED)


@given(st.data())
def test_partial_rows_are_the_same_rows_written_out(data: st.DataObject) -> None:
    # A label that is not listed has score 0, beside scores below 0 too. Labels are listed in
    # ascending order, as the columns of the rows that are written out.
    rows = [
        sorted(data.draw(st.dictionaries(st.integers(0, LABELS - 1), SCORE)).items())
        for _ in range(data.draw(st.integers(1, 8)))
    ]
    partial = sparse(rows)
    full = [[(label, dict(row).get(label, 0.0)) for label in range(LABELS)] for row in rows]
    complete = dense(full, list(range(LABELS)))
    choices = np.full(len(rows), LABELS)
    expected = complete.best()
    for scores in (partial, complete, complete.sparse()):
        for one, other in zip(scores.best(choices), expected, strict=True):
            assert one.tolist() == other.tolist()
    asked = np.array([data.draw(st.integers(0, LABELS - 1)) for _ in rows])
    place, own = complete.place_of(asked), complete.of(asked)
    # 0 is as good as any label that is not listed, which of them comes first is nobody's to say.
    listed = [bool(own[at]) for at in range(len(rows))]
    assert partial.place_of(asked, choices)[listed].tolist() == place[listed].tolist()
    assert complete.place_of(asked, choices).tolist() == place.tolist()


def test_columns_for_some_labels_alone_are_partial_rows_too() -> None:
    scores = dense([[(2, -0.5), (0, -1.0)], [(2, 0.5), (0, -1.0)]], [2, 0])
    assert scores.best(np.array([2, 2])).label.tolist() == [2, 2]
    assert scores.best(np.array([3, 4])).label.tolist() == [-1, 2]
    assert scores.best(np.array([3, 4])).score.tolist() == [0.0, 0.5]
    # One and two labels that are not listed stand before -1.
    assert scores.place_of(np.array([0, 0]), np.array([3, 4])).tolist() == [2, 3]
    assert scores.place_of(np.array([2, 2]), np.array([3, 4])).tolist() == [1, 0]


@given(problems())
def test_zeros_leave_the_lists(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    assert lists(scores.sparse().without_zeros()) == [
        [(label, score) for label, score in row if score] for row in rows
    ]


@given(problems())
def test_sums(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    # All scores are sums of powers of two: exact in any order.
    assert scores.total().tolist() == [sum(score for _, score in row) for row in rows]
    assert scores.squares().tolist() == [sum(score**2 for _, score in row) for row in rows]


@pytest.mark.parametrize("width", [1, 3, 10, 17, 130])
def test_sums_are_the_same_bit_by_bit_however_rows_are_kept(width: int) -> None:
    score = np.random.default_rng(width).random((40, width))
    whole = DenseScores(np.arange(width), score)
    written_out = whole.sparse()
    between = written_out.spread(np.arange(40) * 2, 80)
    for name in ("total", "squares"):
        expected = getattr(whole, name)()
        assert getattr(written_out, name)().tolist() == expected.tolist()
        assert getattr(between, name)()[::2].tolist() == expected.tolist()
    # Those of NumPy, which the last bit of reference numbers rests on.
    assert whole.total().tolist() == score.sum(axis=1).tolist()


@given(problems())
def test_by_label_has_every_score_but_zeros(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    expected = sorted(
        (label, at, score) for at, row in enumerate(rows) for label, score in row if score
    )
    by_label = list(scores.by_label(LABELS))
    found = [
        (label, at, score)
        for label, (some, values) in enumerate(by_label)
        for at, score in zip(some.tolist(), values.tolist(), strict=True)
    ]
    assert len(by_label) == LABELS
    assert found == expected


@given(problems())
def test_scores_of_each_label_ascend(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    before = scores.score.copy()
    assert [some.tolist() for some in scores.ascending(LABELS)] == [
        sorted(score for row in rows for one, score in row if one == label and score)
        for label in range(LABELS)
    ]
    assert scores.score.tolist() == before.tolist()


@given(problems())
def test_labels_that_are_listed_and_those_with_a_score_above_zero(
    problem: tuple[list[Listed], Scores],
) -> None:
    rows, scores = problem
    listed = {label for row in rows for label, _ in row}
    above = {label for row in rows for label, score in row if score > 0}
    assert np.flatnonzero(scores.listed(LABELS)).tolist() == sorted(listed)
    assert np.flatnonzero(scores.above_zero(LABELS)).tolist() == sorted(above)


@given(problems(), st.data())
def test_rows_are_taken_by_mask_and_by_number(
    problem: tuple[list[Listed], Scores], data: st.DataObject
) -> None:
    rows, scores = problem
    assert len(scores) == len(rows)
    mask = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    assert lists(scores.take(np.array(mask, bool))) == [
        row for row, kept in zip(rows, mask, strict=True) if kept
    ]
    if rows:
        numbers = data.draw(st.lists(st.integers(0, len(rows) - 1)))
        assert lists(scores.take(np.array(numbers, np.int64))) == [rows[at] for at in numbers]


# Labels that become one, that are renamed, and of which two leave.
CODES = st.lists(st.integers(-1, 3), min_size=LABELS, max_size=LABELS) | st.one_of(
    st.permutations(range(low, LABELS + low)).map(lambda names: [max(one, -1) for one in names])
    for low in (0, -2)
)


@given(problems(), CODES, st.booleans())
def test_labels_are_renamed_leave_or_become_one_where_the_first_is_listed(
    problem: tuple[list[Listed], Scores], codes: list[int], highest: bool
) -> None:
    rows, scores = problem
    expected = []
    for row in rows:
        merged: dict[int, float] = {}
        for label, score in row:
            code = codes[label]
            if code >= 0:
                both = max if highest else add
                merged[code] = both(merged[code], score) if code in merged else score
        expected.append(list(merged.items()))
    assert lists(scores.relabelled(np.array(codes), highest=highest)) == expected


@given(problems(), st.data())
def test_rows_are_spread_among_empty_ones(
    problem: tuple[list[Listed], Scores], data: st.DataObject
) -> None:
    rows, scores = problem
    places = data.draw(st.permutations(range(len(rows) + 3))).copy()[: len(rows)]
    found = lists(scores.spread(np.array(places, np.int64), len(rows) + 3))
    nothing = [(label, 0.0) for label in scores.label.tolist()]
    expected = [nothing if isinstance(scores, DenseScores) else [] for _ in range(len(rows) + 3)]
    for place, row in zip(places, rows, strict=True):
        expected[place] = row
    assert found == expected


@given(problems())
def test_the_order_of_labels_turns_round(problem: tuple[list[Listed], Scores]) -> None:
    rows, scores = problem
    assert lists(scores.last_listed_first()) == [row[::-1] for row in rows]


@given(st.lists(problems(), min_size=1, max_size=3))
def test_parts_are_joined(parts: list[tuple[list[Listed], Scores]]) -> None:
    joined = joined_scores([scores for _, scores in parts])
    assert lists(joined) == [row for rows, _ in parts for row in rows]


def test_what_lists_the_same_labels_stays_dense() -> None:
    one = dense([[(2, 0.5), (0, 0.25)]], [2, 0])
    assert isinstance(joined_scores([one, one]), DenseScores)
    other = dense([[(0, 0.5), (2, 0.25)]], [0, 2])
    assert isinstance(joined_scores([one, other]), SparseScores)


def test_rows_of_many_labels_group_without_16_bits() -> None:
    rows = [[(70_000, 0.5), (3, 0.25)], [(65_539, 1.0)], [(3, 0.5)]]
    assert [
        (label, some.tolist(), values.tolist())
        for label, (some, values) in enumerate(sparse(rows).by_label(70_001))
        if len(some)
    ] == [(3, [0, 2], [0.25, 0.5]), (65_539, [1], [1.0]), (70_000, [0], [0.5])]


def sets(*rows: list[int]) -> SparseScores:
    label = [one for row in rows for one in row]
    length = np.array([len(row) for row in rows], np.int64)
    return SparseScores(offsets(length), np.array(label, np.int32), np.ones(len(label)))


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_equal_where_sets_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(5)[: rng.integers(0, 5)].tolist() for _ in range(60)]
    number = set_numbers(sets(*rows)).tolist()
    for one, own in zip(rows, number, strict=True):
        for other, theirs in zip(rows, number, strict=True):
            assert (own == theirs) == (set(one) == set(other))


def test_no_sets_have_no_numbers() -> None:
    assert set_numbers(sets()).tolist() == []
    assert set_numbers(sets([], [])).tolist() == [0, 0]


def test_members() -> None:
    scores = DenseScores(np.arange(2), np.array([[0.5, 0.0], [0.25, 1.0], [0.0, 0.5]]))
    found = members_by_label(scores, sets([0, 2], [], [1]), 3)
    assert [(rows.tolist(), score.tolist(), own.tolist()) for rows, score, own in found] == [
        ([0, 1], [0.5, 0.25], [True, False]),
        ([1, 2], [1.0, 0.5], [False, True]),
        ([], [], []),
    ]


def test_a_label_each() -> None:
    found = sets_of_one(np.array([2, 0]))
    assert (found.start.tolist(), found.label.tolist()) == ([0, 1, 2], [2, 0])


def test_nothing_is_copied_where_labels_stay_distinct() -> None:
    scores = DenseScores(np.array([1, 0]), np.array([[0.5, 0.25]]))
    found = scores.relabelled(np.array([7, 5, 3]))
    assert found.score is scores.score
    assert isinstance(found, DenseScores)
    assert found.label.tolist() == [5, 7]
