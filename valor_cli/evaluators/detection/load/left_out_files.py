"""Exclude images whose detections may have been in a skipped file.

An image without detections counts as all false negatives, but not where a file was skipped that
may have held its detections. A file that lists its images, with or without detections, has all
detections of these: none of them is in a second file.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import Joined, join_images, own_images
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import DataError, Problem, printable
from valor_cli.evaluators.detection.load.images_and_labels import Frame
from valor_cli.evaluators.id_mismatch import SHOWN, few
from valor_cli.evaluators.left_out_files import Rows, lost_files, lost_rows, possibly_skipped_error

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def images_with_detections(
    truth: ObjectFile, predicted: Mapping[str, ObjectFile], frame: Frame
) -> tuple[Frame, list[str]]:
    """The images with complete detections, with warnings.

    Args:
        truth: The ground truth.
        predicted: By model, its detections.
        frame: The images under evaluation.

    Raises:
        DataError: Detections of an image may have stood in a file that was left out, or did so for
            all images.
    """
    warnings: list[str] = []
    for model, file in predicted.items():
        lost = lost_files(file.files)
        if not lost:
            continue
        found = join_images(file, frame.images)
        answers, at = _answers(file, found)
        images = lost_rows(_images(truth, frame), lost_files(truth.files), answers, at, lost)
        kept = frame.image_number >= 0
        if images is None:
            listed = np.zeros(len(kept), bool)
            listed[found.images[found.images >= 0]] = True
            _check_listed(file, kept & ~listed, frame)
        elif (kept & images).any():
            count = f"{int((kept & images).sum()):,} of {int(kept.sum()):,} images"
            warnings.append(
                f"left out, for the detections of {model} stood in such a file: {count} "
                f"({_some(kept & images, frame)})"
            )
            frame = _without(frame, images, file)
    return frame, warnings


def _images(truth: ObjectFile, frame: Frame) -> Rows:
    """The ground truth file of each image, in frame order."""
    if truth.images is None:
        return Rows([truth.path], np.zeros(len(frame.image_ids), np.int64))
    rows = Rows.of(truth.images)
    of_image = np.zeros(len(frame.image_ids), np.int64)
    of_image[own_images(truth, frame.images).images] = rows.of_row
    return Rows(rows.files, of_image)


def _answers(file: ObjectFile, found: Joined) -> tuple[Rows, Ints]:
    """The file and image of each detection and listed image."""
    rows = Rows.of(file.objects)
    if file.images is None:
        return rows, found.objects
    images = Rows.of(file.images)
    return (
        Rows(
            [*rows.files, *images.files],
            np.concatenate([rows.of_row, images.of_row + len(rows.files)]),
        ),
        np.concatenate([found.objects, found.images]),
    )


def _check_listed(file: ObjectFile, doubt: Flags, frame: Frame) -> None:
    """Raise an error for images whose detections may have been in a skipped file.

    Raises:
        DataError: There are some.
    """
    if doubt.any():
        count, first = int(doubt.sum()), _some(doubt, frame)
        raise possibly_skipped_error(
            file.files, file.path, count, first, "images", "missed objects"
        )


def _without(frame: Frame, images: Flags, file: ObjectFile) -> Frame:
    """The frame without some of its images.

    Raises:
        DataError: None is left.
    """
    before = frame.image_number >= 0
    kept = before & ~images
    if not kept.any():
        raise DataError(Problem(file.path, "its files that could be read are of no image"))
    inside = kept[before].tolist()
    return replace(
        frame,
        image_number=np.where(kept, np.cumsum(kept) - 1, -1),
        metadata={name: list(compress(values, inside)) for name, values in frame.metadata.items()},
    )


def _some(images: Flags, frame: Frame) -> str:
    """The ids of the first of these images."""
    first = frame.image_ids[np.flatnonzero(images)[: SHOWN + 1]].tolist()
    return few([printable(repr(one)) for one in first])
