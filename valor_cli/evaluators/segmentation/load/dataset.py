"""Pair and check label maps without decoding them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TypeAlias

import numpy as np

from valor_cli.data.formats.folders import digest_of
from valor_cli.data.shapes.label_maps import SegmentationDataset, Stored, check_size
from valor_cli.errors import DataError
from valor_cli.evaluators.segmentation.load.images import missing_image_warnings
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.load.pairing import Pairing, pair_sides
from valor_cli.metric import Loaded, NoOptions, Selection
from valor_cli.results import InputFile, Scalar

Looks: TypeAlias = Mapping[str, Stored]
"""What files say of themselves, by path."""

Fault: TypeAlias = tuple[str, str, DataError]
"""What is wrong with a label map: its sample, its file, and the error."""


def load_segmentation(
    inputs: SegmentationInputs, options: NoOptions, selection: Selection
) -> Loaded[SegmentationDataset]:
    """Pair the label maps of all sides and check every file, without decoding it.

    Where samples may be left out, all of them are decoded too: evidence is made of those that are
    good, and by then it is settled which these are.

    Raises:
        DataError: An input cannot be used; a label map has no partner, is damaged, has colours or
            another size than its ground truth; the selection leaves no sample.
    """
    pairing = pair_sides(inputs, selection)
    looks, faults = _looked_at(pairing, decode=inputs.on_invalid == "skip")
    warnings = [*pairing.warnings]
    bad = {sample for sample, _, _ in faults}
    if faults:
        errors = [error for _, _, error in faults]
        if inputs.on_invalid == "error" or len(bad) == len(pairing.sample_ids):
            hint = "\n".join(error.hint for error in errors if error.hint)
            raise DataError([one for error in errors for one in error.problems], hint=hint)
        count = f"{len(bad):,} of {len(pairing.sample_ids):,}"
        first = errors[0].problems[0]
        warnings.append(f"left out: {count} images cannot be used (the first: {first})")
    if inputs.images is not None:
        warnings += missing_image_warnings(inputs.images, pairing.sample_ids)
    samples = tuple(sample for sample in pairing.sample_ids if sample not in bad)
    truths = [pairing.truth.maps[sample].path for sample in samples]
    sizes = np.array([looks[path].size for path in truths], np.int64)
    labels = pairing.coding.labels
    datasets = {}
    for model, maps in pairing.maps.items():
        places = tuple(zip(truths, (maps[sample].path for sample in samples), strict=True))
        reader = pairing.reader(model, samples)
        datasets[model] = SegmentationDataset(samples, labels, sizes, places, reader)
    return Loaded(
        datasets=datasets,
        metadata=dict.fromkeys(datasets, pairing.truth.metadata_of(samples)),
        labels=labels,
        sizes={"images": len(samples), "labels": len(labels)},
        files=_records(pairing, looks, {path for _, path, _ in faults}),
        warnings=warnings,
        settings=_settings(inputs),
    )


def _looked_at(pairing: Pairing, *, decode: bool) -> tuple[Looks, list[Fault]]:
    """Read every file's header, and collect what is wrong."""
    looks: dict[str, Stored] = {}
    faults: list[Fault] = []
    for sample in pairing.sample_ids:
        truth = pairing.truth.maps[sample]
        for one in (truth, *(maps[sample] for maps in pairing.maps.values())):
            try:
                if one.path not in looks:
                    looks[one.path] = one.look(decode=decode)
                if truth.path in looks:
                    sizes = looks[truth.path].size, looks[one.path].size
                    check_size(truth, sizes[0], one, sizes[1])
            except DataError as error:
                faults.append((sample, one.path, error))
    return looks, faults


def _records(pairing: Pairing, looks: Looks, bad: Collection[str]) -> list[InputFile]:
    """What was read, a record for each folder; a manifest of both sides once.

    A side's rows are all its files, selected or not; skipped are those without a partner, and
    those at fault (`bad`) themselves.
    """
    truths = pairing.truth.maps
    paired = {name: truths[name] for name in set(truths).intersection(*pairing.maps.values())}
    listed = [(pairing.truth, paired)]
    listed += [(side, dict(pairing.maps[model])) for model, side in pairing.sides.items()]
    records: dict[tuple[str, str | None], InputFile] = {}
    for side, maps in listed:
        files = [maps[sample].path for sample in pairing.sample_ids]
        skipped = len(side.maps) - len(maps) + sum(path in bad for path in files)
        digests = {
            os.path.relpath(path, side.folder): looks[path].sha256
            for path in files
            if path in looks
        }
        whole = InputFile(side.folder, digest_of(digests), len(side.maps), skipped)
        for record in (*side.texts, whole):
            records.setdefault((record.path, record.sha256), record)
    return list(records.values())


def _settings(inputs: SegmentationInputs) -> dict[str, Scalar]:
    """What changes every number, where the config sets it."""
    settings: dict[str, Scalar] = {
        "ignore_index": ", ".join(map(str, sorted(inputs.ignored))) or None,
        "background": inputs.background,
        "reduce_labels": inputs.reduce_labels or None,
    }
    return {name: value for name, value in settings.items() if value is not None}
