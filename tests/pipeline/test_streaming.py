"""Evidence is merged early or once, and all of it is in the end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from valor_cli.pipeline.streaming import TOGETHER, Merging


@pytest.mark.parametrize("count", [1, 2, TOGETHER - 1, TOGETHER, TOGETHER**2, TOGETHER**2 + 3])
@pytest.mark.parametrize("early", [False, True])
def test_all_shards_are_merged(count: int, *, early: bool) -> None:
    sizes = []

    def merge(parts: Sequence[list[int]]) -> list[int]:
        sizes.append(len(parts))
        return [one for part in parts for one in part]

    merging = Merging(merge, early=early)
    for number in range(count):
        merging.add([number])
    assert sorted(merging.merged()) == list(range(count))
    if not early:
        assert sizes == [count]
    else:
        # Never more are held than a few of each weight.
        assert max(sizes) <= 2 * TOGETHER
