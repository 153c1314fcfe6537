"""Name and order the labels of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.errors import did_you_mean, printable
from valor_cli.kernels.ranking.scores import DenseScores, Scores
from valor_cli.kernels.ranking.sparse_scores import SparseScores

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_LONGEST: Final = 4000
"""Digits. Python refuses to convert more than 4,300 by default."""
_SHOWN: Final = 40


class Naming(Struct, frozen=True):
    """The labels of a run.

    Attributes:
        labels: All names, mapped, in the order that results have.
        number: The position of each in it.
        label_map: Name in a file to name in the run.
        classes: How many labels, the first, count though no row uses them: those that the config
            lists for sets of labels, where each label is a decision of every sample.
    """

    labels: tuple[str, ...]
    number: Mapping[str, int]
    label_map: Mapping[str, str]
    classes: int = 0

    def codes(self, names: Sequence[str]) -> Ints:
        """(names,) the code of each name."""
        return np.array([self.number[self.label_map.get(name, name)] for name in names], np.int64)

    def always(self, keys: int) -> slice:
        """The labels that count though no row uses them; none of several label keys."""
        return slice(0, self.classes if keys == 1 else 0)


def name_labels(
    classes: Sequence[str],
    files: Sequence[ScoreFile],
    label_map: Mapping[str, str],
    *,
    several: bool = False,
) -> tuple[Naming, list[str]]:
    """The labels of all files of a run, with warnings.

    Args:
        classes: Those that the config lists, in order; without any, the classes of the first file
            that has some in an order of its own.
        files: Predictions in the order of their models, and ground truth.
        label_map: Name in a file to name in the run.
        several: Whether samples have sets of labels.
    """
    names = {name for file in files for name in file.labels}
    ordered = (file.classes for file in files if file.classes)
    labels = label_order(classes or next(ordered, ()), names, label_map)
    number = {label: at for at, label in enumerate(labels)}
    always = len({label_map.get(name, name) for name in classes}) if several else 0
    return Naming(labels, number, label_map, always), _name_warnings(classes, names, label_map)


def label_order(
    classes: Sequence[str], names: Iterable[str], label_map: Mapping[str, str]
) -> tuple[str, ...]:
    """All labels of a run after mapping: classes first, then the others by name.

    Names that are whole numbers all are ordered as numbers. The order does not depend on that of
    files or of rows in them.
    """
    listed = dict.fromkeys(label_map.get(name, name) for name in classes)
    others = {label_map.get(name, name) for name in names} - listed.keys()
    if all(_is_whole(name) for name in others):
        return (*listed, *sorted(others, key=lambda name: (int(name), name)))
    return (*listed, *sorted(others))


def _is_whole(name: str) -> bool:
    digits = name.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) <= _LONGEST


def _name_warnings(
    classes: Sequence[str], names: Iterable[str], label_map: Mapping[str, str]
) -> list[str]:
    """What the config names and no file has."""
    known = sorted(set(names))
    there = set(known)
    mapped = there | {label_map.get(name, name) for name in known}
    return [
        f"label_map: no file has the label '{printable(name)}'{did_you_mean(name, known)}"
        for name in label_map
        if name not in there and name not in classes
    ] + [
        f"classes: no file has the label '{printable(name)}'{did_you_mean(name, known)}"
        for name in classes
        if name not in mapped and label_map.get(name, name) not in mapped
    ]


def similar_label_warnings(labels: Sequence[str]) -> list[str]:
    """Warnings about labels that differ only in spaces or case."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        return []
    shown = "; ".join(" and ".join(f"'{printable(one)}'" for one in group) for group in several[:3])
    more = f" … and {len(several) - 3:,} more" if len(several) > 3 else ""
    return [f"labels that differ in spaces or case alone: {shown}{more} (label_map makes them one)"]


def truth_of(file: ScoreFile, naming: Naming, order: Ints | None = None) -> Ints | SparseScores:
    """(n,) the true label of each row, or rows of all of them, in some order."""
    codes = naming.codes(file.labels)
    if file.truths is None:
        truth = file.samples["truth"]
        return np.asarray(codes[truth if order is None else truth[order]])
    truths = file.truths if order is None else file.truths.take(order)
    return truths.relabelled(codes, highest=True)


def list_label_warnings(labels: Sequence[str]) -> list[str]:
    """Warnings about labels that look like lists of labels."""
    lists = [name for name in labels if name.startswith("[") and name.endswith("]")]
    if not lists:
        return []
    some = printable(lists[0][:_SHOWN])
    hint = "if samples have several labels, write `multi_label: true` under `data:`"
    return [f"labels that look like lists, such as {some}: {hint}"]


class LabelUse(NamedTuple):
    """(keys, labels) how labels occur in the rows of each label key.

    Attributes:
        listed: Whether one lists it. Rows that all list the same labels list, of several keys,
            those to which they give a score.
        positive: Whether one gives it a score above 0.
    """

    listed: Flags
    positive: Flags


def label_use(scores: Scores, key: Ints, keys: int, count: int) -> LabelUse:
    """Count how labels occur.

    Args:
        scores: (n,) rows.
        key: (n,) the label key of each.
        keys: How many keys there are.
        count: How many labels there are.
    """
    said = LabelUse(np.zeros((keys, count), bool), np.zeros((keys, count), bool))
    for one in range(keys):
        rows = scores if keys == 1 else scores.take(key == one)
        said.positive[one] = rows.above_zero(count)
        if keys > 1 and isinstance(rows, DenseScores):
            said.listed[one, rows.label] = (rows.score != 0).any(axis=0)
        else:
            said.listed[one] = rows.listed(count)
    return said


def names_by_key(
    flags: Flags, labels: Sequence[str], keys: Sequence[str | None]
) -> tuple[str, ...]:
    """Names of the flagged labels; with several keys, "key: label".

    Args:
        flags: (keys, labels) which ones.
        labels: Their names.
        keys: Names of the label keys.
    """
    if len(keys) == 1:
        return tuple(compress(labels, flags[0].tolist()))
    pairs = np.argwhere(flags).tolist()
    return tuple(f"{keys[key]}: {labels[label]}" for key, label in pairs)
