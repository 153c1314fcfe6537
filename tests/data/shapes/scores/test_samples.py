"""Rows brought together by sample, against a plain loop over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.data.scored import read, said

pytestmark = pytest.mark.usefixtures("in_a_folder")

Row = tuple[str, str, str, str]


def random_rows(seed: int) -> list[Row]:
    """Id, label key, true label and prediction of each row: few of each, so that they repeat."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 25))
    samples, labels = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    rows = []
    for _ in range(int(rng.integers(1, 30))):
        sample, key = int(rng.integers(samples)), int(rng.integers(2))
        # Mostly one true label for each sample, sometimes none or another.
        truth = (["", f"t{rng.integers(2)}"] + [f"t{(sample + key) % 2}"] * 4)[rng.integers(6)]
        predicted = "" if rng.random() < 0.2 else f"p{rng.integers(labels)}"
        rows.append((str(sample) * width, f"k{key}", truth, predicted))
    return rows


def brought_together(rows: list[Row]) -> tuple[list[tuple[Any, ...]], int]:
    """Each sample and label key with its true label and what it lists, and how many rows are left.

    Of the rows of one, those that contradict the first true label said are left out, then those
    that list a label again; where no true label is left, all of them.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row[:2], []).append(row)
    found, used = [], 0
    for (sample, key), group in groups.items():
        truth = next((row[2] for row in group if row[2]), None)
        listed: list[str] = []
        kept = []
        for row in group:
            if row[2] in ("", truth) and row[3] not in listed:
                listed += [row[3]] if row[3] else []
                kept.append(row)
        if any(row[2] for row in kept):
            used += len(kept)
            found.append((sample, key, truth, [(name, 1.0) for name in listed]))
    return found, len(rows) - used


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("ordered", [False, True])
def test_rows_are_brought_together(seed: int, ordered: bool) -> None:
    rows = random_rows(seed)
    if ordered:
        # Rows of a sample stand together, which needs no sorting.
        rows.sort(key=lambda row: row[:2])
    expected, left = brought_together(rows)
    text = "id,key,label,prediction\n" + "".join(",".join(row) + "\n" for row in rows)
    if not expected:
        return
    found = read(text, "samples", invalid="skip")
    assert said(found) == expected
    assert (found.files[0].rows, found.files[0].skipped) == (len(rows), left)


def test_some_seeds_have_faults_and_some_have_none() -> None:
    left = [brought_together(random_rows(seed))[1] for seed in range(60)]
    assert 0 in left
    assert max(left) > 5
