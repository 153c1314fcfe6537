"""Counting pixels, against a count of one pixel after the other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.segmentation import cells
from valor_cli.kernels import engine
from valor_cli.kernels.geometry import label_maps
from valor_cli.kernels.geometry.label_maps import (
    IGNORED,
    UNKNOWN,
    RawPair,
    UnexpectedValue,
    count_pixels,
    unexpected_values,
)

KINDS = (np.uint8, np.uint16, np.uint32)


def pair_of(
    truth: np.ndarray, prediction: np.ndarray, kinds: tuple[type, type] = (np.uint8, np.uint8)
) -> RawPair:
    """Values 0 to 3 are labels, 4 no label, 5 ignored or no label, 6 and more unknown."""
    codes = np.full(300, UNKNOWN, np.int32)
    codes[:5] = np.arange(5)
    open_codes = codes.copy()
    codes[5], open_codes[5] = IGNORED, 4
    return RawPair(truth.astype(kinds[0]), prediction.astype(kinds[1]), codes, open_codes)


def counted(pair: RawPair) -> Counter[tuple[int, int]]:
    found = count_pixels(pair)
    pairs = list(zip(found.truth.tolist(), found.prediction.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert found.pixels.dtype == np.int64
    assert (found.pixels > 0).all()
    return Counter(dict(zip(pairs, found.pixels.tolist(), strict=True)))


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("truth_kind", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_a_count_of_single_pixels(truth_kind: type, kind: type, smooth: bool) -> None:
    rng = np.random.default_rng(3)
    size = (9, 12) if smooth else (45, 60)
    maps = rng.integers(0, 6, (2, *size))
    if smooth:
        maps = maps.repeat(5, axis=1).repeat(20, axis=2)
    pair = pair_of(maps[0], maps[1], (truth_kind, kind))
    assert counted(pair) == cells(pair)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_equals_a_count_of_single_pixels_on_any_small_map(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 40))
    values = st.lists(st.integers(0, 7), min_size=height * width, max_size=height * width)
    truth, prediction = (np.array(data.draw(values)).reshape(height, width) for _ in range(2))
    kinds = data.draw(st.sampled_from(KINDS)), data.draw(st.sampled_from(KINDS))
    assert counted(pair_of(truth, prediction, kinds)) == cells(pair_of(truth, prediction))


def test_worked_by_hand() -> None:
    # Ignored: the last pixel of the first row. The open prediction (5) is no label: 4.
    pair = pair_of(np.array([[0, 0, 5], [1, 4, 4]]), np.array([[0, 2, 0], [5, 4, 1]]))
    found = count_pixels(pair)
    assert found.truth.tolist() == [0, 0, 1, 4, 4]
    assert found.prediction.tolist() == [0, 2, 4, 1, 4]
    assert found.pixels.tolist() == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("layout", ["transposed", "part of a larger one", "reversed"])
def test_maps_need_not_lie_in_one_piece(layout: str) -> None:
    maps = np.random.default_rng(5).integers(0, 6, (2, 20, 30)).astype(np.uint8)
    view = {
        "transposed": lambda one: one.T,
        "part of a larger one": lambda one: one[3:15, 4:20],
        "reversed": lambda one: one[::-1, ::-1],
    }[layout]
    pair = pair_of(maps[0], maps[1])
    pair = pair._replace(truth=view(pair.truth), prediction=view(pair.prediction))
    assert counted(pair) == cells(pair)


def test_values_that_cannot_be_need_no_codes() -> None:
    maps = np.array([[0, 1, 1], [2, 2, 2]], np.uint8)
    codes = np.array([3, 0, 1], np.int32)
    found = count_pixels(RawPair(maps, maps[::-1], codes, codes))
    assert found.truth.tolist() == [0, 1, 1, 3]
    assert found.prediction.tolist() == [1, 0, 3, 1]
    assert found.pixels.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("dense", [0, 1 << 16])
def test_many_labels_are_summed_alike_by_sorting_and_in_a_table(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_maps, "DENSE_TALLY", dense)
    rng = np.random.default_rng(4)
    codes = np.arange(65_536, dtype=np.int32)
    for values in (rng.integers(0, 65_536, (2, 40, 40)), rng.integers(0, 3, (2, 2, 900))):
        pair = RawPair(*values.astype(np.uint16), codes, codes)
        assert counted(pair) == cells(pair)


def test_the_highest_16_bit_value_is_a_label_like_others() -> None:
    codes = np.arange(65_536, dtype=np.int32)
    top = np.full((3, 50), 65_535, np.uint16)
    found = count_pixels(RawPair(top, top, codes, codes))
    assert (found.truth.item(), found.prediction.item(), found.pixels.item()) == (65_535,) * 2 + (
        150,
    )


def test_stray_values_are_named_with_their_pixels() -> None:
    # Where the ground truth is ignored (5), the prediction may be anything.
    pair = pair_of(np.array([[9, 9, 5], [7, 0, 0]]), np.array([[0, 8, 250], [8, 8, 6]]))
    assert (count_pixels(pair).truth == UNKNOWN).any()
    assert unexpected_values(pair) == [
        UnexpectedValue(True, 7, 1),
        UnexpectedValue(True, 9, 2),
        UnexpectedValue(False, 6, 1),
        UnexpectedValue(False, 8, 3),
    ]
    assert unexpected_values(pair_of(np.zeros((2, 2)), np.zeros((2, 2)))) == []


needs_kernel = pytest.mark.skipif(engine.compiled is None, reason="no compiled kernel")


def assert_same_by_both_engines(truth: np.ndarray, prediction: np.ndarray) -> None:
    # Several values are the same label; some are none, and some below all others.
    codes = (np.arange(256) % 19 - 2).astype(np.int32)
    pair = RawPair(truth, prediction, codes, codes[::-1].copy())
    compiled, compiled_stray = count_pixels(pair), unexpected_values(pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "compiled", None)
        plain, plain_stray = count_pixels(pair), unexpected_values(pair)
    assert compiled_stray == plain_stray
    for found, expected in zip(compiled, plain, strict=True):
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()


@needs_kernel
@pytest.mark.parametrize("pixels", [0, 1, 7, 8, 9, 16, 4000])
@pytest.mark.parametrize("longest", [1, 3, 40])
def test_the_compiled_kernel_counts_the_same(pixels: int, longest: int) -> None:
    rng = np.random.default_rng([pixels, longest])
    for values in (1, 2, 256):
        sides = [
            np.repeat(
                rng.integers(0, values, pixels + 1).astype(np.uint8),
                rng.integers(1, longest + 1, pixels + 1),
            )[:pixels]
            for _ in range(2)
        ]
        assert_same_by_both_engines(sides[0], sides[1])


@needs_kernel
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(1, 20))))
@settings(max_examples=80, deadline=None)
def test_the_compiled_kernel_counts_any_runs(runs: list[tuple[int, int, int]]) -> None:
    lengths = [length for *_, length in runs]
    truth, prediction = (
        np.repeat(np.array([run[side] for run in runs], np.uint8), lengths) for side in (0, 1)
    )
    assert_same_by_both_engines(truth, prediction)


@needs_kernel
def test_columns_that_do_not_fit_are_refused() -> None:
    assert engine.compiled is not None
    maps, codes, none = np.zeros(9, np.uint8), np.zeros(256, np.int32), np.zeros(0, np.int32)
    expected = np.array([[0], [0], [9]]).tobytes()
    assert engine.compiled.meetings(maps, maps, codes, codes) == expected
    assert engine.compiled.meetings(maps, maps, none, none) == expected
    for columns in ((maps[1:], codes, codes), (maps, codes[1:], codes), (maps, codes, none)):
        with pytest.raises(ValueError, match="two label maps"):
            engine.compiled.meetings(maps, *columns)
    with pytest.raises(ValueError, match="two label maps"):
        engine.compiled.meetings(maps, maps, codes.astype(np.int64), codes)
    with pytest.raises(TypeError):
        engine.compiled.meetings(maps.astype(np.int64), maps, codes, codes)
