"""Common subsequences: by hand, and rouge-score's own table and way back through it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _union_lcs, lcs_ind

from valor_cli.kernels.text import common_subsequence
from valor_cli.kernels.text.common_subsequence import (
    common_lengths,
    union_positions,
    union_words,
)
from valor_cli.kernels.text.token_codes import WordCodes

FEW = st.lists(st.integers(0, 3), max_size=14)


@pytest.mark.parametrize("block", [1, 2, 3, 2048])
@settings(max_examples=50)
@given(reference=FEW, hypothesis=FEW)
def test_the_choice_of_rouge_score(block: int, reference: list[int], hypothesis: list[int]) -> None:
    """Blocks of any size: a long reference is read in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_subsequence, "BLOCK", block)
        found = union_positions(reference, [hypothesis])
    assert found == lcs_ind(reference, hypothesis)
    assert common_lengths([reference], [hypothesis]) == [len(found)]


@given(FEW, st.lists(FEW, max_size=4))
def test_positions_with_any_of_several(reference: list[int], hypotheses: list[list[int]]) -> None:
    expected = set().union(*(lcs_ind(reference, one) for one in hypotheses))
    assert union_positions(reference, hypotheses) == sorted(expected)


def test_equal_hypotheses_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    positions = common_subsequence._positions

    def counted(blocks: Sequence[common_subsequence._Block], other: Sequence[int]) -> list[int]:
        looked_at.append(other)
        return positions(blocks, other)

    monkeypatch.setattr(common_subsequence, "_positions", counted)
    # Of 1 2 and 2 1 it is the 1.
    assert union_positions([1, 2], [[2, 1]] * 300 + [[1]] * 100) == [0]
    assert sorted(looked_at) == [(1,), (2, 1)]


def test_memory_of_long_sequences_grows_with_their_length() -> None:
    """No mask is wider than a block, however long the reference is."""
    blocks = common_subsequence._blocks(range(10_000))
    masks = [mask for block in blocks for mask in block.masks.values()]
    assert max(masks) < 1 << common_subsequence.BLOCK
    assert union_positions(range(10_000), [[9_999, 5_000, 0, 9_998]]) == [0, 9_998]


LINE = st.text("abcd", max_size=9).map(" ".join)
TEXT = st.lists(LINE, max_size=4).map("\n".join)
PAIRS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=2)), max_size=4)


def shared(hypothesis: str, *references: str) -> list[list[str]]:
    """The words of each reference that one hypothesis holds."""
    return joint([(hypothesis, list(references))])


def joint(pairs: list[tuple[str, list[str]]]) -> list[list[str]]:
    names: list[str] = []

    def split(line: str) -> list[str]:
        # The order in which words are numbered.
        names.extend(word for word in line.split() if word not in names)
        names[:] = dict.fromkeys(names)
        return line.split()

    codes = WordCodes(split)
    own = codes.of(one for one, _ in pairs)
    right = codes.of(one for _, references in pairs for one in references)
    paired = [at for at, (_, references) in enumerate(pairs) for _ in references]
    found = union_words(own, right, np.array(paired, np.int64), np.arange(len(paired)))
    return [[names[code] for code in text] for text in found.sequences()]


def one_by_one(pairs: list[tuple[str, list[str]]]) -> list[list[str]]:
    return [
        [
            word
            for line in reference.split("\n")
            for word in _union_lcs(line.split(), [one.split() for one in hypothesis.split("\n")])
        ]
        for hypothesis, references in pairs
        for reference in references
    ]


def test_by_hand() -> None:
    # Lin (2004): the longest common subsequences are a b and a c e, their union a b c e.
    assert shared("a b f g h\na c h i e", "a b c d e") == [["a", "b", "c", "e"]]
    # From the end of b a c: c; a and b differ, either can be dropped, and the reference goes back:
    # b. From the end of c b likewise: c.
    assert shared("a b c", "b a c\nc b") == [["b", "c", "c"]]
    assert shared("", "a") == shared("a", "") == [[]]


@settings(max_examples=60)
@given(PAIRS)
def test_the_union_of_rouge_score(pairs: list[tuple[str, list[str]]]) -> None:
    assert joint(pairs) == one_by_one(pairs)


@pytest.mark.parametrize(
    ("name", "value"), [("WIDEST", 4), ("LONGEST", 3), ("_LANES", 2), ("_AT_ONCE", 3)]
)
@settings(max_examples=30)
@given(pairs=PAIRS)
def test_the_same_however_the_work_is_cut(
    name: str, value: int, pairs: list[tuple[str, list[str]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_subsequence, name, value)
        assert joint(pairs) == one_by_one(pairs)


@pytest.mark.parametrize("width", [1, 2, 31, 32, 33, 63, 64, 65, 200])
def test_lines_of_any_width(width: int) -> None:
    rng = np.random.default_rng(width)
    pairs = [
        (" ".join(rng.choice(list("abc"), length)), [" ".join(rng.choice(list("abc"), width))])
        for length in (1, width, 600)
    ]
    assert joint(pairs) == one_by_one(pairs)


def test_only_chosen_references_are_looked_at() -> None:
    codes = WordCodes(str.split)
    own, right = codes.of(["a b"]), codes.of(["a", "b", "a b"])
    found = union_words(own, right, np.zeros(3, np.int64), np.array([1]))
    assert [Counter(text) for text in found.sequences()] == [Counter(), Counter([1]), Counter()]
