"""The order of texts, and their places in one another, against Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import begins
from valor_cli.kernels.columns.texts import is_ascending, order_of, positions

# Few letters, so that texts repeat and share beginnings; 0xff is where signed bytes would turn.
LISTS = st.lists(st.lists(st.sampled_from([b"a", b"b", b"\xff"]), max_size=20).map(b"".join))


def objects(texts: list[bytes]) -> NDArray[Any]:
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    return column


def narrow(texts: list[bytes]) -> NDArray[Any]:
    return np.array(texts, dtype=None if texts else "S1")


@pytest.mark.parametrize("column", [objects, narrow])
@given(texts=LISTS)
def test_the_order(column: Any, texts: list[bytes]) -> None:
    expected = sorted(range(len(texts)), key=lambda row: texts[row])
    assert order_of(column(texts)).tolist() == expected
    assert is_ascending(column(texts)) == (texts == sorted(texts))


@pytest.mark.parametrize("left", [objects, narrow])
@pytest.mark.parametrize("right", [objects, narrow])
@settings(max_examples=40)
@given(texts=LISTS, keys=LISTS)
def test_the_places(left: Any, right: Any, texts: list[bytes], keys: list[bytes]) -> None:
    keys = sorted({*keys, *texts[::2]})
    expected = [keys.index(text) if text in keys else -1 for text in texts]
    assert positions(left(texts), right(keys)).tolist() == expected


@pytest.mark.parametrize("width", [1, 8, 9, 16, 17, 40])
def test_every_width(width: int) -> None:
    texts = [f"{number * 7919 % 1000:0{width}d}".encode()[-width:] for number in range(1000)]
    expected = sorted(range(1000), key=lambda row: texts[row])
    assert order_of(np.array(texts)).tolist() == expected
    keys = sorted(set(texts))
    assert positions(np.array(texts), np.array(keys)).tolist() == list(map(keys.index, texts))


def test_texts_that_end_a_word() -> None:
    # A text of eight bytes fills its number, and a shorter one of the same bytes comes first.
    texts = [b"aaaaaaaab", b"aaaaaaaa", b"aaaaaaa", b""]
    assert order_of(np.array(texts)).tolist() == [3, 2, 1, 0]
    assert positions(np.array([b"aaaaaaaa"]), np.array(texts[::-1])).tolist() == [2]


def test_the_same_texts_in_columns_of_two_widths() -> None:
    keys = np.array([b"a", b"b"])
    assert positions(keys.astype("S30"), keys).tolist() == [0, 1]


def test_where_texts_change() -> None:
    assert begins(np.array([b"a", b"a", b"b", b"a"])).tolist() == [True, False, True, True]
    assert begins(objects([b"a", b"a", b"b"])).tolist() == [True, False, True]
    assert begins(narrow([])).tolist() == []
