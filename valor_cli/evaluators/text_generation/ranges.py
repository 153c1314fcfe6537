"""Load the datasets of a range of samples, and join ranges."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from math import fsum
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.columns import EMPTY, Logprobs, SampleColumns, SampleRow
from valor_cli.data.shapes.samples.dataset import COLUMNS, TextDataset
from valor_cli.data.shapes.samples.schema import LOGPROBS
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.id_mismatch import SHOWN
from valor_cli.evaluators.text_generation.candidates import (
    Candidates,
    links_between,
    links_of,
    selected,
)
from valor_cli.evaluators.text_generation.inputs import TRUTH, TextInputs
from valor_cli.evaluators.text_generation.joining import (
    COMPARED,
    ModelColumns,
    check_needs,
    completed,
    differences,
    differing,
    filled_in_warnings,
    unlent_of,
    with_ground_truth,
)
from valor_cli.evaluators.text_generation.range_context import (
    Pick,
    RangeContext,
    Span,
    labels_of,
    numbered,
)
from valor_cli.kernels.columns.text_columns import Constant, TextColumn
from valor_cli.metric import Loaded, ModelUsage
from valor_cli.results import Scalar

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


class Chosen(NamedTuple):
    """The samples that were linked and selected when all was said of them.

    Attributes:
        samples: How many there are.
        link_warnings, perturbed: As in `RunFacts`.
    """

    samples: int
    link_warnings: Sequence[str]
    perturbed: Mapping[str, Mapping[Scalar, Scalar]]


class _SharedRows(NamedTuple):
    """The rows of all models in a range.

    Attributes:
        rows: Of each model, and (n,) their places, ascending.
        otherwise: As in `RangeFacts`.
        filled: Of each model, the samples that it does not have, and another has.
    """

    rows: dict[str, tuple[SampleColumns, Ints]]
    otherwise: Mapping[str, tuple[int, Sequence[RangeDifference]]]
    filled: Mapping[str, frozenset[str]]


class RangeFacts(Struct, frozen=True):
    """Facts of a range, to be joined over all ranges.

    Attributes:
        counts: Of each model, its samples.
        names: Of each model, the standard columns that some row has a value of, selected or not.
        labels: What references say, where labels are needed.
        amounts: Of each model and column ("duration_s", "cost_usd"), the values there are.
        otherwise: By column, how many samples models say something else of, and the first ones.
        chosen: None where samples are selected before they are read.
    """

    counts: Mapping[str, int]
    names: Mapping[str, frozenset[str]]
    labels: frozenset[str]
    amounts: Mapping[tuple[str, str], NDArray[np.float64]]
    otherwise: Mapping[str, tuple[int, Sequence[RangeDifference]]]
    chosen: Chosen | None


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
    if ground.missing is None:
        rows_of = {model: _rows(ground, span, model, pieces) for model in ground.models}
        read = _SharedRows(rows_of, {}, {})
    else:
        read = _shared_rows(ground, span, pieces)
    names = {model: own.names() for model, (own, _) in read.rows.items()}
    found, links, chosen = (
        _chosen(ground, span, read) if ground.unselected else (read.rows, ground.links, None)
    )
    rows = {model: own for model, (own, _) in found.items()}
    metadata = {model: _metadata(ground.columns, own) for model, own in rows.items()}
    texts = ground.selection.texts
    datasets = {
        model: replace(
            _dataset(ground, own, places - ground.first[model], links[model]),
            more={name: metadata[model][name] for name in texts},
        )
        for model, (own, places) in found.items()
    }
    labelled = "labels" in ground.selection.needs
    return Loaded(
        datasets=datasets,
        metadata=metadata,
        groups={
            model: list(own.texts["group"]) for model, own in rows.items() if "group" in own.texts
        },
        facts=RangeFacts(
            {model: len(own) for model, own in rows.items()},
            names,
            frozenset(_stripped(rows.values()) if labelled else ()),
            {
                (model, name): column[~np.isnan(column)]
                for model, own in rows.items()
                for name, column in own.amounts.items()
            },
            read.otherwise,
            chosen,
        ),
    )


def join_ranges(ground: RangeContext, parts: Sequence[Loaded[TextDataset]]) -> Loaded[TextDataset]:
    """Join all ranges; the datasets are those of the first.

    Raises:
        DataError: A column that metrics need is missing; there is no folder of artifacts.
    """
    facts: list[RangeFacts] = [part.facts for part in parts]
    told, selection = ground.facts, ground.selection
    samples = told.samples
    warnings = [*told.warnings, *told.unmatched]
    if ground.missing is not None:
        having = {
            model: ModelColumns(own.file, frozenset().union(*(one.names[model] for one in facts)))
            for model, own in told.having.items()
        }
        needs = selection.needs - selection.wanted
        silent = check_needs(having, needs, ground.inputs.columns)
        warnings = [*told.warnings, *silent, *told.unmatched]
        warnings += differences(_otherwise([one.otherwise for one in facts]))
        warnings += filled_in_warnings(
            told.having, ground.missing, told.filled, samples, told.truth
        )
    if (chosen := facts[0].chosen) is not None:
        told = told._replace(link_warnings=chosen.link_warnings, perturbed=chosen.perturbed)
        samples = chosen.samples
    named = any("artifacts" in own for one in facts for own in one.names.values())
    _check_artifacts(ground.inputs, named=named)
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
        sizes={"samples": samples},
        files=told.files,
        warnings=[*warnings, *told.link_warnings],
        known_labels=told.known_labels,
        missing_columns=told.missing_columns,
        groups=_groups(ground, parts),
        perturbed=told.perturbed,
        spent={
            model: _total_usage(
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
    places = [one.every_place for one in picks]
    return SampleColumns.joined(found), np.concatenate([np.zeros(0, np.int64), *places])


def _picked(ground: RangeContext, pick: Pick, rows: SampleColumns) -> SampleColumns:
    """Rows of a piece, with ids, and with paths of artifacts that can be opened."""
    own, numbers = pick.rows, ground.numbers[pick.piece]
    found = rows.part(*own) if isinstance(own, tuple) else rows.take(own)
    if numbers is not None:
        found = found.with_text("sample_id", map(str, numbered(numbers, own)))
    if (artifacts := found.texts.get("artifacts")) is not None:
        folders = ground.folders[pick.piece]
        paths = (
            None if one is None else os.path.join(folders[at], one)
            for one, at in zip(artifacts, found.file.tolist(), strict=True)
        )
        found = found.with_text("artifacts", paths)
    return dataclasses.replace(found, file=found.file + pick.piece)


def _shared_rows(
    ground: RangeContext, span: Span, pieces: Mapping[int, SampleColumns]
) -> _SharedRows:
    """The rows of all models in a range, one of each for every sample."""
    columns: dict[str, SampleColumns] = {}
    row_of: dict[str, dict[str, int]] = {}
    place: dict[str, int] = {}
    for model in ground.sources:
        rows, places = _rows(ground, span, model, pieces)
        if (np.diff(places) < 0).any():
            ascending = np.argsort(places, kind="stable")
            rows, places = rows.take(ascending), places[ascending]
        ids = [str(one) for one in rows.text("sample_id")]
        columns[model] = rows
        row_of[model] = {one: at for at, one in enumerate(ids)}
        for one, at in zip(ids, places.tolist(), strict=True):
            if place.setdefault(one, at) != at:
                raise ValueError(f"the sample {one!r} has two places")
    order = sorted(place, key=place.__getitem__)
    unlent = unlent_of(ground.columns, ground.selection.of_answers)
    missing = ground.missing or {}
    if (truth := columns.get(TRUTH)) is None:
        by_id = {model: _by_id(own) for model, own in columns.items()}
        filled = completed(by_id, order, missing, unlent)
        whole = {model: SampleColumns.of(rows) for model, rows in filled.items()}
    else:
        by_id = _to_compare(columns)
        at_of = {
            model: np.array([own.get(one, -1) for one in order], np.int64)
            for model, own in row_of.items()
        }
        if (at_of[TRUTH] < 0).any():
            raise ValueError("a sample is not in the ground truth")
        right = truth.take(at_of[TRUTH])
        whole = {
            model: with_ground_truth(columns[model], at_of[model], right, lacks, unlent)
            for model, lacks in missing.items()
        }
    found: dict[str, list[RangeDifference]] = {}
    for other in differing(by_id):
        row = other.row
        where = RangeDifference(other.model, row.file, row.line, str(row.of("sample_id")))
        found.setdefault(other.name, []).append(where)
    places = np.array([place[one] for one in order], np.int64)
    return _SharedRows(
        {model: (rows, places) for model, rows in whole.items()},
        {name: (len(some), nsmallest(SHOWN, some)) for name, some in found.items()},
        {model: frozenset(order).difference(own) for model, own in row_of.items()},
    )


def _by_id(rows: SampleColumns) -> dict[str, SampleRow]:
    """Rows by their samples."""
    return {str(row.of("sample_id")): row for row in rows}


def _to_compare(columns: Mapping[str, SampleColumns]) -> dict[str, dict[str, SampleRow]]:
    """By model, what several of them say and should say alike; nothing where there is none."""
    names = [
        name
        for name in COMPARED
        if sum(name in own.texts or name in own.lists for own in columns.values()) > 1
    ]
    kept = ("sample_id", *names)
    return {model: _by_id(own.only(kept)) if names else {} for model, own in columns.items()}


def _chosen(
    ground: RangeContext, span: Span, shared: _SharedRows
) -> tuple[dict[str, tuple[SampleColumns, Ints]], dict[str, dict[str, str]], Chosen]:
    """The rows of each model that are under evaluation, and the links between samples.

    Raises:
        DataError: As `links_of` and `selected` do.
    """
    piece = {pick.model: pick.piece for pick in span.picks}
    candidates = {}
    for model, (rows, _) in shared.rows.items():
        file = ground.facts.having[model].file
        ids = [str(one) for one in rows.text("sample_id")]
        copies = [
            row._replace(file=row.file - piece[model])
            for row in rows.only(("sample_id", "perturbed_from"))
            if row.has("perturbed_from")
        ]
        metadata, filled = rows.metadata or (), shared.filled[model]
        candidates[model] = Candidates(file, len(ids), ids, metadata, copies, filled)
    links, warnings = links_of(candidates, skip=ground.inputs.on_invalid == "skip")
    kept = selected(candidates, ground.columns, ground.selection)
    ids_of = {model: [own.ids[at] for at in kept[model]] for model, own in candidates.items()}
    rows_of = {
        model: (rows.take(np.array(kept[model], np.int64)), np.arange(len(kept[model])))
        for model, (rows, _) in shared.rows.items()
    }
    perturbed = {model: links_between(ids_of[model], own) for model, own in links.items()}
    samples = len(set(chain.from_iterable(ids_of.values())))
    return rows_of, links, Chosen(samples, warnings, perturbed)


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


def _dataset(
    ground: RangeContext, rows: SampleColumns, number: Ints, links: Mapping[str, str]
) -> TextDataset:
    """The columns of a model's rows."""
    # What one range has of all samples is in memory; it is looked at again and again.
    ids: Any = tuple(rows.text("sample_id")) if ground.whole else rows.text("sample_id")
    said: dict[str, Any] = {**rows.texts, **rows.lists, "perturbed_from": None}
    if rows.logprobs is not None:
        said[LOGPROBS] = tuple(map(_logprobs, rows.logprobs))
    if links:
        said["perturbed_from"] = TextColumn.of(map(links.get, ids))
    columns: dict[str, Any] = {
        name: said.get(name) or Constant(EMPTY.get(name), len(rows)) for name in COLUMNS
    }
    dataset = TextDataset(
        number=number, sample_ids=ids, label_map=ground.selection.label_map, **columns
    )
    return dataset if ground.whole else dataset.prepare()


def _logprobs(values: Logprobs | None) -> NDArray[np.float64] | None:
    # null becomes NaN.
    return None if values is None else np.array(values, np.float64)


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


def _total_usage(durations: Sequence[float], costs: Sequence[float]) -> ModelUsage:
    """Total usage of the samples that report it."""
    seconds = _total(durations)
    return ModelUsage(None if seconds is None else seconds / len(durations), _total(costs))


def _total(values: Sequence[float]) -> float | None:
    """The sum; None of nothing, and of what no number can hold."""
    try:
        return fsum(values) if values else None
    except OverflowError:
        return None


def _check_artifacts(inputs: TextInputs, *, named: bool) -> None:
    """Check that the artifacts folder exists if rows name one.

    Raises:
        DataError: It is not.
    """
    if named and inputs.artifacts is not None and not os.path.isdir(inputs.artifacts):
        raise DataError(
            Problem(inputs.artifacts, "no such folder"),
            hint="`artifacts` under `data:` is the folder that the paths of the rows start from.",
        )
