"""Join the samples of several files, or of several pieces of one file.

A piece has its samples as a `ScoreFile`, with rows counted within the piece, and facts: what must
be known of it to check the file, without its rows. Checks that no piece can make alone use the
facts of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.column_names import listed, quoted
from valor_cli.data.partition.pieces import Span, UnsplittableError
from valor_cli.data.partition.shards import minority_parts
from valor_cli.data.shapes.scores.columns import too_wide
from valor_cli.data.shapes.scores.layout import ScoreLayout, unread_column_warnings
from valor_cli.data.shapes.scores.samples import order_of_samples, sample_begins
from valor_cli.data.shapes.scores.schema import CLASSES_HINT
from valor_cli.data.shapes.scores.score_file import ScoreFile, Side
from valor_cli.data.table import Columns, Table, places_in
from valor_cli.data.tape import Ints
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.kernels.columns.grouping import begins
from valor_cli.kernels.columns.texts import order_of
from valor_cli.kernels.ranking.scores import Scores, joined_scores
from valor_cli.kernels.ranking.sparse_scores import SparseScores, joined_sparse


def joined_score_files(path: str, parts: Sequence[ScoreFile]) -> ScoreFile:
    """Join all parts; labels and label keys are matched by name.

    Args:
        path: What the user wrote for all of them.
        parts: At least one, each of another file.

    Raises:
        DataError: A sample is in two parts; some parts have label keys and some none; their
            columns are other classes.
    """
    return parts[0] if len(parts) == 1 else _joined(path, parts)


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
        truths=_truths(parts, labels),
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
    return DataError(Problem(part.path, message), hint=CLASSES_HINT)


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


def _codes(names: Sequence[str | None], every: Sequence[str | None]) -> Ints:
    """The codes of names among all."""
    code = {name: at for at, name in enumerate(every)}
    return np.array([code[name] for name in names], np.int64)


def _recoded(
    columns: Sequence[tuple[Ints, Sequence[str | None]]], names: Sequence[str | None]
) -> Ints:
    """Codes of several columns as codes of all names."""
    return np.concatenate([_codes(own, names)[column] for column, own in columns])


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
    order = order_of_samples(ids, key)
    again = ~sample_begins(ids[order], key[order])
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


def _truths(parts: Sequence[ScoreFile], labels: Sequence[str]) -> SparseScores | None:
    """The sets of true labels of all parts."""
    sets = [
        part.truths.relabelled(_codes(part.labels, labels))
        for part in parts
        if part.truths is not None
    ]
    return joined_sparse(sets) if sets else None


def _scores(parts: Sequence[ScoreFile], labels: Sequence[str]) -> Scores | None:
    """The rows of all parts: dense if all list the same labels in the same order."""
    recoded = []
    for part in parts:
        if part.scores is None:
            return None
        recoded.append(part.scores.relabelled(_codes(part.labels, labels)))
    # Ties go to the label listed first, so that an order of its own stays.
    return joined_scores(recoded)


class ScoreFacts(Struct, frozen=True):
    """Facts of a piece about its file.

    Attributes:
        span: The bytes that were read; None of the whole input. Those of all pieces, in their
            order, are `seamless`, unless the file was written to meanwhile.
        lines: How many lines that is: by so many are rows of later pieces further down.
        samples: How many rows the piece has, each a sample and a label key.
        records: How many lines with something in them it has.
        skipped: How many of them were left out as invalid.
        long: Whether a row of the file is one label of a sample. Pieces then part between samples
            where the rows of each are adjacent; where they are not, a sample is in several
            pieces, and the file must be read whole.
        labels: Names of labels, those of rows that were left out included.
        keys: Names of label keys; (None,) where no row has one; nothing without rows.
        classes: As of a `ScoreFile`.
        true_classes: The classes that are the true label of a sample.
        unsaid: The names of metadata that no sample of the piece has.
        names: Of what the first line of the file has; None where all metadata asked for is there.
        unread: The columns that may be classes, and are not among those of the config.
    """

    span: Span | None
    lines: int
    samples: int
    records: int
    skipped: int
    long: bool
    labels: tuple[str, ...]
    keys: tuple[str | None, ...]
    classes: tuple[str, ...]
    true_classes: frozenset[str]
    unsaid: frozenset[str]
    names: tuple[str, ...] | None
    unread: tuple[str, ...]


class ScorePart(Struct, frozen=True):
    """A piece of a file.

    Attributes:
        file: Its samples. `samples.rows` are lines of the piece, from 1; leave out of joins what
            has no samples, for it has no columns of labels or scores either. The sha256 is empty
            where the piece is a range of bytes.
        facts: What the file must know of it.
    """

    file: ScoreFile
    facts: ScoreFacts


def score_part(file: ScoreFile, layout: ScoreLayout, span: Span | None, lines: int) -> ScorePart:
    """The samples of a piece, with their facts; arguments as in `ScoreFacts`."""
    seen = np.zeros(len(file.labels), np.bool_)
    true = file.true_labels
    seen[true[true >= 0]] = True
    unsaid = (name for name, said in file.metadata.items() if all(one is None for one in said))
    facts = ScoreFacts(
        span=span,
        lines=lines,
        samples=len(file.samples),
        records=sum(one.rows or 0 for one in file.files),
        skipped=file.samples.skipped,
        long=layout.long,
        labels=file.labels,
        keys=file.keys if len(file.samples) or file.keys != (None,) else (),
        classes=file.classes,
        true_classes=frozenset(
            name for name, true in zip(file.classes, seen.tolist(), strict=False) if true
        ),
        unsaid=frozenset(unsaid),
        names=None if layout.there is None else tuple(layout.there),
        unread=tuple(layout.unread),
    )
    return ScorePart(file, facts)


def file_warnings(path: str, side: Side, facts: Sequence[ScoreFacts]) -> list[str]:
    """The warnings of a file.

    Args:
        path: The file.
        side: What it holds.
        facts: Of all its pieces, in their order; at least one.

    Raises:
        DataError: There are no samples; no sample has metadata of a name.
        UnsplittableError: Some pieces have label keys and others none: rows without may say
            nothing, or be at fault.
    """
    if not any(one.samples for one in facts):
        skipped = sum(one.skipped for one in facts)
        left = f"; {skipped:,} were left out" if skipped else ""
        raise DataError(Problem(path, f"there are no samples; at least one is needed{left}"))
    names = facts[0].names
    nowhere = facts[0].unsaid.intersection(*(one.unsaid for one in facts))
    if names is not None and nowhere:
        raise DataError(
            [
                Problem(
                    path,
                    f"no sample has the metadata '{name}'{did_you_mean(name, names)}; "
                    f"there is: {listed(names)}",
                )
                for name in sorted(nowhere)
            ]
        )
    keyed = {None in one.keys for one in facts if one.keys}
    if len(keyed) > 1 and len(facts) > 1:
        raise UnsplittableError
    labels = set(chain.from_iterable(one.labels for one in facts))
    return unread_column_warnings(path, side, facts[0].unread, labels)
