"""Join the samples of several files into one `ScoreFile`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.column_names import listed, quoted
from valor_cli.data.partition.shards import NOTHING, SkippedFiles, minority_parts
from valor_cli.data.shapes.scores.columns import too_wide
from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.table import Columns, Table, places_in
from valor_cli.data.tape import Ints
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.texts import begins, order_of
from valor_cli.kernels.ranking.scores import Scores, joined_scores


def joined_score_files(
    path: str, parts: Sequence[ScoreFile], left_out: SkippedFiles = NOTHING
) -> ScoreFile:
    """Join all parts; labels and label keys are matched by name.

    Args:
        path: What the user wrote for all of them.
        parts: At least one, each of another file.
        left_out: Files that are no part, which stand behind the others.

    Raises:
        DataError: A sample is in two parts; some parts have label keys and some none; their
            columns are other classes.
    """
    found = parts[0] if len(parts) == 1 else _joined(path, parts)
    return replace(
        found,
        files=[*found.files, *left_out.files],
        warnings=[*left_out.warnings, *found.warnings],
    )


def _joined(path: str, parts: Sequence[ScoreFile]) -> ScoreFile:
    classes = _classes(parts)
    labels = tuple(dict.fromkeys(chain(classes, *(part.labels for part in parts))))
    keys = _keys(parts)
    rows, places = places_in([part.samples for part in parts])
    columns: Columns = {
        "sample_id": _ids([part.samples["sample_id"] for part in parts]),
        "key": _recoded([(part.samples["key"], part.keys) for part in parts], keys),
    }
    if all("truth" in part.samples.columns for part in parts):
        truths = [(part.samples["truth"], part.labels) for part in parts]
        columns["truth"] = _recoded(truths, labels)
    skipped = sum(part.samples.skipped for part in parts)
    samples = Table(path, columns, rows=rows, skipped=skipped, parts=places)
    _check_distinct(samples, keys)
    return ScoreFile(
        path=path,
        samples=samples,
        keys=keys,
        labels=labels,
        scores=_scores(parts, labels),
        classes=classes,
        metadata={
            name: list(chain.from_iterable(part.metadata[name] for part in parts))
            for name in parts[0].metadata
        },
        files=list(chain.from_iterable(part.files for part in parts)),
        warnings=list(dict.fromkeys(chain.from_iterable(part.warnings for part in parts))),
    )


def incompatible_score_files(parts: Sequence[ScoreFile]) -> dict[int, DataError]:
    """Parts whose classes or label keys differ from those of most."""
    classes = [frozenset(part.classes) for part in parts]
    odd = minority_parts(classes, lambda at, usual: _other_classes(parts[at], parts[usual]))
    keyed = [part.keys != (None,) for part in parts]
    return minority_parts(keyed, lambda at, usual: _other_keys(parts[at], parts[usual])) | odd


def _classes(parts: Sequence[ScoreFile]) -> tuple[str, ...]:
    """The classes of all parts, in the order of the first.

    Raises:
        DataError: They differ.
    """
    first = parts[0]
    for part in parts[1:]:
        if set(part.classes) != set(first.classes):
            raise _other_classes(part, first)
    return first.classes


def _other_classes(part: ScoreFile, usual: ScoreFile) -> DataError:
    other = sorted(set(part.classes) ^ set(usual.classes))
    message = f"its columns are other classes than those of {usual.path}: {listed(other)}"
    hint = "Name the columns that are classes under `data: classes:`."
    return DataError(Problem(part.path, message), hint=hint)


def _keys(parts: Sequence[ScoreFile]) -> tuple[str | None, ...]:
    """The label keys of all parts.

    Raises:
        DataError: Some have none.
    """
    without = [part for part in parts if part.keys == (None,)]
    if without and len(without) < len(parts):
        raise _other_keys(without[0], next(part for part in parts if part.keys != (None,)))
    return tuple(dict.fromkeys(chain.from_iterable(part.keys for part in parts)))


def _other_keys(part: ScoreFile, usual: ScoreFile) -> DataError:
    own = (
        "no label key here, and have one" if part.keys == (None,) else "a label key, and have none"
    )
    return DataError(Problem(part.path, f"labels have {own} in {usual.path}"))


def _recoded(
    columns: Sequence[tuple[Ints, Sequence[str | None]]], names: Sequence[str | None]
) -> Ints:
    """Codes of several columns as codes of all names."""
    code = {name: at for at, name in enumerate(names)}
    return np.concatenate(
        [np.array([code[name] for name in own], np.int64)[column] for column, own in columns]
    )


def _ids(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    total, width = sum(map(len, columns)), max(column.dtype.itemsize for column in columns)
    if any(column.dtype.kind == "O" for column in columns) or too_wide(width, total):
        return np.concatenate([column.astype(object) for column in columns])
    return np.concatenate(columns)


def _check_distinct(samples: Table, keys: Sequence[str | None]) -> None:
    """Refuse samples that are in two parts.

    Raises:
        DataError: There are some; it names both places.
    """
    ids, key = samples["sample_id"], samples["key"]
    order = order_of(ids)
    if begins(ids[order]).all():
        return
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.cumsum(begins(ids[order]))
    order = np.lexsort((key, rank))
    again = ~(begins(rank[order]) | begins(key[order]))
    if not again.any():
        return
    problems: list[Problem] = []
    for at in np.flatnonzero(again)[:LISTED].tolist():
        row, before = int(order[at]), int(order[at - 1])
        of = keys[int(key[row])]
        shown = quoted(ids[row].decode()) + ("" if of is None else f" (label key {quoted(of)})")
        message = f"the sample {shown} is also in {samples.place_of(before)}"
        problems.append(Problem(samples.place_of(row), message))
    raise DataError(problems, total=int(again.sum()))


def _scores(parts: Sequence[ScoreFile], labels: Sequence[str]) -> Scores | None:
    """The rows of all parts: dense if all list the same labels in the same order."""
    code = {name: at for at, name in enumerate(labels)}
    recoded = []
    for part in parts:
        if part.scores is None:
            return None
        own = np.array([code[name] for name in part.labels], np.int64)
        recoded.append(part.scores.relabelled(own))
    # Ties go to the label listed first, so that an order of its own stays.
    return joined_scores(recoded)
