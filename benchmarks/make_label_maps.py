"""Seeded synthetic label maps at the size of street scenes: make_label_maps.py OUT --images 500

Writes OUT/truth and OUT/found: 8-bit PNGs of 1024 x 512 pixels, 19 labels, 255 for what is ignored.

Shape: wavy bands of a few common labels, as sky and road are, and some 45 blobs with rippled
outlines over them, small and large. Predictions are the same scenes moved by up to 3 pixels, in
each of which one label is taken for another and pixels along outlines are noise. The
lowest rows of the ground truth, where a car's bonnet would be, are ignored.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 512, 1024
COMMON = 4
"""Labels that bands have; blobs have any."""

IGNORED = 255
BONNET = 12

Map = np.ndarray[Any, np.dtype[np.uint8]]
Rng = np.random.Generator


def main() -> None:
    """Write the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--labels", type=int, default=19)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    written = 0
    for side in ("truth", "found"):
        (options.out / side).mkdir(parents=True, exist_ok=True)
    for number in range(options.images):
        truth = _scene(rng, options.labels)
        found = _predicted(rng, truth, options.labels)
        truth[-BONNET:] = IGNORED
        for side, values in (("truth", truth), ("found", found)):
            path = options.out / side / f"{number:05d}.png"
            Image.fromarray(values).save(path)
            written += path.stat().st_size
    print(f"{options.images:,} pairs, {options.labels} labels, {written / 1e6:.1f} MB")


def _scene(rng: Rng, labels: int) -> Map:
    row, column = np.ogrid[:HEIGHT, :WIDTH]
    scene = np.zeros((HEIGHT, WIDTH), np.uint8)
    edges = np.sort(rng.integers(40, HEIGHT - 40, 2))
    for label, edge in zip(rng.permutation(COMMON).tolist(), [0, *edges.tolist()], strict=False):
        wave = edge + 9 * np.sin(column / rng.uniform(20, 90) + rng.uniform(0, 6)) * (edge > 0)
        scene[row >= wave] = label
    for _ in range(45):
        _add_blob(rng, scene, int(rng.integers(0, labels)))
    return scene


def _add_blob(rng: Rng, scene: Map, label: int) -> None:
    """An ellipse whose outline goes in and out."""
    middle = rng.integers(0, (HEIGHT, WIDTH))
    reach = np.exp(rng.uniform(np.log(6), np.log((90, 120)))).astype(int)
    low = np.maximum(middle - reach, 0)
    high = np.minimum(middle + reach, (HEIGHT, WIDTH))
    row, column = np.ogrid[low[0] : high[0], low[1] : high[1]]
    down, right = (row - middle[0]) / reach[0], (column - middle[1]) / reach[1]
    ripple = 0.8 + 0.2 * np.sin(rng.integers(3, 9) * np.arctan2(down, right))
    part = scene[low[0] : high[0], low[1] : high[1]]
    part[down**2 + right**2 < ripple] = label


def _predicted(rng: Rng, truth: Map, labels: int) -> Map:
    shift = rng.integers(-3, 4, 2).tolist()
    taken_for = np.arange(256, dtype=np.uint8)
    taken_for[rng.integers(0, labels)] = rng.integers(0, labels)
    found = taken_for[np.roll(truth, shift, (0, 1))]
    outline = np.flatnonzero(found[:, 1:] != found[:, :-1])
    noisy = outline[rng.random(len(outline)) < 0.1]
    found[noisy // (WIDTH - 1), noisy % (WIDTH - 1)] = rng.integers(0, labels, len(noisy))
    return found


if __name__ == "__main__":
    main()
