"""Run lengths as strings and lists, against pycocotools and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.oracles.coco_masks import (
    coco_annotations,
    coco_rle,
    masks_of,
    random_bitmaps,
    reference_rles,
)
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.masks import areas
from valor_cli.kernels.geometry.rle import decoded, encoded, from_counts


def lists(masks: rle.Masks) -> list[list[int]]:
    return [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]


def test_by_hand() -> None:
    # 2 high, 3 wide: one pixel of background, three of foreground, two of background are 1, 3, 2:
    # characters 48 + 1, 48 + 3, 48 + 2. Six counts: the fourth on are differences to two before.
    sizes = np.array([[2, 3], [1, 20]])
    masks, valid = decoded([b"132", b"13220"], sizes)
    assert valid.tolist() == [True, False]
    # 1, 3, 2, 3 + 2 = 5, 2 + 0 = 2 are 13 of 20 pixels; with 13 pixels it is a mask.
    masks, valid = decoded([b"132", b"13220"], np.array([[2, 3], [1, 13]]))
    assert valid.all()
    assert lists(masks) == [[1, 3, 2], [1, 3, 2, 5, 2]]


def test_numbers_of_several_characters_and_negative_differences() -> None:
    # 1000 = 31 * 32 + 8: low five bits 8 with "more" 32, then 31 with its sign bit set, so one
    # more character 0: 48+8+32 = "X", 48+31+32 = "o", "0". 30 = 30 with "more", then 0: "n0".
    # The fourth count 2 after 5 two before is -3, whose five bits are 29: "M".
    masks, valid = decoded([b"Xo05n0M"], np.array([[1, 1037]]))
    assert valid.all()
    assert lists(masks) == [[1000, 5, 30, 2]]
    assert encoded(masks) == ["Xo05n0M"]


def test_random_masks_are_the_reference_both_ways() -> None:
    bitmaps = random_bitmaps(1, 300)
    expected = masks_of(bitmaps)
    strings = [one["counts"] for one in reference_rles(bitmaps)]
    masks, valid = decoded(strings, expected.size)
    assert valid.all()
    assert lists(masks) == lists(expected)
    assert encoded(expected) == [string.decode() for string in strings]


def test_huge_runs_are_the_reference() -> None:
    rng = np.random.default_rng(2)
    sizes = np.array([[7000, 7000]] * 50)
    counts = []
    for _ in sizes:
        cuts = np.sort(rng.integers(0, 49_000_000, rng.integers(0, 9)))
        counts.append(np.diff([0, *cuts, 49_000_000]).tolist())
    strings = [
        coco.frPyObjects({"counts": one, "size": [7000, 7000]}, 7000, 7000)["counts"]
        for one in counts
    ]
    masks, valid = decoded(strings, sizes)
    assert valid.all()
    assert lists(masks) == counts
    assert encoded(masks) == [string.decode() for string in strings]


def test_runs_too_long_for_the_reference() -> None:
    # The ends of what seven characters hold are -2 ** 34 and 2 ** 34 - 1.
    counts = [[2**34 - 1, 3, 2**34 - 10, 5], [0, 2**34 - 1, 0, 1, 2**33, 2**33 - 3]]
    sizes = np.array([[1 << 18, 1 << 17], [1 << 18, 1 << 17]])
    counts = [[*one, 2**35 - sum(one)] for one in counts]
    masks, valid = decoded([one.encode() for one in encoded(from_counts(counts, sizes)[0])], sizes)
    assert valid.all()
    assert lists(masks) == counts


def test_real_masks_are_the_reference_both_ways() -> None:
    rles = [coco_rle(*one) for one in coco_annotations()]
    masks, valid = decoded([one["counts"] for one in rles], np.array([one["size"] for one in rles]))
    assert valid.all()
    assert encoded(masks) == [one["counts"].decode() for one in rles]
    for one, counts in zip(rles, lists(masks), strict=True):
        assert coco.frPyObjects({"counts": counts, "size": one["size"]}, *one["size"]) == one


BROKEN = [
    (b"", "nothing at all"),
    (b"13", "too few pixels"),
    (b"133", "too many pixels"),
    (b"13R", "ends within a number"),
    (b"1 2", "a character below 0"),
    (b"1p2", "a character above o"),
    (b"1\xff2", "not a letter"),
    (b"9M", "a negative count, -3"),
    (b"1320I", "a count of 2 - 7"),
    (b"ooooooo0", "a number of eight characters"),
    (b"1" + b"P" * 40 + b"05", "a number of many characters"),
]


@pytest.mark.parametrize("broken", [case[0] for case in BROKEN], ids=[case[1] for case in BROKEN])
def test_a_broken_string_is_an_empty_mask_and_leaves_its_neighbours_alone(broken: bytes) -> None:
    masks, valid = decoded([b"132", broken, b"06", broken], np.array([[2, 3]] * 4))
    assert valid.tolist() == [True, False, True, False]
    assert lists(masks) == [[1, 3, 2], [6], [0, 6], [6]]


def test_an_open_end_does_not_make_the_next_number_too_long() -> None:
    # Four characters that all say "more", then a number of four characters: 32768 = 2 ** 15.
    _, valid = decoded([b"PPPP", b"PPP1"], np.array([[1, 1], [1, 32768]]))
    assert valid.tolist() == [False, True]


def test_sizes_that_are_none() -> None:
    _, valid = decoded([b"6", b"6", b"", b"0"], np.array([[-2, -3], [1 << 62, 6], [0, 5], [0, 5]]))
    assert valid.tolist() == [False, False, True, True]


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
    sizes = np.array([(p // n, n) for p, n in zip(pixels, sides, strict=True)], np.int64).reshape(
        -1, 2
    )
    sizes[(sizes > 1 << 20).any(axis=1)] = 1
    fits = (sizes.prod(axis=1) == pixels).tolist()
    masks, valid = decoded([text.encode() for text in texts], sizes)
    sound = [counts is not None and fit for counts, fit in zip(expected, fits, strict=True)]
    assert valid.tolist() == sound
    own = [
        counts if ok else [size]
        for counts, ok, size in zip(expected, sound, sizes.prod(axis=1).tolist(), strict=True)
    ]
    assert lists(masks) == own if texts else not len(masks)
    # Known areas are those that are counted.
    assert masks.foreground is not None
    assert areas(masks).tolist() == areas(replace(masks, foreground=None)).tolist()
    assert masks.foreground.tolist() == [sum(one[1::2]) for one in own]


def test_counts_that_run_over_32_bits_are_not_valid() -> None:
    # Nine times 2 ** 29 - 1 more is 2 ** 32 + 2 ** 29 - 9: over 32 bits it would be back in range.
    # Six characters hold that: the low 25 bits as five that are "o", then 15, without its sign bit.
    most = b"ooooo?"
    back = encoded(from_counts([[0, 9, 0, 0, 0]], np.array([[3, 3]]))[0])
    assert back == ["090G0"]
    for steps in (1, 2, 3, 8, 9, 17):
        text = b"0" + (most + b"0") * steps
        for size in ([1, 1], [1 << 15, 1 << 15], [1 << 10, 1 << 20]):
            assert not decoded([text], np.array([size]))[1].any()
    # The largest image of 32 bits, all foreground: 2 ** 30 has seven characters, so is read wide.
    full = np.array([[1 << 15, 1 << 15]])
    masks, valid = decoded([encoded(from_counts([[0, 1 << 30]], full)[0])[0].encode()], full)
    assert (valid.tolist(), masks.counts.tolist()) == ([True], [0, 1 << 30])
    assert areas(masks).tolist() == [1 << 30]


def test_counts_that_are_not_compressed() -> None:
    sizes = np.array([[2, 3]] * 7)
    counts = [[1, 3, 2], [6], [7, -1], [1, 3], [], [1 << 70], [0, 6]]
    masks, valid = from_counts(counts, sizes)
    assert valid.tolist() == [True, True, False, False, False, False, True]
    assert lists(masks) == [[1, 3, 2], [6], [6], [6], [6], [6], [0, 6]]


def test_counts_that_wrap_around_are_not_valid() -> None:
    # Added up in 64 bits, these are 6.
    _, valid = from_counts([[1 << 61] * 8 + [6]], np.array([[2, 3]]))
    assert valid.tolist() == [False]


def test_nothing() -> None:
    none = np.zeros((0, 2), np.int64)
    for masks, valid in (decoded([], none), from_counts([], none)):
        assert (len(masks), valid.tolist(), encoded(masks)) == (0, [], [])
