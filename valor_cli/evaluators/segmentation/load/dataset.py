"""Pair and check label maps without decoding them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from valor_cli.data.formats.folders import digest_of
from valor_cli.data.shapes.label_maps import LabelMap, SegmentationDataset, Stored
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.segmentation.load.images import missing_image_warnings
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.load.pairing import Pairing, pair_sides, size_mismatch
from valor_cli.metric import Loaded, NoOptions, Selection
from valor_cli.results import InputFile, Scalar

Looks = dict[str, Stored]
"""What files say of themselves, by path."""


class Fault(NamedTuple):
    """A problem with a sample's label map: its file, and what to do."""

    sample: str
    path: str
    problem: Problem
    hint: str


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
    bad: dict[str, Fault] = {}
    for fault in faults:
        bad.setdefault(fault.sample, fault)
    if faults:
        if inputs.on_invalid == "error" or len(bad) == len(pairing.sample_ids):
            hints = dict.fromkeys(fault.hint for fault in faults if fault.hint)
            problems = [fault.problem for fault in faults[:LISTED]]
            raise DataError(problems, total=len(faults), hint="\n".join(hints))
        first = next(iter(bad.values())).problem
        count = f"{len(bad):,} of {len(pairing.sample_ids):,}"
        warnings.append(f"left out: {count} images cannot be used (the first: {first})")
    if inputs.images is not None:
        warnings += missing_image_warnings(inputs.images, pairing.sample_ids)
    kept = tuple(sample not in bad for sample in pairing.sample_ids)
    files = _records(pairing, looks, {fault.path for fault in faults})
    return _loaded(pairing, inputs, looks, kept, files, warnings)


def _looked_at(pairing: Pairing, *, decode: bool) -> tuple[Looks, list[Fault]]:
    """Read every file's header, and collect problems."""
    looks: Looks = {}
    faults: list[Fault] = []

    def look(sample: str, one: LabelMap) -> Stored | None:
        if one.path not in looks:
            try:
                looks[one.path] = one.look(decode=decode)
            except DataError as error:
                faults.extend(
                    Fault(sample, one.path, problem, error.hint) for problem in error.problems
                )
                return None
        return looks[one.path]

    for sample in pairing.sample_ids:
        truth = pairing.truth(sample)
        true = look(sample, truth)
        for model in pairing.sides.predictions:
            prediction = pairing.prediction(model, sample)
            found = look(sample, prediction)
            if true is not None and found is not None and true.size != found.size:
                problem = size_mismatch(truth, true.size, prediction, found.size)
                faults.append(Fault(sample, prediction.path, problem, ""))
    return looks, faults


def _loaded(
    pairing: Pairing,
    inputs: SegmentationInputs,
    looks: Looks,
    kept: Sequence[bool],
    files: Sequence[InputFile],
    warnings: Sequence[str],
) -> Loaded[SegmentationDataset]:
    samples = tuple(compress(pairing.sample_ids, kept))
    truths = [pairing.truth(sample).path for sample in samples]
    sizes = np.array([looks[path].size for path in truths], np.int64)
    labels = pairing.coding.labels
    datasets = {}
    for model in pairing.sides.predictions:
        found = [pairing.prediction(model, sample).path for sample in samples]
        places = tuple(zip(truths, found, strict=True))
        reader = pairing.reader(model, samples)
        datasets[model] = SegmentationDataset(samples, labels, sizes, places, reader)
    metadata = {name: list(compress(values, kept)) for name, values in pairing.metadata.items()}
    return Loaded(
        datasets=datasets,
        metadata=dict.fromkeys(datasets, metadata),
        labels=labels,
        sizes={"images": len(samples), "labels": len(labels)},
        files=files,
        warnings=warnings,
        settings=_settings(inputs),
    )


def _records(pairing: Pairing, looks: Looks, bad: Collection[str]) -> list[InputFile]:
    """What was read, a record for each folder; a manifest of both sides once.

    A side's rows are all its files, selected or not; skipped are those without a partner, and
    those at fault (`bad`) themselves.
    """
    sides = pairing.sides
    truths = [pairing.truth(sample).path for sample in pairing.sample_ids]
    listed = [(sides.truth, truths, pairing.alone[None])]
    for model, found in sides.predictions.items():
        paths = [pairing.prediction(model, sample).path for sample in pairing.sample_ids]
        listed.append((found, paths, pairing.alone[model]))
    records: dict[tuple[str, str | None], InputFile] = {}
    for side, files, alone in listed:
        known = [path for path in files if path in looks]
        skipped = alone + sum(path in bad for path in files)
        digests = {os.path.relpath(path, side.folder): looks[path].sha256 for path in known}
        whole = InputFile(side.folder, digest_of(digests), len(side.maps), skipped)
        for record in (*side.texts, whole):
            records.setdefault((record.path, record.sha256), record)
    return list(records.values())


def _settings(inputs: SegmentationInputs) -> dict[str, Scalar]:
    """What changes every number, where the config sets it."""
    settings: dict[str, Scalar] = {}
    if inputs.ignored:
        settings["ignore_index"] = ", ".join(map(str, sorted(inputs.ignored)))
    if inputs.background is not None:
        settings["background"] = inputs.background
    if inputs.reduce_labels:
        settings["reduce_labels"] = True
    return settings
