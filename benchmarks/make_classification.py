"""Seeded synthetic predictions of labels: make_classification.py OUT --rows 1000000

Writes OUT/dense.csv (10 labels, the scores of all: id,label,class_0 … class_9), OUT/topk.csv and
OUT/topk.jsonl (the same rows of 1,000 labels, the best 5 with their scores).

Shape: dense scores are softmaxes of noise with the true label lifted, six decimals, so that many
tie; every label is as frequent. Of 1,000 labels the first are twice as frequent as the last; 76 %
of the rows have the true label first, 14 % second, the others seldom list it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LABELS, LISTED = 1_000, 5
DENSE_LABELS = 10
ROWS_AT_ONCE = 100_000

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


def main() -> None:
    """Write the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dense", action="store_true", help="dense.csv alone")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(options.seed)
    _write_dense(options.out / "dense.csv", rng, options.rows)
    if not options.dense:
        _write_best(options.out, rng, options.rows)
    print(", ".join(f"{path.name} {path.stat().st_size:,}" for path in _files(options.out)))


def _files(out: Path) -> list[Path]:
    paths = [out / name for name in ("dense.csv", "topk.csv", "topk.jsonl")]
    return [path for path in paths if path.exists()]


def _blocks(rows: int) -> Iterator[range]:
    for first in range(0, rows, ROWS_AT_ONCE):
        yield range(first, min(first + ROWS_AT_ONCE, rows))


def _write_dense(path: Path, rng: Rng, rows: int) -> None:
    with path.open("w") as file:
        names = ",".join(f"class_{at}" for at in range(DENSE_LABELS))
        file.write(f"id,label,{names}\n")
        for block in _blocks(rows):
            truth = rng.integers(0, DENSE_LABELS, len(block))
            lifted = rng.normal(0, 1, (len(block), DENSE_LABELS))
            lifted[np.arange(len(block)), truth] += 2
            score = np.exp(lifted)
            score /= score.sum(axis=1, keepdims=True)
            for row, label, scores in zip(block, truth, score.round(6).tolist(), strict=True):
                file.write(f"{row:08d},class_{label},{','.join(map(str, scores))}\n")


def _write_best(out: Path, rng: Rng, rows: int) -> None:
    with (out / "topk.csv").open("w") as table, (out / "topk.jsonl").open("w") as lines:
        names = ",".join(f"pred{at},score{at}" for at in range(LISTED))
        table.write(f"id,label,{names}\n")
        for block in _blocks(rows):
            truth, listed, score = _best(rng, len(block))
            for row, label, names_of, scores in zip(
                block, truth.tolist(), listed.tolist(), score.tolist(), strict=True
            ):
                pairs = list(zip(names_of, scores, strict=True))
                cells = ",".join(f"class_{name},{value}" for name, value in pairs)
                table.write(f"{row:08d},class_{label},{cells}\n")
                objects = ",".join(
                    f'{{"label":"class_{name}","score":{value}}}' for name, value in pairs
                )
                lines.write(
                    f'{{"id":"{row:08d}","label":"class_{label}","predictions":[{objects}]}}\n'
                )


def _best(rng: Rng, rows: int) -> tuple[Array, Array, Array]:
    """True labels (rows,), the labels listed and their scores (rows, `LISTED`)."""
    truth = (rng.random(rows) ** 1.3 * LABELS).astype(np.int64)
    # Labels of a row differ by less than the number of labels: none is listed twice.
    steps = rng.integers(1, LABELS // LISTED, (rows, LISTED - 1)).cumsum(axis=1)
    first = np.where(rng.random(rows) < 0.76, truth, rng.integers(0, LABELS, rows))
    listed = np.column_stack([first, (first[:, None] + steps) % LABELS])
    second = ~(listed == truth[:, None]).any(axis=1) & (rng.random(rows) < 0.6)
    listed[second, 1] = truth[second]
    score = np.sort(rng.dirichlet([6, 1, 0.6, 0.4, 0.3, 0.8], rows)[:, :LISTED], axis=1)[:, ::-1]
    return truth, listed, score.round(6)


if __name__ == "__main__":
    main()
