"""torchmetrics' numbers of seeded label maps, as JSON on standard output.

Run in an environment with torchmetrics 1.9.0, from the root of the repository:

    python -m tests.oracles.torchmetrics_segmentation > tests/golden/segmentation/torchmetrics.json
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from typing import Any, Final

import numpy as np

from tests.oracles.seeded_label_maps import seeded_maps

LABELS: Final = 5
VOID: Final = 255
SEEDS: Final = (41, 42)
AVERAGES: Final = ("none", "macro", "micro", "weighted")
CLASSES: Final = {
    "iou": "MulticlassJaccardIndex",
    "precision": "MulticlassPrecision",
    "recall": "MulticlassRecall",
    "f1": "MulticlassF1Score",
}


def reference(seed: int) -> dict[str, Any]:
    """What torchmetrics says when it gets an image at a time; value 255 is ignored."""
    import torch
    from torchmetrics import classification

    maps = seeded_maps(seed, [*range(LABELS), VOID], range(LABELS))
    pairs = [
        # The metrics refuse 255 as a prediction; where the truth is ignored, any label will do.
        tuple(
            torch.tensor(np.ascontiguousarray(one))
            for one in (np.where(found == VOID, 0, found), truth)
        )
        for truth, found in maps.values()
    ]

    def told(name: str, **arguments: Any) -> Any:
        metric = getattr(classification, name)(LABELS, ignore_index=VOID, **arguments)
        for found, truth in pairs:
            metric.update(found[None], truth[None])
        return metric.set_dtype(torch.float64).compute().tolist()

    return {
        "seed": seed,
        "confusion_matrix": told("MulticlassConfusionMatrix"),
        **{
            metric: {average: told(name, average=average) for average in AVERAGES}
            for metric, name in CLASSES.items()
        },
    }


def main() -> None:
    """Every case, with what it takes to make it again."""
    document = {
        "tools": {name: importlib.metadata.version(name) for name in ("torchmetrics", "torch")},
        "command": "python -m tests.oracles.torchmetrics_segmentation "
        "> tests/golden/segmentation/torchmetrics.json",
        "cases": [reference(seed) for seed in SEEDS],
    }
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
