"""What LVIS would say of a random problem."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Federation


def with_federation(dataset: DetectionDataset, seed: int) -> DetectionDataset:
    """The same problem with rare to frequent labels, negatives and images not marked in full."""
    rng = np.random.default_rng(seed + 2000)
    shape = (dataset.unit_count, len(dataset.labels))
    truths = dataset.ground_truths
    absent = np.ones(shape, bool)
    absent[truths.image, truths.label] = False
    federation = Federation(
        negative=absent & (rng.random(shape) < 0.3),
        not_exhaustive=rng.random(shape) < 0.2,
        frequency=tuple("rcf"[at % 3] for at in range(len(dataset.labels))),
    )
    return replace(dataset, federation=federation)
