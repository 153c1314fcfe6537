"""Evaluate two folders of label maps with one peer, as a user's script would.

    segmentation_peers.py TOOL TRUTH FOUND LABELS

TOOL is torchmetrics, or decode, which reads the files and counts nothing. Imports only what that
tool needs and prints its mean IoU as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

IGNORED = 255


def main() -> None:
    """Run the tool named on the command line."""
    tool, truth, found, labels = sys.argv[1:5]
    pairs = _pairs(truth, found)
    if tool == "decode":
        mean_iou = None
        for _ in pairs:
            pass
    else:
        mean_iou = _torchmetrics(pairs, int(labels))
    print(json.dumps({"mean_iou": mean_iou}))


def _pairs(truth: str, found: str) -> Iterator[tuple[Any, Any]]:
    for name in sorted(os.listdir(truth)):
        sides = (Image.open(os.path.join(folder, name)) for folder in (truth, found))
        yield tuple(np.asarray(image) for image in sides)


def _torchmetrics(pairs: Iterator[tuple[Any, Any]], labels: int) -> float:
    import torch
    from torchmetrics.classification import MulticlassConfusionMatrix

    torch.set_num_threads(1)
    matrix = MulticlassConfusionMatrix(labels, ignore_index=IGNORED, validate_args=False)
    for truth, found in pairs:
        sides = (torch.from_numpy(side.astype(np.int64)) for side in (found, truth))
        matrix.update(*sides)
    counts = matrix.compute().double()
    both = counts.diag()
    return float((both / (counts.sum(0) + counts.sum(1) - both)).mean())


if __name__ == "__main__":
    main()
