"""What a `ScoreFile` says, by names, and what is said of faulty texts."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError
from valor_cli.kernels.ranking.scores import DenseScores

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."


def written(text: str | bytes, name: str) -> str:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def read(text: str | bytes, side: Side, name: str = "a.csv", **options: Any) -> ScoreFile:
    return read_scores(written(text, name), side, ScoreReading(**options))


def error(text: str | bytes, side: Side, name: str = "a.csv", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(text, side, name, **options)
    return str(caught.value)


def said(found: ScoreFile) -> list[tuple[Any, ...]]:
    """Each row: id, label key, true label, labels listed with scores, and metadata."""
    samples = found.samples
    truth = samples.columns.get("truth", np.full(len(samples), -1)).tolist()
    rows = zip(
        [one.decode() for one in samples["sample_id"].tolist()],
        [found.keys[key] for key in samples["key"].tolist()],
        [None if code < 0 else found.labels[code] for code in truth],
        listed(found),
        *found.metadata.values(),
        strict=True,
    )
    return list(rows)


def listed(found: ScoreFile) -> list[list[tuple[str, float]] | None]:
    """The labels of each row with their scores, in the order listed."""
    scores = found.scores
    if scores is None:
        return [None] * len(found.samples)
    if isinstance(scores, DenseScores):
        names = [found.labels[code] for code in scores.label.tolist()]
        return [list(zip(names, row, strict=True)) for row in scores.score.tolist()]
    pairs = [
        (found.labels[code], score)
        for code, score in zip(scores.label.tolist(), scores.score.tolist(), strict=True)
    ]
    start = scores.start.tolist()
    assert start[0] == 0
    assert start[-1] == len(pairs)
    return [pairs[a:b] for a, b in itertools.pairwise(start)]
