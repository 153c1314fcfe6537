"""Load data and build evidence in pieces, without all of the data in memory.

Inputs are divided into pieces, which workers read. From their summaries the client derives ranges
of units; for each range a worker gathers the rows, loads them and builds the evidence. The client
merges the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct, field, structs
from msgspec.structs import replace

from valor_cli.data.partition.pieces import UnsplittableError, sha256_of
from valor_cli.data.partition.shards import combined_error, pieces_error
from valor_cli.errors import DataError
from valor_cli.metric import Call, Loaded, Selection, Stream, Survey, Wing
from valor_cli.pipeline.executor.executor import Kept, Progress, Workers
from valor_cli.pipeline.plan import Plan, WingPlan, without
from valor_cli.pipeline.ranged_dataset import RangedDataset
from valor_cli.results import InputFile

SHARES: Final = 4
"""Tasks that each process has of what is made of ranges: the last ones end at about one time."""

TOGETHER: Final = 8
"""Shards that are merged at once: fewer passes over what grows, and few that are held."""


class Merging:
    """Merges evidence as it arrives.

    Evidence that stays small is merged early, `TOGETHER` of equal weight at a time, so that few are
    held and none is merged more often than the logarithm of their number; what grows with every
    shard is merged once.
    """

    def __init__(self, merge: Callable[[Sequence[Any]], Any], *, early: bool) -> None:
        self._merge = merge
        self._early = early
        # What is held, by how often it was merged.
        self._held: list[list[Any]] = [[]]

    def add(self, evidence: Any) -> None:
        """Add a shard."""
        self._held[0].append(evidence)
        if not self._early:
            return
        for level, own in enumerate(self._held):
            if len(own) < TOGETHER:
                return
            merged = self._merge(own)
            own.clear()
            if level + 1 == len(self._held):
                self._held.append([])
            self._held[level + 1].append(merged)

    def merged(self) -> Any:
        """The evidence of all shards, at least one."""
        return self._merge([evidence for own in self._held for evidence in own])


class Streamed(NamedTuple):
    """The loaded data, and the evidence by model and wing, of what of a plan the data allows."""

    loaded: Loaded[Any]
    evidence: Mapping[tuple[str, int], Any]


class _Asked(Struct, frozen=True):
    """What is made of a range.

    Attributes:
        stream: How the task reads.
        ground: What all ranges know.
        wings: The wings of the plan, and whether their evidence is condensed.
    """

    stream: Stream[Any]
    ground: Any
    wings: Sequence[tuple[Wing[Any, Any], Sequence[Call], Any, bool]]


Ranges: TypeAlias = Sequence[tuple[Any, Sequence[int]]]
"""As in `Survey`."""


class _Made(Struct, frozen=True):
    """What a worker made of some ranges.

    Attributes:
        loaded: Of each range that can be used, in order.
        counts: By model, how many units each of these has.
        evidence: By model and number of the wing, that of all of them together.
        errors: Of the other ranges.
    """

    loaded: list[Loaded[Any]] = field(default_factory=list)
    counts: dict[str, list[int]] = field(default_factory=dict)
    evidence: dict[tuple[str, int], Any] = field(default_factory=dict)
    errors: list[DataError] = field(default_factory=list)


def streamed(
    plan: Plan, selection: Selection, pool: Workers, progress: Progress, size: int
) -> Streamed:
    """Load a plan's data and evidence in pieces.

    Raises:
        DataError: The problems of all pieces, or of all ranges.
        UnsplittableError: All must be loaded whole.
    """
    config = plan.config
    wings = [part.wing for part in plan.wings]
    if plan.task.stream is None or any(one.built_from == "whole" for one in wings):
        raise UnsplittableError
    if config.slice_search is not None:
        raise UnsplittableError
    stream = plan.task.stream()
    with _unsplittable_if_faulty():
        pieces = stream.cut(config.data, config.options, selection, size)
    # What is left out, and what to say of it, is for the readers of whole files to decide.
    skips = getattr(config.data, "on_invalid", "error") == "skip"
    kept: list[Kept] = []
    with _digests(pieces) as digests, _unsplittable_if_faulty() if skips else nullcontext():
        try:
            told = _read(stream, pieces, kept, pool, progress, skips=skips)
            with _unsplittable_if_faulty():
                found = stream.survey(config.data, config.options, selection, pieces, told)
            plan = without(plan, frozenset(found.unfit))
            made = _made(plan, stream, found, kept, pool, progress)
        finally:
            for one in kept:
                one.drop()
        if made.loaded.missing_columns:
            raise UnsplittableError
        files = [_digested(one, digests) for one in made.loaded.files]
    return made._replace(loaded=replace(made.loaded, files=files, unfit=found.unfit))


@contextmanager
def _unsplittable_if_faulty() -> Iterator[None]:
    """Leave what is wrong to the readers of whole files: they report all files, or skip some."""
    try:
        yield
    except DataError:
        raise UnsplittableError from None


def _read(
    stream: Stream[Any],
    pieces: Sequence[Any],
    kept: list[Kept],
    pool: Workers,
    progress: Progress,
    *,
    skips: bool,
) -> list[Any]:
    """What each piece says of itself; its rows are added to `kept`."""
    told: list[Any] = []
    progress("reading", 0, len(pieces))
    for one, rows in pool.keep(_read_piece, [(stream.read, piece) for piece in pieces]):
        kept.append(rows)
        told.append(one)
        if skips and isinstance(one, DataError):
            raise one
        progress("reading", len(told), len(pieces))
    errors = [one if isinstance(one, DataError) else None for one in told]
    if any(errors):
        each = zip(pieces, errors, strict=True)
        raise pieces_error((piece.path, piece.piece.path, error) for piece, error in each)
    return told


def _made(
    plan: Plan,
    stream: Stream[Any],
    found: Survey,
    kept: Sequence[Kept],
    pool: Workers,
    progress: Progress,
) -> Streamed:
    """What was loaded of all ranges, and its evidence."""
    wings = [(part.wing, part.calls, part.needs, is_condensed(plan, part)) for part in plan.wings]
    shared = pool.share(_Asked(stream, found.ground, wings))
    calls = [
        (ranges, shared, *(kept[at] for at in _pieces_of(ranges)))
        for ranges in _grouped(found.ranges, pool, sums=all(one for *_, one in wings))
    ]
    merging: dict[tuple[str, int], Merging] = {}
    parts: list[Loaded[Any]] = []
    counts: dict[str, list[int]] = {}
    errors: list[DataError] = []
    progress("building evidence", 0, len(found.ranges))
    for made in pool.map(_make_ranges, calls):
        errors += made.errors
        parts += made.loaded
        for model, count in made.counts.items():
            counts.setdefault(model, []).extend(count)
        for key, evidence in made.evidence.items():
            wing, _, _, condensed = wings[key[1]]
            merging.setdefault(key, Merging(wing.merge, early=condensed)).add(evidence)
        progress("building evidence", len(parts), len(found.ranges))
    shared.drop()
    if errors:
        raise combined_error(errors)
    loaded = stream.join(found.ground, parts)
    datasets = {
        model: RangedDataset(
            [part.datasets[model] for part in parts], counts[model], stream.illustrate
        )
        for model in loaded.datasets
    }
    evidence = {key: one.merged() for key, one in merging.items()}
    return Streamed(replace(loaded, datasets=datasets), evidence)


def is_condensed(plan: Plan, part: WingPlan) -> bool:
    """Whether condensed evidence of a wing suffices for the plan."""
    if plan.config.interval is not None or plan.config.slices or part.wing.condense is None:
        return False
    return all(call.metric.condensed for call in part.calls)


def _read_piece(read: Callable[[Any], tuple[Any, Any]], piece: Any) -> tuple[Any, Any]:
    """Read a piece in a worker; instead of what it says of itself, what is wrong with it."""
    try:
        return read(piece)
    except DataError as error:
        return error, None


def _grouped(ranges: Ranges, pool: Workers, *, sums: bool) -> list[Ranges]:
    """The ranges that are one task each; `sums` of several are merged where they are made."""
    at_once = min(max(len(ranges) // (SHARES * pool.count), 1), TOGETHER)
    if not sums or pool.count == 1:
        at_once = 1
    return [ranges[at : at + at_once] for at in range(0, len(ranges), at_once)]


def _pieces_of(ranges: Ranges) -> list[int]:
    """The pieces that have units of some of the ranges."""
    return sorted({at for _, pieces in ranges for at in pieces})


def _make_ranges(ranges: Ranges, asked: _Asked, *pieces: Any) -> _Made:
    """In a worker: what is made of some ranges, from the rows of their pieces."""
    rows = dict(zip(_pieces_of(ranges), pieces, strict=True))
    made = _Made()
    merging: dict[tuple[str, int], Merging] = {}
    for span, at in ranges:
        try:
            loaded = asked.stream.load(asked.ground, span, [(one, rows[one]) for one in at])
        except DataError as error:
            made.errors.append(error)
            continue
        for key, evidence in _evidence(asked, loaded):
            wing, *_, condensed = asked.wings[key[1]]
            merging.setdefault(key, Merging(wing.merge, early=condensed)).add(evidence)
        for model, dataset in loaded.datasets.items():
            made.counts.setdefault(model, []).append(dataset.unit_count)
        made.loaded.append(replace(loaded, datasets=_looked_at(asked, loaded)))
    made.evidence.update({key: one.merged() for key, one in merging.items()})
    return made


def _evidence(asked: _Asked, loaded: Loaded[Any]) -> Iterator[tuple[tuple[str, int], Any]]:
    """The evidence of each model and wing."""
    for model, dataset in loaded.datasets.items():
        for number, (wing, calls, needs, condensed) in enumerate(asked.wings):
            evidence = wing.evidence(dataset, needs)
            if condensed and wing.condense is not None:
                evidence = wing.condense(evidence, calls)
            yield (model, number), evidence


def _looked_at(asked: _Asked, loaded: Loaded[Any]) -> dict[str, Any]:
    """What of the datasets is looked at when there is evidence."""
    if not all(condensed for *_, condensed in asked.wings):
        return dict(loaded.datasets)
    # An empty shard can still say how to show what others found.
    return {
        model: dataset.shard(np.zeros(dataset.unit_count, np.bool_))
        for model, dataset in loaded.datasets.items()
    }


@contextmanager
def _digests(pieces: Sequence[Any]) -> Iterator[Mapping[str, Future[str]]]:
    """By path the sha256 of files that are read in several pieces, found meanwhile."""
    paths = [one.piece.path for one in pieces]
    several = [path for path in dict.fromkeys(paths) if paths.count(path) > 1]
    with ThreadPoolExecutor(1) as thread:
        try:
            yield {path: thread.submit(sha256_of, path) for path in several}
        except BaseException:
            thread.shutdown(wait=False, cancel_futures=True)
            raise


def _digested(file: InputFile, digests: Mapping[str, Future[str]]) -> InputFile:
    found = digests.get(file.path)
    return file if found is None or file.sha256 else structs.replace(file, sha256=found.result())
