"""Draw the errors in the worst images of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from valor_cli.data.formats.difference_images import colour_of, overlay, shrunk
from valor_cli.data.formats.images import ImageFolder
from valor_cli.errors import DataError, UnreachableError, printable
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.load.pairing import pair_sides
from valor_cli.metric import Selection
from valor_cli.results import EmbeddedImages, ExampleResult

WORST = "worst_image"
"""The kind of example that is drawn."""


def overlays(
    inputs: SegmentationInputs, selection: Selection, examples: Sequence[ExampleResult]
) -> tuple[EmbeddedImages, list[str]]:
    """An image of each worst sample and model, with warnings.

    What cannot be drawn any more is not shown: the numbers stand.
    """
    wanted: dict[str, dict[str, str]] = {}
    for one in examples:
        if one.kind == WORST and one.picture is not None and one.picture.file is not None:
            wanted.setdefault(one.model, {})[str(one.sample_id)] = one.picture.file
    if not wanted:
        return EmbeddedImages(), []
    drawn: dict[tuple[str, str], bytes] = {}
    seen: set[int] = set()
    names: tuple[str, ...] = ()
    told: list[str] = []
    try:
        pairing = pair_sides(inputs, replace(selection, limit=None))
        photos = (
            {} if inputs.images is None else ImageFolder(inputs.images).paths(pairing.sample_ids)
        )
        names = pairing.coding.labels
        for model, files in wanted.items():
            read = pairing.reader(model, [*files])
            for sample, file in files.items():
                try:
                    pair = read(sample)
                    truth = pair.truth_codes[shrunk(pair.truth)]
                    found = pair.prediction_codes[shrunk(pair.prediction)]
                    drawn[model, file] = overlay(truth, found, len(names), photos.get(sample))
                    seen.update(np.unique(truth).tolist(), np.unique(found).tolist())
                except (DataError, UnreachableError) as error:
                    told.append(f"not shown: {error.problems[0]}")
    except (DataError, UnreachableError) as error:
        told.append(f"no pictures: {error.problems[0]}")
    colours = {name: colour_of(at) for at, name in enumerate(names) if at in seen}
    return EmbeddedImages(overlays=drawn, colours=colours), told


def missing_image_warnings(folder: str, samples: Sequence[str]) -> list[str]:
    """A warning if some samples have no image.

    Raises:
        DataError: There is no such folder, or it cannot be read.
    """
    found = ImageFolder(folder).paths(samples)
    missing = [sample for sample in samples if sample not in found]
    if not missing:
        return []
    told = f"images: {len(missing):,} of {len(samples):,} images have no file in {folder}"
    return [f"{told} (the first: {printable(missing[0])}); they are drawn without"]
