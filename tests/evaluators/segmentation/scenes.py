"""Small folders of label maps, and runs over them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from tests.data.png_files import label_map, write
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.evaluators.segmentation.load.dataset import load_segmentation
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.metric import Loaded, NoOptions, Selection

DATA = Path(__file__).parents[2] / "real_data" / "segmentation"
LABELS = ("road", "cat", "sky")


def folder(path: str, maps: Mapping[str, ArrayLike], depth: int = 8) -> None:
    """Write label maps by name."""
    for name, values in maps.items():
        write(os.path.join(path, f"{name}.png"), label_map(values, depth=depth))


def pair(truth: ArrayLike, prediction: ArrayLike, depth: int = 8) -> None:
    """A ground truth and a prediction of one sample, `a`, in the folders gt and pred."""
    folder("gt", {"a": truth}, depth)
    folder("pred", {"a": prediction}, depth)


def inputs(**data: Any) -> SegmentationInputs:
    """A `data:` block over the folders gt and pred."""
    block = {"ground_truth": "gt", "predictions": "pred", "labels": LABELS} | data
    return SegmentationInputs(**block)


def load(selection: Selection | None = None, **data: Any) -> Loaded[SegmentationDataset]:
    """The datasets of such a block."""
    return load_segmentation(inputs(**data), NoOptions(), selection or Selection())


def coded(dataset: SegmentationDataset, sample: str = "a") -> tuple[list[Any], list[Any]]:
    """The codes of the pixels of a sample, ground truth first."""
    read = dataset.read(sample)
    truth, prediction = read.truth_codes[read.truth], read.prediction_codes[read.prediction]
    return truth.tolist(), prediction.tolist()
