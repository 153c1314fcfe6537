"""Survey all pieces of text inputs and divide the samples into ranges.

Unusual inputs (duplicate samples, some rows without an id, copies in files that share samples) need
all rows at once: they are read whole, which is one range.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.partition.pieces import UnsplittableError
from valor_cli.data.shapes.samples.columns import SampleRow
from valor_cli.data.shapes.samples.sample_file import SampleFile
from valor_cli.evaluators.id_mismatch import SHOWN, Ids
from valor_cli.evaluators.selection import filtered_columns
from valor_cli.evaluators.text_generation.candidates import (
    Candidates,
    links_between,
    links_of,
    selected,
)
from valor_cli.evaluators.text_generation.inputs import TRUTH, TextInputs
from valor_cli.evaluators.text_generation.joining import (
    ModelColumns,
    absent_from_all,
    check_metadata,
    check_needs,
    join_warnings,
    missing_columns,
)
from valor_cli.evaluators.text_generation.piece_summary import PieceSummary, SamplePiece
from valor_cli.evaluators.text_generation.range_context import (
    Pick,
    RangeContext,
    RunFacts,
    Span,
    folder_of,
    labels_of,
    rows_between,
)
from valor_cli.evaluators.text_generation.reading import input_files_and_warnings
from valor_cli.evaluators.text_generation.sources import (
    Source,
    Sources,
    inputs_in_pieces,
    sources_of,
)
from valor_cli.metric import NoOptions, Selection, Survey

Ints = NDArray[np.int64]

RANGE_ROWS: Final = 1 << 13
"""Samples of a range, at most: enough for all of them to be looked at together."""

MOST_RANGES: Final = 256
"""Ranges of a run; what is made of each is a file that stays open."""


def survey(
    inputs: TextInputs,
    options: NoOptions,
    selection: Selection,
    pieces: Sequence[SamplePiece],
    summaries: Sequence[PieceSummary],
) -> Survey:
    """The survey of a run and ranges of samples.

    Raises:
        DataError: As `load_text`, of what is known without the texts.
        UnsplittableError: All rows are needed at once.
    """
    read = inputs_in_pieces(inputs, pieces, summaries)
    sources = sources_of(inputs, read)
    hashes = sources.digests()
    if any(len(np.unique(own)) < len(own) for own in hashes.values()):
        raise UnsplittableError
    ground, placed = place_samples(inputs, selection, sources, hashes, summaries)
    if ground.unselected:
        raise UnsplittableError
    size = sum(one.size for one in summaries) / max(sum(len(one.rows) for one in summaries), 1)
    total = max((one.end for one in placed), default=0)
    rows = min(int(pieces[0].size / max(size, 1.0)), RANGE_ROWS)
    spans = spans_of(placed, max(rows, -(-total // MOST_RANGES), 1))
    return Survey(ground, [(span, sorted({one.piece for one in span.picks})) for span in spans])


def place_samples(
    inputs: TextInputs,
    selection: Selection,
    sources: Sources,
    hashes: Mapping[str, NDArray[np.uint64]],
    summaries: Sequence[PieceSummary],
    *,
    whole: bool = False,
) -> tuple[RangeContext, list[Pick]]:
    """What ranges of samples share, and the position of each row among all samples.

    Models that have no sample in common stand one after the other; samples that they share stand
    where they first occur.

    Args:
        inputs: What the config says of the data.
        selection: What of it the run looks at.
        sources: Where the rows of each model are.
        hashes: By model, those of its sample ids, where there are several.
        summaries: Of all pieces.
        whole: As in `RangeContext`.

    Raises:
        DataError: As `load_text`, of what is known without the texts.
    """
    columns = filtered_columns(selection)
    every = np.concatenate([*hashes.values(), np.zeros(0, np.uint64)])
    shared = len(sources.of) > 1 and len(np.unique(every)) < len(every)
    files = [file for file, _ in sources.of.values()]
    check_metadata(files, columns, selection.optional, selection.texts, shared=shared)
    every_file = {
        model: ModelColumns(file, frozenset().union(*(one.names for one in own)))
        for model, (file, own) in sources.of.items()
    }
    having = {model: every_file[model] for model in sources.models}
    records, warnings = input_files_and_warnings(sources.files)
    labels = chain.from_iterable(one.labels for one in summaries)
    told = RunFacts(
        having,
        records,
        warnings,
        (),
        {model: {} for model in sources.models},
        labels_of(labels, selection),
        absent_from_all(every_file, selection.wanted),
        0,
        _unmatched(sources, hashes),
        {},
        every_file.get(TRUTH),
    )
    ground = RangeContext(
        inputs,
        selection,
        columns,
        sources.models,
        [[folder_of(inputs, path) for path in one.paths] for one in summaries],
        sources.numbers(len(summaries)),
        dict.fromkeys(sources.models, 0),
        {model: {} for model in sources.models},
        None,
        told,
        whole=whole,
    )
    return _shared(ground, sources, every) if shared else _apart(ground, sources)


def spans_of(placed: Sequence[Pick], rows: int) -> list[Span]:
    """Ranges of so many samples."""
    edges = list(range(0, max((one.end for one in placed), default=0), rows))
    picks: list[list[Pick]] = [[] for _ in edges]
    for one in placed:
        if not one.size:
            continue
        for at in range(bisect_right(edges, one.begin) - 1, -(-one.end // rows)):
            if (pick := one.between(edges[at], edges[at] + rows)) is not None:
                picks[at].append(pick)
    return [Span(number, own) for number, own in enumerate(picks)]


def _unmatched(sources: Sources, hashes: Mapping[str, NDArray[np.uint64]]) -> list[str]:
    """Warnings about models that have few samples in common with the first one."""
    if len(hashes) < 2:
        return []
    first = next(iter(hashes.values()))
    ids = {}
    for model, (_, own) in sources.of.items():
        some = islice(chain.from_iterable(one.ids() for one in own), SHOWN + 1)
        ids[model] = Ids(model, sum(one.count for one in own), list(some))
    return join_warnings(
        {model: file for model, (file, _) in sources.of.items()},
        ids,
        {model: len(np.intersect1d(own, first)) for model, own in hashes.items()},
    )


def _apart(ground: RangeContext, sources: Sources) -> tuple[RangeContext, list[Pick]]:
    """Place models without common samples one after the other."""
    selection, told = ground.selection, ground.facts
    silent = check_needs(told.having, selection.needs - selection.wanted, ground.inputs.columns)
    candidates = {model: _candidates(*own, selection) for model, own in sources.of.items()}
    links, link_warnings = links_of(candidates, skip=ground.inputs.on_invalid == "skip")
    kept = selected(candidates, ground.columns, selection)
    placed: list[Pick] = []
    first: dict[str, int] = {}
    perturbed = dict(told.perturbed)
    samples = 0
    for model, (_, own) in sources.of.items():
        first[model] = samples
        placed += _kept(own, kept[model], samples)
        samples += len(kept[model])
        if links[model]:
            ids = candidates[model].ids
            perturbed[model] = links_between([ids[at] for at in kept[model]], links[model])
    told = told._replace(
        warnings=[*told.warnings, *silent],
        link_warnings=link_warnings,
        perturbed=perturbed,
        samples=samples,
    )
    return replace(ground, first=first, links=links, facts=told), placed


def _shared(
    ground: RangeContext, sources: Sources, hashes: NDArray[np.uint64]
) -> tuple[RangeContext, list[Pick]]:
    """Place models with common samples: each sample where it first occurs."""
    selection, told = ground.selection, ground.facts
    every = sources.all
    linked = any("perturbed_from" in one.summary.rows.texts for one in every)
    _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    edges = np.cumsum([one.count for one in every])[:-1]
    places = dict(zip(map(id, every), np.split(place[of], edges), strict=True))
    placed = []
    for one in every:
        order = np.argsort(places[id(one)], kind="stable")
        rows = np.arange(*one.rows) if isinstance(one.rows, tuple) else one.rows
        placed.append(Pick(one.at, one.model, rows[order], places[id(one)][order]))
    filled = {
        model: _filled([places[id(one)] for one in own], every, places, len(first))
        for model, (_, own) in sources.of.items()
    }
    shared = replace(
        ground,
        missing=missing_columns(told.having, ground.columns, selection.of_answers, told.truth),
        unselected=bool(selection.keep) or selection.limit is not None or linked,
        facts=told._replace(samples=len(first), filled=filled),
    )
    return shared, placed


def _candidates(file: SampleFile, own: Sequence[Source], selection: Selection) -> Candidates:
    """The samples of a model, with what their links and a filter look at."""
    copies = [copy for one in own for copy in _copies(one)]
    looked_at = bool(copies or selection.keep)
    columns = (one.columns() for one in own if selection.keep)
    return Candidates(
        file,
        sum(one.count for one in own),
        list(chain.from_iterable(one.ids() for one in own if looked_at)),
        [values for rows in columns for values in rows.metadata or ()],
        copies,
    )


def _copies(one: Source) -> Iterator[SampleRow]:
    """The rows that are changed copies of others."""
    rows = one.columns()
    column = rows.texts.get("perturbed_from")
    if column is None:
        return
    ids, (first, above, _) = one.ids(), one.place
    for at in np.flatnonzero(column.there()).tolist():
        row = rows[at]
        row = row._replace(line=row.line + above, file=row.file + first)
        yield row.saying(sample_id=ids[at])


def _kept(own: Sequence[Source], kept: Sequence[int], first: int) -> Iterator[Pick]:
    """The rows of a model that are kept, one after the other from a place on."""
    above = 0
    for one in own:
        if isinstance(kept, range):
            count = min(max(len(kept) - above, 0), one.count)
            rows = rows_between(one.rows, 0, count)
        else:
            low, high = np.searchsorted(kept, [above, above + one.count]).tolist()
            at = np.array(kept[low:high], np.int64) - above
            count = high - low
            rows = at + one.rows[0] if isinstance(one.rows, tuple) else one.rows[at]
        yield Pick(one.at, one.model, rows, first)
        first += count
        above += one.count


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
