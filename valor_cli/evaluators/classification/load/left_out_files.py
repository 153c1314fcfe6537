"""Exclude samples whose predictions may have been in a skipped file.

A sample without a prediction counts as wrong, but not where a file was skipped that may have held
its prediction. Files with both ground truth and predictions list their samples themselves, so
there is no doubt.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.evaluators.classification.load.rows import Frame
from valor_cli.evaluators.classification.load.rows import Rows as Kept
from valor_cli.evaluators.classification.load.warnings import Tally
from valor_cli.evaluators.id_mismatch import few
from valor_cli.evaluators.left_out_files import Rows, lost_files, lost_rows, possibly_skipped_error

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def samples_with_predictions(
    files: Mapping[str, ScoreFile], frame: Frame, joined: Mapping[str, Ints]
) -> tuple[Flags, tuple[str, ...]]:
    """(units,) samples whose predictions are complete, and models for which that is unknown.

    Args:
        files: By model, its predictions.
        frame: The rows of the ground truth.
        joined: By model, the row of the frame that each row of its file is for; -1 for none.
    """
    there = np.ones(len(frame.sample_ids), bool)
    unsure = []
    for model, file in files.items():
        lost = lost_files(file.files)
        if not lost:
            continue
        whole = Rows.of(frame.file.samples)
        truth = Rows(whole.files, whole.of_row[frame.order])
        gone = lost_files(frame.file.files)
        rows = lost_rows(truth, gone, Rows.of(file.samples), joined[model], lost)
        if rows is None:
            unsure.append(model)
        else:
            there[frame.unit[rows]] = False
    return there, tuple(unsure)


def check_predictions_present(file: ScoreFile, at: Ints, rows: Kept) -> None:
    """Raise an error for rows whose prediction may have been in a skipped file.

    Args:
        file: The predictions.
        at: (m,) the row of the frame that each is for; -1 for none.
        rows: The rows under evaluation.

    Raises:
        DataError: There are some.
    """
    target = np.append(rows.number, -1)[at]
    missing = np.ones(len(rows), bool)
    missing[target[target >= 0]] = False
    if missing.any():
        found = Tally.of(missing, rows.ids)
        raise possibly_skipped_error(
            file.files, file.path, found.count, few(found.first), "samples", "wrong ones"
        )
