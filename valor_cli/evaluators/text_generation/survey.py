"""Survey all pieces of text inputs and divide the samples into ranges.

Unusual inputs (duplicate samples, some rows without an id, copies in files that share samples) are
left to the full loader, which has the messages for them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleRow
from valor_cli.evaluators.id_mismatch import Ids
from valor_cli.evaluators.selection import filtered_columns
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.joining import (
    SHOWN,
    ModelColumns,
    absent_from_all,
    check_metadata,
    check_needs,
    join_warnings,
    missing_columns,
)
from valor_cli.evaluators.text_generation.loading import (
    Linking,
    folder_of,
    labels_of,
    links_of,
    selected,
)
from valor_cli.evaluators.text_generation.piece_summary import PieceSummary, SamplePiece
from valor_cli.evaluators.text_generation.range_context import (
    Pick,
    RangeContext,
    Rows,
    RunFacts,
    Span,
)
from valor_cli.evaluators.text_generation.reading import ModelRows, input_files_and_warnings
from valor_cli.evaluators.text_generation.sources import Source, Sources, sources_of
from valor_cli.metric import NoOptions, Selection, Survey
from valor_cli.results import Scalar

Ints = NDArray[np.int64]

RANGE_ROWS: Final = 1 << 13
"""Samples of a range, at most: enough for all of them to be looked at together."""

MOST_RANGES: Final = 256
"""Ranges of a run; what is made of each is a file that stays open."""


class _Placed(Struct, frozen=True):
    """Rows of a source and their positions among all samples; as in `Pick`."""

    source: Source
    rows: Rows
    places: int | Ints
    count: int


def survey(
    inputs: TextInputs,
    options: NoOptions,
    selection: Selection,
    pieces: Sequence[SamplePiece],
    summaries: Sequence[PieceSummary],
) -> Survey | None:
    """The survey of a run and ranges of samples; None if everything must be loaded.

    Raises:
        DataError: As `load_text`, of what is known without the texts.
    """
    sources = sources_of(inputs, pieces, summaries)
    if sources is None:
        return None
    hashes = {
        model: np.concatenate([one.digests() for one in own] or [np.zeros(0, np.uint64)])
        for model, (_, own) in sources.of.items()
        if len(sources.of) > 1 or sources.numbers[0] is None
    }
    if any(len(np.unique(own)) < len(own) for own in hashes.values()):
        return None
    every = np.concatenate([*hashes.values(), np.zeros(0, np.uint64)])
    shared = len(sources.of) > 1 and len(np.unique(every)) < len(every)
    found = (
        _shared(inputs, selection, sources, every) if shared else _apart(inputs, selection, sources)
    )
    if found is None:
        return None
    ground, placed = found
    if len(hashes) > 1:
        first = next(iter(hashes.values()))
        hardly = join_warnings(
            {model: file for model, (file, _) in sources.of.items()},
            {model: _ids(model, own) for model, (_, own) in sources.of.items()},
            {model: len(np.intersect1d(own, first)) for model, own in hashes.items()},
        )
        known = ground.facts
        ground = replace(ground, facts=known._replace(warnings=[*known.warnings, *hardly]))
    size = sum(one.size for one in summaries) / max(sum(len(one.rows) for one in summaries), 1)
    folders = [folder_of(inputs, piece.piece.path) for piece in pieces]
    ground = replace(ground, folders=folders)
    return Survey(ground, list(_ranges(placed, max(size, 1.0), pieces[0].size)))


def _ids(model: str, own: Sequence[Source]) -> Ids:
    first = islice(chain.from_iterable(one.ids() for one in own), SHOWN + 1)
    return Ids(model, sum(one.count for one in own), list(first))


def _apart(
    inputs: TextInputs, selection: Selection, sources: Sources
) -> tuple[RangeContext, list[_Placed]]:
    """Place models without common samples one after the other."""
    columns = filtered_columns(selection)
    files = [file for file, _ in sources.of.values()]
    check_metadata(files, columns, selection.optional, shared=False)
    having = _having(sources)
    silent = check_needs(having, selection.needs - selection.wanted, inputs.columns)
    linking = {model: _linking(*own) for model, own in sources.of.items()}
    links, link_warnings = links_of(linking, skip=inputs.on_invalid == "skip")
    kept = _selected(sources, columns, selection)
    placed: list[_Placed] = []
    first: dict[str, int] = {}
    samples = 0
    for model, (_, own) in sources.of.items():
        first[model] = samples
        placed += _kept(own, kept[model], samples)
        samples += len(kept[model])
    told = _told(sources, selection, having, samples)
    told = told._replace(
        warnings=[*told.warnings, *silent],
        link_warnings=link_warnings,
        perturbed={
            model: _perturbed(own, links[model], kept[model])
            for model, (_, own) in sources.of.items()
        },
    )
    ground = RangeContext(
        inputs, selection, columns, tuple(sources.of), (), sources.numbers, first, links, None, told
    )
    return ground, placed


def _shared(
    inputs: TextInputs, selection: Selection, sources: Sources, hashes: NDArray[np.uint64]
) -> tuple[RangeContext, list[_Placed]] | None:
    """Place models with common samples: each sample where it first occurs."""
    linked = any("perturbed_from" in one.summary.rows.texts for one in _all(sources))
    if selection.keep or selection.limit is not None or linked:
        return None
    columns = filtered_columns(selection)
    files = [file for file, _ in sources.of.values()]
    check_metadata(files, columns, selection.optional, shared=True)
    having = _having(sources)
    _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    edges = np.cumsum([one.count for one in _all(sources)])[:-1]
    places = dict(zip(map(id, _all(sources)), np.split(place[of], edges), strict=True))
    placed = []
    for one in _all(sources):
        order = np.argsort(places[id(one)], kind="stable")
        rows = np.arange(*one.rows) if isinstance(one.rows, tuple) else one.rows
        placed.append(_Placed(one, rows[order], places[id(one)][order], one.count))
    filled = {
        model: _filled([places[id(one)] for one in own], _all(sources), places, len(first))
        for model, (_, own) in sources.of.items()
    }
    told = _told(sources, selection, having, len(first))._replace(filled=filled)
    ground = RangeContext(
        inputs,
        selection,
        columns,
        tuple(sources.of),
        (),
        sources.numbers,
        dict.fromkeys(sources.of, 0),
        {model: {} for model in sources.of},
        missing_columns(having, columns, selection.of_answers),
        told,
    )
    return ground, placed


def _told(
    sources: Sources, selection: Selection, having: Mapping[str, ModelColumns], samples: int
) -> RunFacts:
    files, warnings = input_files_and_warnings(sources.files)
    labels = chain.from_iterable(one.summary.labels for one in _all(sources))
    return RunFacts(
        having,
        files,
        warnings,
        (),
        {model: {} for model in sources.of},
        labels_of(labels, selection) if "labels" in selection.needs else (),
        absent_from_all(having, selection.wanted),
        samples,
        {},
    )


def _all(sources: Sources) -> list[Source]:
    return [one for _, own in sources.of.values() for one in own]


def _having(sources: Sources) -> dict[str, ModelColumns]:
    """The columns of each model's rows."""
    return {
        model: ModelColumns(file, frozenset().union(*(one.names for one in own)))
        for model, (file, own) in sources.of.items()
    }


