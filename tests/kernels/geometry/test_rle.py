"""Run lengths as strings and lists: both engines, against pycocotools and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.engines import by_both, kernel, needs_kernel
from tests.oracles.coco_masks import assert_same_masks, masks_of, random_bitmaps, reference_rles
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.masks import areas
from valor_cli.kernels.geometry.rle import encoded, from_counts
from valor_cli.kernels.geometry.shapes import Masks

INT64 = np.iinfo(np.int64)
SIDES = [0, 1, 2, 3, 7, 640, rle.LARGEST_SIDE, rle.LARGEST_SIDE + 1, -1, INT64.max, INT64.min]


def lists(masks: Masks) -> list[list[int]]:
    return [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]


def decoded(strings: list[bytes], sizes: object) -> tuple[Masks, list[bool]]:
    """The masks and whether each is valid, which both engines say."""
    size = np.array(sizes, np.int64).reshape(-1, 2)
    (mine, valid), (other, expected) = by_both(lambda: rle.decoded(strings, size))
    assert_same_masks(mine, other)
    assert valid.dtype == bool
    assert valid.tolist() == expected.tolist()
    return mine, valid.tolist()


def test_by_hand() -> None:
    # 2 high, 3 wide: one pixel of background, three of foreground, two of background are 1, 3, 2:
    # characters 48 + 1, 48 + 3, 48 + 2. The fourth count on are differences to two before:
    # 1, 3, 2, 3 + 2 = 5, 2 + 0 = 2 are 13 pixels.
    masks, valid = decoded([b"132", b"13220", b"13220"], [[2, 3], [1, 13], [1, 20]])
    assert valid == [True, True, False]
    assert lists(masks) == [[1, 3, 2], [1, 3, 2, 5, 2], [20]]
    # 1000 = 31 * 32 + 8: low five bits 8 with "more" 32, then 31 with its sign bit set, so one
    # more character 0: 48+8+32 = "X", 48+31+32 = "o", "0". 30 = 30 with "more", then 0: "n0".
    # The fourth count 2 after 5 two before is -3, whose five bits are 29: "M".
    masks, valid = decoded([b"Xo05n0M"], [[1, 1037]])
    assert valid == [True]
    assert lists(masks) == [[1000, 5, 30, 2]]
    assert encoded(masks) == ["Xo05n0M"]


def test_random_masks_are_the_reference_both_ways() -> None:
    bitmaps = random_bitmaps(1, 300)
    expected = masks_of(bitmaps)
    strings = [one["counts"] for one in reference_rles(bitmaps)]
    masks, valid = decoded(strings, expected.size)
    assert all(valid)
    assert lists(masks) == lists(expected)
    assert encoded(expected) == [string.decode() for string in strings]
    # In a larger image, counts have 64 bits, and none adds up.
    assert not any(decoded(strings, expected.size + rle.LARGEST_SIDE // 2)[1])


def test_huge_runs_are_the_reference() -> None:
    rng = np.random.default_rng(2)
    counts = []
    for _ in range(50):
        cuts = np.sort(rng.integers(0, 49_000_000, rng.integers(0, 9)))
        counts.append(np.diff([0, *cuts, 49_000_000]).tolist())
    strings = [
        coco.frPyObjects({"counts": one, "size": [7000, 7000]}, 7000, 7000)["counts"]
        for one in counts
    ]
    masks, valid = decoded(strings, [[7000, 7000]] * 50)
    assert all(valid)
    assert lists(masks) == counts
    assert encoded(masks) == [string.decode() for string in strings]


def test_runs_too_long_for_the_reference() -> None:
    # The ends of what seven characters hold are -2 ** 34 and 2 ** 34 - 1.
    counts = [[2**34 - 1, 3, 2**34 - 10, 5], [0, 2**34 - 1, 0, 1, 2**33, 2**33 - 3]]
    sizes = np.array([[1 << 18, 1 << 17]] * 2)
    counts = [[*one, 2**35 - sum(one)] for one in counts]
    masks, valid = decoded([one.encode() for one in encoded(from_counts(counts, sizes)[0])], sizes)
    assert all(valid)
    assert lists(masks) == counts


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"", id="nothing at all"),
        pytest.param(b"13", id="too few pixels"),
        pytest.param(b"133", id="too many pixels"),
        pytest.param(b"13R", id="ends within a number"),
        pytest.param(b"PPPP", id="ends within a number of as many characters as the next has"),
        pytest.param(b"1 2", id="a character below 0"),
        pytest.param(b"1p2", id="a character above o"),
        pytest.param(b"1\xff2", id="not a letter"),
        pytest.param(b"9M", id="a negative count, -3"),
        pytest.param(b"1320I", id="a count of 2 - 7"),
        pytest.param(b"ooooooo0", id="a number of eight characters"),
        pytest.param(b"1" + b"P" * 40 + b"05", id="a number of many characters"),
    ],
)
def test_a_broken_string_is_an_empty_mask_and_leaves_its_neighbours_alone(broken: bytes) -> None:
    masks, valid = decoded([b"132", broken, b"06", broken], [[2, 3]] * 4)
    assert valid == [True, False, True, False]
    assert lists(masks) == [[1, 3, 2], [6], [0, 6], [6]]


def test_numbers_of_as_many_characters_as_are_read() -> None:
    # Seven, the first six with "more": P is 0 and "more", "1" then 2 ** 30, as many pixels as a
    # count of 32 bits may have; "@" is the sign.
    assert decoded([b"P" * 6 + b"0"], [0, 0])[1] == [True]
    assert decoded([b"P" * 6 + b"1"], [1 << 15, 1 << 15])[1] == [True]
    assert decoded([b"P" * 6 + b"1"], [1 << 15, (1 << 15) + 1])[1] == [False]
    assert decoded([b"P" * 6 + b"@"], [1 << 20, 1 << 14])[1] == [False]


def by_hand(text: str) -> list[int] | None:
    """The counts of a string, one after the other; None where it is none."""
    counts: list[int] = []
    number = place = 0
    for code in (ord(character) - 48 for character in text):
        if not 0 <= code < 64 or place == 7:
            return None
        number += (code & 31) << 5 * place
        place += 1
        if code < 32:
            number -= (1 << 5 * place) if code & 16 else 0
            counts.append(number + (counts[-2] if len(counts) > 2 else 0))
            number = place = 0
    return None if place or min(counts, default=0) < 0 else counts


small = st.text(st.sampled_from("0123456789:;<=>?"), max_size=9)
any_of_it = st.text(st.characters(min_codepoint=48, max_codepoint=111), max_size=9)


@given(st.lists(small | any_of_it, max_size=9), st.booleans())
def test_any_strings_are_those_read_one_by_one(texts: list[str], big: bool) -> None:
    expected = [by_hand(text) for text in texts]
    # Sides that no image of 32 bits has, for the wide way; else a size that fits, where there is.
    pixels = [1 if counts is None else sum(counts) for counts in expected]
    largest = 1 << 20 if big else 1 << 15
    sides = [next((n for n in range(1, 40) if p % n == 0 and p // n <= largest), 1) for p in pixels]
    pairs = [(p // n, n) for p, n in zip(pixels, sides, strict=True)]
    sizes = np.array(pairs, np.int64).reshape(-1, 2)
    sizes[(sizes > 1 << 20).any(axis=1)] = 1
    fits = (sizes.prod(axis=1) == pixels).tolist()
    masks, valid = decoded([text.encode() for text in texts], sizes)
    sound = [counts is not None and fit for counts, fit in zip(expected, fits, strict=True)]
    assert valid == sound
    own = [
        counts if ok and counts is not None else [size]
        for counts, ok, size in zip(expected, sound, sizes.prod(axis=1).tolist(), strict=True)
    ]
    assert lists(masks) == own if texts else not len(masks)
    # Known areas are those that are counted.
    assert masks.foreground is not None
    assert areas(masks).tolist() == areas(replace(masks, foreground=None)).tolist()
    assert masks.foreground.tolist() == [sum(one[1::2]) for one in own]


@given(
    st.lists(
        st.tuples(
            st.binary(max_size=12) | st.lists(st.integers(48, 111), max_size=30).map(bytes),
            st.sampled_from(SIDES),
            st.sampled_from(SIDES),
        ),
        max_size=6,
    )
)
def test_any_bytes_and_sizes_are_the_same_to_both_engines(rows: list[tuple]) -> None:
    decoded([row[0] for row in rows], [row[1:] for row in rows])


@given(st.lists(st.integers(0, 1 << 36), max_size=12), st.sampled_from([0, 1, -1]))
def test_any_counts_as_strings_are_the_same_to_both_engines(counts: list[int], more: int) -> None:
    many = Masks(np.array(counts, np.int64), np.array([0, len(counts)]), np.zeros((1, 2), np.int64))
    pixels = sum(counts) + more
    width = max(-(-pixels // rle.LARGEST_SIDE), 1)
    decoded([text.encode() for text in encoded(many)], [pixels // width, width])


def test_counts_that_run_over_32_bits_are_not_valid() -> None:
    # Nine times 2 ** 29 - 1 more is 2 ** 32 + 2 ** 29 - 9: over 32 bits it would be back in range.
    # Six characters hold that: the low 25 bits as five that are "o", then 15, without its sign bit.
    most = b"ooooo?"
    for steps in (1, 2, 3, 8, 9, 17):
        text = b"0" + (most + b"0") * steps
        for size in ([1, 1], [1 << 15, 1 << 15], [1 << 10, 1 << 20]):
            assert decoded([text], size)[1] == [False]
    # The largest image of 32 bits, all foreground: 2 ** 30 has seven characters, so is read wide.
    full = np.array([[1 << 15, 1 << 15]])
    masks, valid = decoded([encoded(from_counts([[0, 1 << 30]], full)[0])[0].encode()], full)
    assert (valid, masks.counts.tolist()) == ([True], [0, 1 << 30])
    assert areas(masks).tolist() == [1 << 30]


def test_counts_that_are_not_compressed() -> None:
    # Added up in 64 bits, the last are 6.
    counts = [[1, 3, 2], [6], [7, -1], [1, 3], [], [1 << 70], [0, 6], [1 << 61] * 8 + [6]]
    masks, valid = from_counts(counts, np.array([[2, 3]] * 8))
    assert valid.tolist() == [True, True, False, False, False, False, True, False]
    assert lists(masks) == [[1, 3, 2], [6], [6], [6], [6], [6], [0, 6], [6]]


@needs_kernel
def test_strings_outside_columns_are_refused() -> None:
    def told(letters: bytes, lengths: list[int], room: int, size: list[int]) -> int:
        n = len(lengths)
        columns = np.array(lengths), np.array(size), np.empty(room, np.int32)
        into = np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(n, bool)
        return kernel().decoded_counts(letters, *columns, *into)

    size = [2, 3, 2, 3]
    assert told(b"132132", [3, 3], 8, size) == 6
    for lengths, room, sizes in (
        ([3, 4], 8, size),
        ([7, -1], 8, size),
        ([INT64.max, INT64.max], 8, size),
        ([3, 3], 7, size),
        ([3, 3], 8, size[:2]),
        # So many pixels do not fit 32 bits.
        ([3, 3], 8, [2, 3, 1 << 16, 1 << 16]),
    ):
        with pytest.raises(ValueError, match="room for them"):
            told(b"132132", lengths, room, sizes)
