"""Load the datasets of a range of samples, and join ranges."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.samples.sample_file import SampleRow
from valor_cli.evaluators.text_generation.joining import (
    SHOWN,
    ModelColumns,
    check_needs,
    completed,
    differences,
    differing,
    filled_in_warnings,
    unlent_of,
)
from valor_cli.evaluators.text_generation.loading import check_artifacts, labels_of, total_usage
from valor_cli.evaluators.text_generation.range_context import Pick, RangeContext, Span, numbered
from valor_cli.kernels.columns.text_columns import Constant, TextColumn
from valor_cli.metric import Loaded

Ints = NDArray[np.int64]

_NO_FLOATS: Final = np.zeros(0, np.float64)


class RangeDifference(NamedTuple):
    """A sample for which two models disagree on an input, in order of report.

    Attributes:
        model: Which model, from 0.
        piece, line: Where it says so.
    """

    model: int
    piece: int
    line: int
    sample_id: str


class RangeFacts(Struct, frozen=True):
    """Facts of a range, to be joined over all ranges.

    Attributes:
        counts: Of each model, its samples.
        names: Of each model, the standard columns that some row has a value of.
        labels: What references say, where labels are needed.
        amounts: Of each model and column ("duration_s", "cost_usd"), the values there are.
        otherwise: By column, how many samples models say something else of, and the first ones.
    """

    counts: Mapping[str, int]
    names: Mapping[str, frozenset[str]]
    labels: frozenset[str]
    amounts: Mapping[tuple[str, str], NDArray[np.float64]]
    otherwise: Mapping[str, tuple[int, Sequence[RangeDifference]]]


def load_range(
    ground: RangeContext, span: Span, parts: Sequence[tuple[int, SampleColumns]]
) -> Loaded[TextDataset]:
    """The datasets of the samples in a range.

    Args:
        ground: What all ranges know.
        span: The range.
        parts: Of each piece that has some of them, its position among all pieces, and its rows.
    """
    pieces = dict(parts)
    otherwise: Mapping[str, tuple[int, Sequence[RangeDifference]]] = {}
    if ground.missing is None:
        found = {model: _rows(ground, span, model, pieces) for model in ground.models}
    else:
        found, otherwise = _shared_rows(ground, span, pieces)
    datasets = {model: _dataset(ground, model, *own) for model, own in found.items()}
    rows = {model: own for model, (own, _) in found.items()}
    labelled = "labels" in ground.selection.needs
    return Loaded(
        datasets=datasets,
        metadata={model: _metadata(ground.columns, own) for model, own in rows.items()},
        groups={
            model: list(own.texts["group"]) for model, own in rows.items() if "group" in own.texts
        },
        facts=RangeFacts(
            {model: len(own) for model, own in rows.items()},
            {model: own.names() for model, own in rows.items()},
            frozenset(_stripped(rows.values()) if labelled else ()),
            {
                (model, name): column[~np.isnan(column)]
                for model, own in rows.items()
                for name, column in own.amounts.items()
            },
            otherwise,
        ),
    )


def join_ranges(ground: RangeContext, parts: Sequence[Loaded[TextDataset]]) -> Loaded[TextDataset]:
    """Join all ranges; the datasets are those of the first.

    Raises:
        DataError: A column that metrics need is missing; there is no folder of artifacts.
    """
    facts: list[RangeFacts] = [part.facts for part in parts]
    told, selection = ground.facts, ground.selection
    warnings = [*told.warnings]
    if ground.missing is not None:
        having = {
            model: ModelColumns(own.file, frozenset().union(*(one.names[model] for one in facts)))
            for model, own in told.having.items()
        }
        columns = ground.inputs.columns
        warnings += check_needs(having, selection.needs - selection.wanted, columns)
        warnings += differences(_otherwise([one.otherwise for one in facts]))
        warnings += filled_in_warnings(told.having, ground.missing, told.filled, told.samples)
    named = any("artifacts" in own for one in facts for own in one.names.values())
    check_artifacts(ground.inputs, named=named)
    return replace(
        parts[0],
        metadata={
            model: {
                name: list(chain.from_iterable(part.metadata[model][name] for part in parts))
                for name in ground.columns
            }
            for model in ground.models
        },
        labels=labels_of(chain.from_iterable(one.labels for one in facts), selection),
        sizes={"samples": told.samples},
        files=told.files,
        warnings=[*warnings, *told.link_warnings],
        known_labels=told.known_labels,
        missing_columns=told.missing_columns,
        groups=_groups(ground, parts),
        perturbed=told.perturbed,
        spent={
            model: total_usage(
                *(_amounts(facts, model, name) for name in ("duration_s", "cost_usd"))
            )
            for model in ground.models
        },
        facts=None,
    )


def _rows(
    ground: RangeContext, span: Span, model: str, pieces: Mapping[int, SampleColumns]
) -> tuple[SampleColumns, Ints]:
    """The rows of a model in a range, and (n,) their places, ascending."""
    picks = [one for one in span.picks if one.model == model]
    found = [_picked(ground, one, pieces[one.piece]) for one in picks]
    places = [_places(one, len(own)) for one, own in zip(picks, found, strict=True)]
    return SampleColumns.joined(found), np.concatenate([np.zeros(0, np.int64), *places])


def _places(pick: Pick, count: int) -> Ints:
    if isinstance(pick.places, int):
        return np.arange(pick.places, pick.places + count)
    return pick.places


def _picked(ground: RangeContext, pick: Pick, rows: SampleColumns) -> SampleColumns:
    """Rows of a piece, with ids, and with paths of artifacts that can be opened."""
    own, numbers = pick.rows, ground.numbers[pick.piece]
    found = rows.part(*own) if isinstance(own, tuple) else rows.take(own)
    texts = {**found.texts}
    if numbers is not None:
        texts["sample_id"] = TextColumn.of(map(str, numbered(numbers, own)))
    if (artifacts := texts.get("artifacts")) is not None:
        folder = ground.folders[pick.piece]
        texts["artifacts"] = TextColumn.of(
            None if one is None else os.path.join(folder, one) for one in artifacts
        )
    return dataclasses.replace(found, texts=texts, file=pick.piece)


def _shared_rows(
    ground: RangeContext, span: Span, pieces: Mapping[int, SampleColumns]
) -> tuple[
    dict[str, tuple[SampleColumns, Ints]], Mapping[str, tuple[int, Sequence[RangeDifference]]]
]:
    """The rows of all models in a range, one of each for every sample; where they differ."""
    by_id: dict[str, dict[str, SampleRow]] = {}
    place: dict[str, int] = {}
    for model in ground.models:
        own: list[tuple[int, SampleRow]] = []
        for pick in (one for one in span.picks if one.model == model):
            rows = _picked(ground, pick, pieces[pick.piece])
            own += zip(_places(pick, len(rows)).tolist(), rows, strict=True)
        own.sort(key=lambda one: one[0])
        by_id[model] = {str(row.sample_id): row for _, row in own}
        for at, row in own:
            if place.setdefault(str(row.sample_id), at) != at:
                raise ValueError(f"the sample {row.sample_id!r} has two places")
    order = sorted(place, key=place.__getitem__)
    unlent = unlent_of(ground.columns, ground.selection.of_answers)
    whole = completed(by_id, order, ground.missing or {}, unlent)
    places = np.array([place[one] for one in order], np.int64)
    found: dict[str, list[RangeDifference]] = {}
    for one in differing(by_id):
        where = RangeDifference(one.model, one.row.file, one.row.line, str(one.row.sample_id))
        found.setdefault(one.name, []).append(where)
    return (
        {model: (SampleColumns.of(rows), places) for model, rows in whole.items()},
        {name: (len(some), nsmallest(SHOWN, some)) for name, some in found.items()},
    )


def _otherwise(
    parts: Sequence[Mapping[str, tuple[int, Sequence[RangeDifference]]]],
) -> dict[str, tuple[int, list[str]]]:
    """By column, the number of samples on which models disagree, and the first of them."""
    counts: Counter[str] = Counter()
    first: dict[str, list[RangeDifference]] = {}
    for part in parts:
        for name, (count, some) in part.items():
            counts[name] += count
            first[name] = nsmallest(SHOWN, [*first.get(name, ()), *some])
    return {
        name: (counts[name], [one.sample_id for one in first[name]])
        for name in ("user_input", "references")
        if name in counts
    }


def _dataset(ground: RangeContext, model: str, rows: SampleColumns, places: Ints) -> TextDataset:
    """The columns of a model's rows."""
    count, links = len(rows), ground.links[model]
    none: Constant[Any] = Constant(None, count)
    empty: Constant[Any] = Constant((), count)
    texts: dict[str, Any] = {**rows.texts}
    lists: dict[str, Any] = {**rows.lists}
    ids: Any = rows.text("sample_id")
    return TextDataset(
        number=places - ground.first[model],
        sample_ids=ids,
        user_input=texts.get("user_input", none),
        response=texts.get("response", none),
        references=lists.get("references", empty),
        retrieved_contexts=lists.get("retrieved_contexts", none),
        condition=texts.get("condition", none),
        categories=lists.get("categories", empty),
        group=texts.get("group", none),
        perturbed_from=TextColumn.of(map(links.get, ids)) if links else none,
        artifacts=texts.get("artifacts", none),
        token_logprobs=none,
        history=texts.get("history", none),
        label_map=ground.selection.label_map,
    ).prepare()


def _metadata(columns: Sequence[str], rows: SampleColumns) -> dict[str, list[Any]]:
    values = rows.metadata or ()
    return {name: [own[at] for own in values] for at, name in enumerate(columns)}


def _stripped(models: Iterable[SampleColumns]) -> Iterable[str]:
    for rows in models:
        column = rows.lists.get("references")
        if column is not None:
            yield from (text.strip() for text in column.texts if text is not None)


def _groups(ground: RangeContext, parts: Sequence[Loaded[TextDataset]]) -> dict[str, list[Any]]:
    """By model, the cluster of each sample, where some have one."""
    return {
        model: [
            one
            for part in parts
            for one in part.groups.get(model, (None,) * part.facts.counts[model])
        ]
        for model in ground.models
        if any(any(part.groups.get(model, ())) for part in parts)
    }


def _amounts(facts: Sequence[RangeFacts], model: str, name: str) -> list[float]:
    found = [one.amounts.get((model, name), _NO_FLOATS) for one in facts]
    return [value for own in found for value in own.tolist()]
