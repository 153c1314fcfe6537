"""The explorer's data: every sample of a run, or of runs to compare, as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from valor_cli.reports.digests.confusion import labels_of_samples
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.explorer.blobs import Blobs, Blocks, json_of
from valor_cli.reports.explorer.cards import (
    Columns,
    card_chunks,
    cuts_of,
    texts_of,
    titles_of,
)
from valor_cli.reports.explorer.columns import (
    boxes_drawn,
    metric_columns,
    metrics_of,
    object_columns,
    outline_columns,
    sizes,
    slice_columns,
)
from valor_cli.reports.explorer.joining import LONGEST, Samples, Side, sides_of
from valor_cli.reports.explorer.pictures import image_columns, outlines
from valor_cli.results import STATUSES, EmbeddedImages, RunResult, Scalar

INLINE: Final = 1_200_000
"""Characters of columns in the page; larger ones stand in files beside it."""

PHOTOS: Final = 1_600_000
"""Characters of images in the page."""

CASES: Final = "misclassification", "true_positive"
"""Kinds of examples that say what a classification is, where nothing else does."""

_NO_IMAGES = EmbeddedImages()


class Explorer(Struct, frozen=True):
    """What the explorer of a page shows.

    Attributes:
        data: A JSON document of columns, which may stand in a script of the page.
        files: What is too large for the page: scripts in the folder `report_files` beside it.
    """

    data: bytes
    files: Mapping[str, Blocks]


def explorer_of(result: RunResult, images: EmbeddedImages = _NO_IMAGES) -> Explorer | None:
    """The explorer of a run; None if it has no samples."""
    return explorer_of_runs([("", result)], images)


def explorer_of_runs(
    runs: Sequence[tuple[str, RunResult]], images: EmbeddedImages = _NO_IMAGES
) -> Explorer | None:
    """One explorer of several runs, each with its name; samples are joined by id."""
    sides = sides_of(runs)
    samples = Samples(sides)
    if not len(samples):
        return None
    columns, photos = Blobs("c", INLINE), Blobs("p", PHOTOS)
    texts = texts_of(sides, samples)
    originals = _originals(texts, samples, columns)
    metrics = metrics_of(sides)
    files, size = sizes(sides, samples)
    named = {*images.photos, *images.links, *(file for _, file in images.overlays)}
    named |= {file for _, file in images.overlay_links}
    for at, name in enumerate(samples.ids) if named else ():
        if files[at] is None and name in named:
            files[at] = str(name)  # of label maps, whose names are their ids
    document: dict[str, Any] = {
        "task": runs[0][1].task,
        "models": [clean(side.name, 60) for side in sides],
        "names": [side.name[:LONGEST] for side in sides],
        "count": len(samples),
        "statuses": STATUSES,
        "threshold": _threshold(sides),
        **_identity(samples, files, size, texts, columns),
        "metrics": metric_columns(metrics, sides, samples, columns),
        "pairs": _pairs(sides, samples, columns),
        "slices": slice_columns(sides, samples, columns),
        "originals": originals,
    }
    columns.finish()
    document["objects"] = object_columns(sides, samples, columns)
    document["shapes"] = outline_columns(sides, samples, columns)
    document["outlines"] = outlines(sides, samples, columns)
    columns.finish()
    document["cards"] = card_chunks(sides, samples, texts, metrics, columns)
    document["notes"] = [*cuts_of(texts, len(samples)), *boxes_drawn(sides)]
    document["images"] = image_columns(files, images, sides, photos)
    return Explorer(
        json_of({**document, "blobs": columns.table, "photos": photos.table}),
        {**columns.files, **photos.files},
    )


def _threshold(sides: Sequence[Side]) -> float:
    """The score threshold of most values of the first run, else 0.5."""
    given = (row.parameters.get("score_threshold") for row in sides[0].result.metrics)
    counted = Counter(value for value in given if isinstance(value, float) and 0 < value < 1)
    return counted.most_common(1)[0][0] if counted else 0.5


def _identity(
    samples: Samples,
    files: Sequence[str | None],
    size: Any,
    texts: Columns,
    blobs: Blobs,
) -> dict[str, Any]:
    """Columns of what names a sample: id, file, title, size of its image."""
    ids = samples.ids
    whole = {*map(type, ids)} == {int} and min(ids) >= 0 and max(ids) < 2**31  # type: ignore[type-var,operator]
    titles = titles_of(texts, len(samples))
    return {
        "ids": blobs.codes(ids) if whole else blobs.json([_shown_id(one) for one in ids]),
        "files": blobs.json(list(files)) if any(files) else None,
        "titles": None if titles is None else blobs.json(titles),
        "sizes": blobs.codes(size) if np.any(size) else None,
    }


def _shown_id(one: Scalar) -> str:
    name = str(one)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"


def _pairs(sides: Sequence[Side], samples: Samples, blobs: Blobs) -> dict[str, Any] | None:
    """The right label and the predicted one of each sample by model; None without any."""
    pairs = [_of_samples(side, samples) or _of_examples(side, samples) for side in sides]
    every = (label for own in pairs if own for pair in own.values() for label in pair)
    labels = [label for label in dict.fromkeys(every) if label is not None]
    if not labels:
        return None
    number: dict[str | None, int] = {label: at for at, label in enumerate(labels)} | {None: -1}
    listed: list[dict[str, int] | None] = []
    for own in pairs:
        column = np.full((2, len(samples)), -1, np.int64)
        if own:
            at = np.fromiter(own, np.int64)
            column[:, at] = np.array([[number[a], number[b]] for a, b in own.values()]).T
        listed.append(
            {"truth": blobs.codes(column[0]), "predicted": blobs.codes(column[1])} if own else None
        )
    return {
        "labels": [clean(label, 80) for label in labels],
        "names": [label[:LONGEST] for label in labels],
        "models": listed,
    }


Pairs = dict[int, tuple[str | None, str | None]]


def _of_samples(side: Side, samples: Samples) -> Pairs:
    ids, labels = labels_of_samples(side.result, side.model)
    return dict(zip(samples.positions(ids).tolist(), labels, strict=True))


def _of_examples(side: Side, samples: Samples) -> Pairs | None:
    """Of examples of a confusion matrix, the only record that older runs have."""
    found: Pairs = {}
    for example in side.own("examples"):
        if example.kind not in CASES or not example.objects:
            continue
        if any(thing.geometry is not None for thing in example.objects):
            return None
        labels = {thing.role: thing.label for thing in example.objects}
        found[samples.position(example.sample_id)] = (
            labels.get("ground_truth"),
            labels.get("prediction"),
        )
    return found or None


def _originals(texts: Columns, samples: Samples, blobs: Blobs) -> int | None:
    """(samples,) the number of the sample that each is a perturbed copy of, -1 without one."""
    column = np.full(len(samples), -1, np.int64)
    for own in texts.pop("perturbed_from", ()):
        for at, original in enumerate(own or ()):
            if original is not None:
                column[at] = samples.position(original)
    return blobs.codes(column) if (column >= 0).any() else None