def _linking(file: SampleFile, own: Sequence[Source]) -> Linking:
    copies: list[SampleRow] = []
    for one in own:
        rows = one.columns()
        column = rows.texts.get("perturbed_from")
        if column is None:
            continue
        ids = one.ids()
        for at in np.flatnonzero(column.there()).tolist():
            row = rows[at]
            copies.append(
                row._replace(sample_id=ids[at], line=row.line + one.lines_above, file=one.file)
            )
    every = chain.from_iterable(one.ids() for one in own)
    return Linking(file, frozenset(every if copies else ()), copies)


def _selected(
    sources: Sources, columns: Sequence[str], selection: Selection
) -> dict[str, Sequence[int]]:
    """By model, which of its rows are under evaluation."""
    if not selection.keep:
        return {
            model: range(sum(one.count for one in own))[: selection.limit]
            for model, (_, own) in sources.of.items()
        }
    models = {}
    for model, (file, own) in sources.of.items():
        rows = [
            row._replace(sample_id=name)
            for one in own
            for row, name in zip(one.columns(), one.ids(), strict=True)
        ]
        models[model] = ModelRows(file, rows)
    return selected(models, columns, selection)


def _kept(own: Sequence[Source], kept: Sequence[int], first: int) -> Iterator[_Placed]:
    """The rows of a model that are kept, one after the other from a place on."""
    above = 0
    for one in own:
        if isinstance(kept, range):
            count = min(max(len(kept) - above, 0), one.count)
            rows = one.rows
            yield _Placed(one, _some(rows, 0, count), first, count)
        else:
            low, high = np.searchsorted(kept, [above, above + one.count]).tolist()
            at = np.array(kept[low:high], np.int64) - above
            count = high - low
            rows = at + one.rows[0] if isinstance(one.rows, tuple) else one.rows[at]
            yield _Placed(one, rows, first, count)
        first += count
        above += one.count


