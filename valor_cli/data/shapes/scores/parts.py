"""Join pieces of a file of labels and scores that were read separately.

A piece has its samples as a `ScoreFile`, with rows counted within the piece, and facts: what must
be known of it to check the file, without its rows. Checks that no piece can make alone use the
facts of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from msgspec import Struct

from valor_cli.data.partition.pieces import Span
from valor_cli.data.shapes.scores.assembly import absent_metadata, check_metadata, check_some
from valor_cli.data.shapes.scores.header import unread_column_warnings
from valor_cli.data.shapes.scores.score_file import ScoreFile, Side


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


def score_part(
    file: ScoreFile,
    *,
    span: Span | None = None,
    lines: int = 0,
    long: bool = False,
    names: Sequence[str] | None = None,
    unread: Sequence[str] = (),
) -> ScorePart:
    """The samples of a piece, with their facts."""
    seen = np.zeros(len(file.labels), np.bool_)
    if "truth" in file.samples.columns:
        truth = file.samples["truth"]
        seen[truth[truth >= 0]] = True
    facts = ScoreFacts(
        span=span,
        lines=lines,
        samples=len(file.samples),
        records=sum(one.rows or 0 for one in file.files),
        skipped=file.samples.skipped,
        long=long,
        labels=file.labels,
        keys=file.keys if len(file.samples) or file.keys != (None,) else (),
        classes=file.classes,
        true_classes=frozenset(
            name for name, true in zip(file.classes, seen.tolist(), strict=False) if true
        ),
        unsaid=frozenset(absent_metadata(file.metadata)),
        names=None if names is None else tuple(names),
        unread=tuple(unread),
    )
    return ScorePart(file, facts)


def file_warnings(path: str, side: Side, facts: Sequence[ScoreFacts]) -> list[str] | None:
    """The warnings of a file; None if it must be read whole.

    That is where some pieces have label keys and others none: rows without may say nothing, or be
    at fault.

    Args:
        path: The file.
        side: What it holds.
        facts: Of all its pieces, in their order; at least one.

    Raises:
        DataError: There are no samples; no sample has metadata of a name.
    """
    check_some(path, sum(one.samples for one in facts), sum(one.skipped for one in facts))
    nowhere = [name for name in facts[0].unsaid if all(name in one.unsaid for one in facts)]
    check_metadata(path, sorted(nowhere), facts[0].names)
    keyed = {None in one.keys for one in facts if one.keys}
    if len(keyed) > 1:
        return None
    labels = set(chain.from_iterable(one.labels for one in facts))
    return unread_column_warnings(path, side, facts[0].unread, labels)
