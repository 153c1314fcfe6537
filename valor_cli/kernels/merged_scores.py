"""Rows of scores, and labels that become one, in; rows that list each label once out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.scores import DenseScores, Scores, SparseScores

Ints = NDArray[np.int64]


def merged_scores(scores: Scores, codes: Ints) -> Scores:
    """The rows with label l called codes[l]; scores of labels that become one are added.

    Their sum stands where the first of them is listed. Where all labels stay distinct, nothing is
    copied but the labels.

    Args:
        scores: (n,) rows.
        codes: (labels,) the new name of each; -1 drops it.
    """
    used = codes[codes >= 0]
    if len(np.unique(used)) == len(used):
        return scores.relabelled(codes)
    if isinstance(scores, DenseScores):
        return _merged_columns(scores, codes)
    return _merged_entries(scores, codes)


def _merged_columns(scores: DenseScores, codes: Ints) -> DenseScores:
    label = codes[scores.label]
    names = list(dict.fromkeys(label[label >= 0].tolist()))
    merged = np.zeros((len(scores), len(names)))
    for at, name in enumerate(names):
        for column in np.flatnonzero(label == name).tolist():
            merged[:, at] += scores.score[:, column]
    return DenseScores(np.array(names, np.int64), merged)


def _merged_entries(scores: SparseScores, codes: Ints) -> SparseScores:
    label = codes[scores.label]
    row = np.repeat(np.arange(len(scores)), np.diff(scores.start))
    kept = np.flatnonzero(label >= 0)
    cell = row[kept] * (int(label.max(initial=0)) + 1) + label[kept]
    _, first, group = np.unique(cell, return_index=True, return_inverse=True)
    total = np.bincount(group, scores.score[kept], len(first)).astype(np.float64)
    order = np.argsort(first)
    entry = kept[first[order]]
    start = np.zeros(len(scores) + 1, np.int64)
    np.cumsum(np.bincount(row[entry], minlength=len(scores)), out=start[1:])
    return SparseScores(start, label[entry].astype(np.int32), total[order])
