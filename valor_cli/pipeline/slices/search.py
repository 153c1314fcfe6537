"""Search for the slices on which each model does worst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from valor_cli.config import SliceSearch
from valor_cli.metric import Call, Dataset, Evidence, Loaded
from valor_cli.pipeline.intervals.resamples import clusters_of
from valor_cli.pipeline.plan import Plan, WingPlan
from valor_cli.pipeline.slices.slices import Slice
from valor_cli.results import Findings, FoundSlice, MetricSamples, Scalar, SliceSearchResult

if TYPE_CHECKING:
    from valor_cli.pipeline.slices.columns import SliceColumn
    from valor_cli.pipeline.slices.worst_slices import WorstSlice

NO_VALUES = "slices: auto: no metric of this run has values of single samples to search by"
NO_COLUMNS = "slices: auto: the data has no metadata to look at"


class ModelValues(NamedTuple):
    """The data and findings of one model under one wing."""

    model: str
    dataset: Dataset
    evidence: Evidence
    findings: Sequence[Findings]


class Searched(NamedTuple):
    """The searched values: those of one output of the wing's `at`-th call."""

    part: WingPlan
    at: int
    output: str

    @property
    def call(self) -> Call:
        """The call itself."""
        return self.part.calls[self.at]

    def samples(self, whole: ModelValues) -> MetricSamples | None:
        """The per-sample values of a model; None if there are none."""
        found = whole.findings[self.at].samples
        return found if found is not None and self.output in found.columns else None


def searchable(plan: Plan) -> Iterator[Searched]:
    """Outputs of the plan's calls that may have per-sample values, most important first.

    These are the headline values, then what the task has for single samples, then any other; not
    those of metrics that are no mean of samples.
    """
    calls = [
        (part, at, call)
        for part in plan.wings
        for at, call in enumerate(part.calls)
        if call.metric.resampled
    ]
    by_sample = plan.task.by_sample
    wanted = [*plan.task.primary]
    wanted += [(c.metric.name, c.metric.outputs[0].name) for _, _, c in calls if c.metric.outputs]
    wanted.sort(key=lambda pair: pair not in plan.task.primary and pair[0] != by_sample)
    for name, output in dict.fromkeys(wanted):
        for part, at, call in calls:
            if call.metric.name == name and call.metric.output(output).better is not None:
                yield Searched(part, at, output)


def searches(
    asked: SliceSearch,
    searched: Searched,
    wholes: Sequence[ModelValues],
    loaded: Loaded[Any],
    groups: Mapping[str, Sequence[Scalar]],
    listed: Sequence[Slice],
    *,
    group: str | None,
) -> Iterator[tuple[SliceSearchResult, list[WorstSlice]]]:
    """Search results by model, as records and as slices.

    Args:
        asked: How to search.
        searched: Whose values are looked at.
        wholes: Of every model.
        loaded: With the metadata.
        groups: By model, the cluster of each unit.
        listed: The slices that there are already.
        group: The column that clusters are of, which tells no kinds of units; None: none is.
    """
    # Few runs look for slices, and its import takes 4 ms.
    from valor_cli.pipeline.slices.columns import slice_columns

    columns = slice_columns(loaded.metadata, asked.columns, group)
    found: list[WorstSlice]
    named = {one.name: one for one in listed}
    for whole in wholes:
        samples = searched.samples(whole)
        count, found = 0, []
        if samples is not None:
            metadata = loaded.metadata.get(whole.model, {})
            clusters = groups.get(whole.model)
            count, found = _found(asked, searched, samples, columns, metadata, clusters)
        # A value may read like two conditions; rows of one name must be of one slice.
        found = [one for one in found if _same(named.setdefault(one.slice.name, one.slice), one)]
        result = SliceSearchResult(
            model=whole.model,
            metric=searched.call.metric.name,
            output=searched.output,
            parameters=searched.call.parameters,
            columns=tuple(column.key for column in columns),
            searched=count,
            min_size=asked.min_size,
            level=asked.level,
            found=tuple(
                FoundSlice(one.slice.name, one.n, one.value, one.rest, one.p, one.p_adjusted)
                for one in found
            ),
        )
        yield result, found


def _same(named: Slice, found: WorstSlice) -> bool:
    return [one.name for one in named.conditions] == [one.name for one in found.slice.conditions]


def _found(
    asked: SliceSearch,
    searched: Searched,
    samples: MetricSamples,
    columns: Sequence[SliceColumn],
    metadata: Mapping[str, Sequence[Any]],
    groups: Sequence[Scalar] | None,
) -> tuple[int, list[WorstSlice]]:
    from valor_cli.pipeline.slices.worst_slices import worst_slices

    values = np.array(samples.columns[searched.output], np.float64)
    return worst_slices(
        values,
        lower=searched.call.metric.output(searched.output).better == "lower",
        columns=columns,
        metadata=metadata,
        clusters=None if groups is None else clusters_of(groups),
        asked=asked,
    )


def joined_slices(listed: Sequence[Slice], found: Sequence[WorstSlice]) -> list[Slice]:
    """The slices listed in the config, followed by those that the search reports, without
    duplicates.
    """
    by_name = {one.name: one for one in listed}
    for one in found:
        by_name.setdefault(one.slice.name, one.slice)
    return list(by_name.values())
