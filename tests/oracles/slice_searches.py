"""The search for parts of the data in a slow and plain form: every part by a mask of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from valor_cli.metric import written

Floats = NDArray[np.float64]


def parts(
    metadata: Mapping[str, Sequence[object]], valued: NDArray[np.bool_], min_size: int, depth: int
) -> dict[str, NDArray[np.bool_]]:
    """Name to mask over the units that have a value, no two masks the same."""
    singles: dict[str, tuple[str, NDArray[np.bool_]]] = {}
    for column in sorted(metadata):
        texts = [None if one is None else written(one) for one in metadata[column]]  # type: ignore[arg-type]
        for text in dict.fromkeys(texts):
            if text is not None:
                mask = np.array([one == text for one in texts])[valued]
                singles[f"metadata.{column}={text}"] = column, mask
    found = {name: mask for name, (_, mask) in singles.items()}
    if depth == 2:
        for (one, (column, mask)), (other, (column2, mask2)) in combinations(singles.items(), 2):
            if column != column2:
                found[f"{one} & {other}"] = mask & mask2
    seen: set[bytes] = set()
    kept = {}
    for name, mask in found.items():
        large = min_size <= mask.sum() <= len(mask) - min_size
        if large and mask.tobytes() not in seen:
            seen.add(mask.tobytes())
            kept[name] = mask
    return kept


def p_value(
    values: Floats, mask: NDArray[np.bool_], clusters: NDArray[np.int64] | None
) -> float | None:
    """The larger of Welch's and Student's; of the means of clusters, where there are any."""

    def units(chosen: NDArray[np.bool_]) -> Floats:
        if clusters is None:
            return values[chosen]
        own = clusters[chosen]
        return np.array([values[chosen][own == one].mean() for one in np.unique(own)])

    inside, outside = units(mask), units(~mask)
    if min(len(inside), len(outside)) < 2:
        return None
    return max(
        float(stats.ttest_ind(inside, outside, equal_var=equal, alternative="less").pvalue)
        for equal in (False, True)
    )


def worse(
    values: Floats,
    metadata: Mapping[str, Sequence[object]],
    *,
    min_size: int,
    depth: int = 2,
    level: float = 0.95,
    clusters: NDArray[np.int64] | None = None,
) -> tuple[int, dict[str, float]]:
    """How many parts there are, and of those worse than the rest the p-value by Holm's method."""
    valued = ~np.isnan(values)
    own = None if clusters is None else clusters[valued]
    tested = {}
    for name, mask in parts(metadata, valued, min_size, depth).items():
        p = p_value(values[valued], mask, own)
        if p is not None:
            tested[name] = p
    ranked = sorted(tested, key=tested.__getitem__)
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(ranked):
        largest = max(largest, min(1.0, tested[name] * (len(ranked) - rank)))
        adjusted[name] = largest
    return len(tested), {name: p for name, p in adjusted.items() if p < 1 - level}