def _some(rows: Rows, low: int, high: int) -> Rows:
    if isinstance(rows, tuple):
        return rows[0] + low, rows[0] + high
    return rows[low:high]


def _perturbed(
    own: Sequence[Source], links: Mapping[str, str], kept: Sequence[int]
) -> dict[Scalar, Scalar]:
    """From copies to originals, where both are under evaluation."""
    if not links:
        return {}
    ids = list(chain.from_iterable(one.ids() for one in own))
    there = dict.fromkeys(ids[at] for at in kept)
    return {one: links[one] for one in there if links.get(one) in there}


def _filled(
    own: Sequence[Ints], sources: Sequence[Source], places: Mapping[int, Ints], count: int
) -> tuple[int, list[str]]:
    """The number of samples that a model is missing, and the first ids."""
    lacks = np.ones(count, np.bool_)
    for one in own:
        lacks[one] = False
    names = []
    for place in np.flatnonzero(lacks)[:SHOWN].tolist():
        source = next(one for one in sources if (places[id(one)] == place).any())
        names.append(source.ids()[int(np.flatnonzero(places[id(source)] == place)[0])])
    return int(np.count_nonzero(lacks)), names


def _ranges(
    placed: Sequence[_Placed], size: float, most: int
) -> Iterator[tuple[Span, Sequence[int]]]:
    """Ranges of samples, and the pieces that have some of each.

    Args:
        placed: All rows.
        size: Bytes of a sample.
        most: Bytes of a range.
    """
    total = max((_end(one) for one in placed), default=0)
    rows = max(min(int(most / size), RANGE_ROWS), -(-total // MOST_RANGES), 1)
    edges = list(range(0, total, rows))
    picks: list[list[Pick]] = [[] for _ in edges]
    for one in placed:
        if not one.count:
            continue
        begin = one.places if isinstance(one.places, int) else int(one.places[0])
        for at in range(bisect_right(edges, begin) - 1, -(-_end(one) // rows)):
            if (pick := _pick(one, edges[at], edges[at] + rows)) is not None:
                picks[at].append(pick)
    for number, own in enumerate(picks):
        yield Span(number, own), sorted({one.piece for one in own})


def _end(one: _Placed) -> int:
    if not one.count:
        return 0
    return one.places + one.count if isinstance(one.places, int) else int(one.places[-1]) + 1


def _pick(one: _Placed, low: int, high: int) -> Pick | None:
    """The rows from a place to below another."""
    model, piece = one.source.model, one.source.at
    if isinstance(one.places, int):
        begin, end = max(low - one.places, 0), min(high - one.places, one.count)
        if begin >= end:
            return None
        return Pick(piece, model, _some(one.rows, begin, end), one.places + begin)
    begin, end = np.searchsorted(one.places, [low, high]).tolist()
    if begin == end:
        return None
    return Pick(piece, model, _some(one.rows, begin, end), one.places[begin:end])
