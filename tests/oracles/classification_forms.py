"""Samples as files of every form that classification reads."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from tests.oracles.classification_truth import Sample

Writer = Callable[[Path, Sequence[Sample], Sequence[str]], dict[str, Any]]
"""Writes files of samples over some labels into a folder, and returns the `data:` block."""


def store(path: Path, text: str) -> str:
    """Write a file, compressed as its name says; its name."""
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = zstandard.ZstdCompressor().compress(data)
    path.write_bytes(data)
    return path.name


def table(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """CSV; numbers are written so that reading gives them back to the last bit."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def lines(objects: Iterable[object]) -> str:
    """JSONL."""
    return "".join(json.dumps(one) + "\n" for one in objects)


def truth_csv(path: Path, samples: Sequence[Sample]) -> str:
    """The ground truth alone; `place` is metadata."""
    rows = [(one.id, one.truth, one.place) for one in samples]
    return store(path, table([("sample_id", "label", "place"), *rows]))


def _apart(folder: Path, samples: Sequence[Sample], name: str, text: str) -> dict[str, Any]:
    return {
        "ground_truth": truth_csv(folder / "truth.csv", samples),
        "predictions": {"model": store(folder / name, text)},
    }


def wide_csv(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """A column per class; needs complete lists."""
    rows = [(one.id, *(repr(one.score(label)) for label in labels)) for one in samples]
    return _apart(folder, samples, "wide.csv", table([("id", *labels), *rows]))


def pairs_csv(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """Pairs of columns; shorter lists leave the last ones empty."""
    text = table(_pairs(samples), ";")
    return _apart(folder, samples, "pairs.csv.gz", text)


def _pairs(samples: Sequence[Sample]) -> list[list[object]]:
    width = max(1, *(len(one.listed) for one in samples))
    names = [f"{name}_{at}" for at in range(1, width + 1) for name in ("prediction", "score")]
    rows: list[list[object]] = [["sample_id", *names]]
    for one in samples:
        cells = [cell for label, score in one.listed for cell in (label, repr(score))]
        rows.append([one.id, *cells, *[""] * (2 * width - len(cells))])
    return rows


def long_csv(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """A row per label; rows of all samples are interleaved, those of one keep their order."""
    deepest = max(len(one.listed) for one in samples)
    rows = [
        (one.id, *one.listed[at])
        for at in range(deepest)
        for one in reversed(samples)
        if at < len(one.listed)
    ]
    text = table([("image", "pred", "confidence"), *rows], "\t")
    return _apart(folder, samples, "long.csv", text)


def long_samples(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """A row per label in one file with the true label; a sample without any has an empty one."""
    rows = [
        (one.id, one.truth, one.place, label, "" if score is None else repr(score))
        for one in samples
        for label, score in (one.listed or [("", None)])
    ]
    header = ("sample_id", "label", "place", "prediction", "score")
    return {"samples": {"model": store(folder / "both.csv.zst", table([header, *rows]))}}


def wide_samples(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """A column per class beside the true label; needs complete lists."""
    rows = [
        (one.id, one.truth, *(repr(one.score(label)) for label in labels), one.place)
        for one in samples
    ]
    text = table([("sample_id", "label", *labels, "place"), *rows])
    return {"samples": {"model": store(folder / "both.csv", text)}, "classes": list(labels)}


def objects_jsonl(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """Scores by label."""
    text = lines({"sample_id": one.id, "predictions": dict(one.listed)} for one in samples)
    return _apart(folder, samples, "objects.jsonl", text)


def items_jsonl(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """Lists of objects in shards, of which a pattern names all."""
    step = -(-len(samples) // 3)
    for at in range(3):
        some = samples[at * step : (at + 1) * step]
        text = lines(
            {
                "sample_id": one.id,
                "predictions": [{"label": label, "score": score} for label, score in one.listed],
            }
            for one in some
        )
        store(folder / f"shard{at}.jsonl{('', '.gz', '.zst')[at]}", text)
    truth = truth_csv(folder / "truth.csv", samples)
    return {"ground_truth": truth, "predictions": {"model": "shard*.jsonl*"}}


def pairs_json(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """One JSON list of samples with pairs, metadata in an object of its own."""
    rows = [
        {
            "sample_id": one.id,
            "label": one.truth,
            "metadata": {"place": one.place},
            "predictions": [list(pair) for pair in one.listed],
        }
        for one in samples
    ]
    return {"samples": {"model": store(folder / "both.json", json.dumps(rows))}}


def numbers_jsonl(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """Bare numbers in the order of `classes:`; needs complete lists."""
    text = lines(
        {"sample_id": one.id, "predictions": [one.score(label) for label in labels]}
        for one in samples
    )
    return {**_apart(folder, samples, "numbers.jsonl", text), "classes": list(labels)}


def lines_jsonl(folder: Path, samples: Sequence[Sample], labels: Sequence[str]) -> dict[str, Any]:
    """A line per label."""
    text = lines(
        {"sample_id": one.id, "prediction": label, "score": score}
        for one in samples
        for label, score in one.listed
    )
    return _apart(folder, samples, "lines.jsonl", text)


COMPLETE: Mapping[str, Writer] = {
    "wide csv": wide_csv,
    "wide csv with truth": wide_samples,
    "numbers jsonl": numbers_jsonl,
}
"""Forms that can only say complete lists."""

PARTIAL: Mapping[str, Writer] = {
    "pairs csv.gz": pairs_csv,
    "long csv": long_csv,
    "long csv.zst with truth": long_samples,
    "objects jsonl": objects_jsonl,
    "items jsonl in shards": items_jsonl,
    "pairs json with truth": pairs_json,
    "lines jsonl": lines_jsonl,
}
"""Forms that say any lists."""


def random_samples(
    seed: int,
    *,
    count: int = 60,
    labels: str = "abcdef",
    partial: bool = False,
    digits: int | None = 1,
) -> list[Sample]:
    """Samples, ids not ascending, whose scores sum to 1 if they are complete.

    Of the labels the last is nobody's, the last but one nobody is predicted as; some rows are all
    zeros, or list nothing.

    Args:
        seed: Of the generator.
        count: How many.
        labels: A letter each.
        partial: Whether lists lack labels and stand in any order.
        digits: Of the scores, which makes ties; None for all 17.
    """
    rng = np.random.default_rng(seed)
    samples = []
    for number in rng.permutation(count).tolist():
        truth = labels[rng.integers(0, len(labels) - 1)]
        share = rng.dirichlet(np.full(len(labels), 0.6))
        share[labels.index(truth)] += rng.choice([0, 0.3, 2])
        share[len(labels) - 2] = 0
        share /= share.sum()
        if digits is not None:
            share = share.round(digits)
            # What rounding took or gave goes to the largest: sums are 1 but for the last bits.
            share[share.argmax()] = round(float(share.max() + 1 - share.sum()), digits)
        if rng.random() < 0.08:
            share[:] = 0
        order = rng.permutation(len(labels)) if partial else np.arange(len(labels))
        length = int(rng.integers(0, len(labels) + 1)) if partial else len(labels)
        listed = tuple((labels[at], float(share[at])) for at in order[:length])
        place = ("north", "south", "east")[int(rng.integers(0, 3))]
        samples.append(Sample(f"s{number}", truth, listed, place))
    return samples
