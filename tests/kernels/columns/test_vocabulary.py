"""Names and their codes, against a dictionary."""

from __future__ import annotations

import random

import numpy as np
import pytest

from valor_cli.kernels.columns.fields import FieldText, Ints
from valor_cli.kernels.columns.vocabulary import LONGEST, Vocabulary, holding_twice


def laid_out(fields: list[bytes]) -> tuple[FieldText, Ints, Ints]:
    """Fields with commas between them."""
    length = np.array([len(field) for field in fields], np.int64)
    end = np.cumsum(length + 1) - 1
    return FieldText(b",".join(fields)), end - length, end


def test_codes_follow_the_order_in_which_names_are_met() -> None:
    names = Vocabulary()
    assert names.code(b"dog") == 0
    # dog is known, cat and owl are new in this order.
    assert names.codes(*laid_out([b"cat", b"dog", b"owl", b"cat"])).tolist() == [1, 0, 2, 1]
    assert names.code(b"owl") == 2
    assert names.code(b"ox") == 3
    assert names.codes(*laid_out([b"ox", b"cat"])).tolist() == [3, 1]
    assert names.names == ("dog", "cat", "owl", "ox")
    assert len(names) == 4


def test_names_that_are_nearly_equal_are_told_apart() -> None:
    # Equal in the first eight bytes, or but for the length, or but for NULs behind.
    fields = [b"", b"a", b"a\0", b"12345678", b"123456789", b"12345678\0", b"1234567", b"x" * 64]
    fields += [b"x" * 63, b"x" * 63 + b"y", "é".encode(), "é".encode()[:1] + b"\xaa"]
    names = Vocabulary()
    assert names.codes(*laid_out(fields)).tolist() == list(range(len(fields)))
    assert names.codes(*laid_out(fields[::-1])).tolist() == list(range(len(fields)))[::-1]


def test_no_fields_make_no_names() -> None:
    none = np.zeros(0, np.int64)
    names = Vocabulary()
    assert len(names.codes(FieldText(b""), none, none)) == 0
    assert names.names == ()


@pytest.mark.parametrize("longest", [LONGEST, LONGEST + 1])
def test_long_names_among_others(longest: int) -> None:
    long = b"l" * longest
    names = Vocabulary()
    assert names.codes(*laid_out([b"a", long, b"b", long])).tolist() == [0, 1, 2, 1]
    # Then a column without the long one, which the table holds by now.
    assert names.codes(*laid_out([b"b", b"c", b"a"])).tolist() == [2, 3, 0]
    assert names.code(long) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_dictionary_finds_the_same(seed: int) -> None:
    rng = random.Random(seed)
    names, expected = Vocabulary(), dict[bytes, int]()
    for _ in range(30):
        # From a handful to more than the table had slots for at first.
        pool = rng.choice([5, 300, 20_000])
        fields = [
            f"class {rng.randrange(pool)}".encode() * rng.choice([1, 1, 3])
            for _ in range(rng.randrange(1, 3000))
        ]
        for field in fields[: rng.randrange(3)]:
            assert names.code(field) == expected.setdefault(field, len(expected))
        codes = names.codes(*laid_out(fields)).tolist()
        assert codes == [expected.setdefault(field, len(expected)) for field in fields]
        if rng.random() < 0.2:
            kept = rng.randrange(len(expected) + 1)
            names.forget(kept)
            expected = {name: code for name, code in expected.items() if code < kept}
    assert [name.encode() for name in names.names] == list(expected)


def test_forgotten_names_are_new_again() -> None:
    names = Vocabulary()
    names.codes(*laid_out([b"a", b"b", b"c"]))
    names.forget(1)
    assert names.names == ("a",)
    assert names.codes(*laid_out([b"c", b"a", b"b"])).tolist() == [1, 0, 2]


@pytest.mark.parametrize("columns", [1, 2, 8, 9, 30])
def test_rows_that_hold_a_code_twice(columns: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.permuted(np.tile(np.arange(columns), (50, 1)), axis=1)
    assert not holding_twice(codes).any()
    if columns > 1:
        codes[17, -1] = codes[17, 0]
        assert np.flatnonzero(holding_twice(codes)).tolist() == [17]
    assert len(holding_twice(codes[:0])) == 0
