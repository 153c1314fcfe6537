"""Seeded label maps as arrays of pixel values; numpy alone, so that any tool can have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Maps = dict[str, tuple[np.ndarray, np.ndarray]]


def seeded_maps(
    seed: int,
    truths: Sequence[int],
    predictions: Sequence[int] | None = None,
    *,
    images: int = 3,
    noise: float = 0.1,
) -> Maps:
    """By sample, (height, width) values of ground truth and prediction.

    Blocks of values, predicted a little beside, with other values strewn in.

    Args:
        seed: Of the random numbers.
        truths: Values that the ground truth has.
        predictions: Values that are strewn into the prediction; None for the same.
        images: How many, of different sizes.
        noise: Part of the predicted pixels that are strewn in.
    """
    rng = np.random.default_rng(seed)
    maps = {}
    for at in range(images):
        height, width = (int(side) for side in rng.integers(18, 30, 2))
        coarse = rng.choice(np.array(truths), (height // 5 + 1, width // 5 + 1))
        truth = np.kron(coarse, np.ones((5, 5), np.int64))[:height, :width]
        found = np.roll(truth, tuple(rng.integers(-2, 3, 2)), (0, 1))
        strewn = rng.choice(np.array(truths if predictions is None else predictions), found.shape)
        maps[f"image-{at}"] = truth, np.where(rng.random(found.shape) < noise, strewn, found)
    return maps
