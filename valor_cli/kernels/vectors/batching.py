"""Group texts of similar length into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from valor_cli.kernels.columns.grouping import blocks


def batches(
    lengths: Sequence[int], *, most_tokens: int, most_texts: int | None = None
) -> list[list[int]]:
    """Batches of texts of similar length, longest first, to reduce padding.

    Args:
        lengths: (n,) tokens of each text.
        most_tokens: Of a batch, padding included; a longer text is a batch of its own.
        most_texts: Of a batch; None: any number.

    Returns:
        Positions in `lengths`, each in one batch; what memory a run takes shows at the first.
    """
    found: list[list[int]] = []
    longest = 0
    for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        full = found and (
            (len(found[-1]) + 1) * longest > most_tokens or len(found[-1]) == most_texts
        )
        if not found or full:
            found.append([])
            longest = max(1, lengths[at])
        found[-1].append(at)
    return found


def runs(sizes: Iterable[int], most: int) -> Iterator[slice]:
    """Consecutive items whose total size is small enough.

    Args:
        sizes: (n,) of each.
        most: Of a run; what is larger is a run of its own.

    Returns:
        Places in `sizes`, in their order, each in one run.
    """
    return blocks(np.fromiter(sizes, np.int64), most)
