"""Compute every value and curve of a plan, in result order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from valor_cli.config import SliceSearch
from valor_cli.metric import METADATA, Call, Dataset, Evidence, Loaded, OneSided, Wing
from valor_cli.pipeline.compare.paired_samples import told_by_samples
from valor_cli.pipeline.executor.executor import Progress, Workers
from valor_cli.pipeline.intervals.intervals import Around, intervals
from valor_cli.pipeline.intervals.resamples import Draws
from valor_cli.pipeline.intervals.resampling import findings_of
from valor_cli.pipeline.plan import Plan, WingPlan
from valor_cli.pipeline.ranged_dataset import RangedDataset
from valor_cli.pipeline.result_rows import (
    LabelMeasure,
    coverage_row,
    insight_row,
    metric_row,
    resampled_row,
    row_of,
    row_order,
)
from valor_cli.pipeline.slices.search import (
    NO_COLUMNS,
    NO_VALUES,
    ModelValues,
    Searched,
    joined_slices,
    searchable,
    searches,
)
from valor_cli.pipeline.slices.slices import Columns, Slice
from valor_cli.pipeline.stored_evidence import stored
from valor_cli.results import (
    AgreementResult,
    CoverageResult,
    CurveResult,
    EvidenceResult,
    ExampleResult,
    Findings,
    InsightResult,
    MetricResult,
    MetricSamples,
    MetricValue,
    ObjectsResult,
    ResampledResult,
    SamplesResult,
    Scalar,
    SliceSearchResult,
    TableResult,
    TextsResult,
)

if TYPE_CHECKING:
    from valor_cli.models.session import Session


class Computation:
    """Computes all rows of a run: by metric, model, slice, label, parameters, output.

    `illustrated` asks for examples too; only a whole dataset can show its objects, no shard of it.
    `session` holds the models that metrics ask; None: nobody is asked.
    `search` asks to look for slices beside those listed, where each model does worst.
    `evidence` is that which reading made already, by model and number of the wing in the plan.
    """

    def __init__(
        self,
        plan: Plan,
        loaded: Loaded[Any],
        slices: Sequence[Slice],
        pool: Workers,
        progress: Progress,
        *,
        illustrated: bool = True,
        session: Session | None = None,
        search: SliceSearch | None = None,
        evidence: Mapping[tuple[str, int], Evidence] | None = None,
    ) -> None:
        self.plan = plan
        self.loaded = loaded
        self.slices = slices
        self.columns = {model: Columns(loaded.metadata.get(model, {})) for model in loaded.datasets}
        self.pool = pool
        self.progress = progress
        self.illustrated = illustrated
        self.session = session
        self.built = evidence or {}
        self.resampled = 0
        self.groups = groups_of(plan, loaded)
        self._drawn = self._all_drawn()
        self._digests: dict[str, str] = {}
        self.one_sided = dict.fromkeys(loaded.datasets, OneSided()) | dict(loaded.one_sided)
        self.metrics: list[MetricResult] = []
        self._called: list[tuple[Call, MetricResult]] = []
        self.curves: list[CurveResult] = []
        self.tables: list[TableResult] = []
        self.examples: list[ExampleResult] = []
        self.samples: list[SamplesResult] = []
        self.texts: list[TextsResult] = []
        self.coverage: list[CoverageResult] = []
        self.agreements: list[AgreementResult] = []
        self.resamples: list[ResampledResult] = []
        self.evidence: list[EvidenceResult] = []
        self.objects: list[ObjectsResult] = []
        self.insights: list[InsightResult] = []
        self.searches: list[SliceSearchResult] = []
        self.warnings: dict[str, None] = {}
        self._held: dict[int, list[ModelValues]] = {}
        self._composed = any(call.parts for part in plan.wings for call in part.calls)
        self._values: dict[str, dict[str, tuple[Call, MetricSamples | None]]] = {}
        self._of_labels = LabelMeasure()
        if search is not None:
            self._search(search)
        for part in plan.wings:
            self._compute(part)
        order = row_order(self.plan, self.loaded, self.slices, self.metrics)
        for rows in (
            self.metrics,
            self.curves,
            self.tables,
            self.examples,
            self.samples,
            self.coverage,
            self.agreements,
            self.resamples,
        ):
            rows.sort(key=order)

    def rows_of(self, call: Call) -> list[MetricResult]:
        """The rows of a call; their parameters may include more than the call's."""
        return [row for one, row in self._called if one is call]

    def _search(self, asked: SliceSearch) -> None:
        """Find the slices that each model does worst at, and take them among the others.

        What is made of the models for that is held until it is cut.
        """
        searched = self._searched()
        if searched is None:
            self.warnings[NO_VALUES] = None
            return
        self.progress("searching slices", 0, 0)
        wholes = self._held[id(searched.part)]
        interval = self.plan.config.interval
        group = None if interval is None else interval.group
        told = searches(asked, searched, wholes, self.loaded, self.groups, self.slices, group=group)
        for result, found in told:
            self.searches.append(result)
            self.slices = joined_slices(self.slices, found)
            if not result.columns:
                self.warnings[NO_COLUMNS] = None

    def _searched(self) -> Searched | None:
        """The first output that has values of single samples; None: there is none."""
        for one in searchable(self.plan):
            if id(one.part) not in self._held:
                self._held[id(one.part)] = list(self._wholes(one.part))
            if any(one.samples(whole) is not None for whole in self._held[id(one.part)]):
                return one
        return None

    def _wholes(self, part: WingPlan) -> Iterator[ModelValues]:
        """All of each model, as it is needed."""
        needs = self._needs(part)
        number = self.plan.wings.index(part)
        for model, dataset in self.loaded.datasets.items():
            evidence = self.built.get((model, number))
            if evidence is None:
                evidence = self._evidence(part.wing, dataset, needs[model])
            if part.wing.complete is not None and self._composed:
                evidence = part.wing.complete(evidence, self._other_values(part, model))
            findings = self._findings(part, evidence)
            if self._composed:
                for call, found in zip(part.calls, findings, strict=True):
                    self._values.setdefault(model, {})[call.metric.name] = call, found.samples
            yield ModelValues(model, dataset, evidence, findings)

    def _other_values(
        self, part: WingPlan, model: str
    ) -> Mapping[str, tuple[Call, MetricSamples | None]]:
        """The values of single samples that the metrics of a model have in other wings."""
        for other in self.plan.wings:
            known = self._values.get(model, {})
            if other is not part and other.calls[0].metric.name not in known:
                self._held[id(other)] = list(self._wholes(other))
        return self._values.get(model, {})

    def _findings(self, part: WingPlan, evidence: Evidence) -> list[Findings]:
        return [findings_of(call, evidence, part.wing.parts) for call in part.calls]

    def _compute(self, part: WingPlan) -> None:
        held = self._held.pop(id(part), None)
        for whole in self._wholes(part) if held is None else held:
            if part.wing.one_sided is not None:
                self.one_sided[whole.model] = part.wing.one_sided(whole.evidence)
            for cut, evidence in self._cuts(part.wing, whole.evidence, whole.model):
                self._compute_cut(part, whole, cut, evidence)
            self._store(part, whole)
            self._list_objects(part, whole)

    def _compute_cut(
        self, part: WingPlan, whole: ModelValues, cut: Slice | None, evidence: Evidence
    ) -> None:
        """The rows of a slice of a model, or of all of it."""
        findings = whole.findings if cut is None else self._findings(part, evidence)
        draws = self._draws(whole.model, cut)
        ranges = self._intervals(part, evidence, findings, draws)
        name = None if cut is None else cut.name
        for call, found, around in zip(part.calls, findings, ranges, strict=True):
            self._add(call, whole.model, name, found, around, draws)
            if self.illustrated:
                self._illustrate(call, whole.model, name, found, whole.dataset)

    def _needs(self, part: WingPlan) -> Mapping[str, Any]:
        """By model, its required evidence, with the outcomes of models that were used."""
        if part.wing.gather is None:
            return dict.fromkeys(self.loaded.datasets, part.needs)
        return part.wing.gather(self.loaded.datasets, part.needs, self.session)

    def _evidence(self, wing: Wing[Any, Any], dataset: Any, needs: Any) -> Evidence:
        """Evidence built shard by shard where there are several workers, and merged."""
        self.progress("building evidence", 0, 0)
        shard_count = min(self.pool.count, dataset.unit_count) if wing.built_from == "shards" else 1
        if shard_count <= 1:
            alone: Evidence = wing.evidence(dataset, needs)
            return alone
        edges = np.linspace(0, dataset.unit_count, shard_count + 1).astype(int)
        number = np.arange(dataset.unit_count)
        shards = [
            (dataset.shard((number >= low) & (number < high)), needs)
            for low, high in pairwise(edges.tolist())
        ]
        merged: Evidence = wing.merge(list(self.pool.map(wing.evidence, shards)))
        return merged

    def _cuts(
        self, wing: Wing[Any, Any], whole: Any, model: str
    ) -> Iterator[tuple[Slice | None, Evidence]]:
        yield None, whole
        for cut in self.slices:
            part = cut.of(whole, wing, self.columns[model])
            if part is not None:
                yield cut, part

    def _draws(self, model: str, cut: Slice | None) -> Draws:
        """What a resample of some evidence draws: its units, or the clusters that they are of."""
        whole = self._drawn[model]
        units = None if cut is None else cut.units(self.columns[model])
        return whole if units is None else whole.within(units)

    def _all_drawn(self) -> Mapping[str, Draws]:
        """By model, what a resample of all of it draws."""
        asked = self.plan.config.interval
        resamples, seed = (0, 0) if asked is None else (asked.resamples, asked.seed)
        return {
            model: Draws.of(dataset.unit_ids, resamples, seed, self.groups.get(model))
            for model, dataset in self.loaded.datasets.items()
        }

    def _intervals(
        self, part: WingPlan, evidence: Evidence, findings: Sequence[Findings], draws: Draws
    ) -> list[list[Around]]:
        """How sure each value is, where the config asks for intervals."""
        asked = self.plan.config.interval
        if asked is None:
            self.progress("computing", 0, 0)
            return [[Around()] * len(found.values) for found in findings]
        parts = len(self.plan.wings) * len(self.loaded.datasets) * (1 + len(self.slices))
        total = asked.resamples * parts
        done = self.resampled
        self.resampled += asked.resamples
        return intervals(
            part.calls,
            findings,
            evidence,
            part.wing.parts,
            draws,
            level=asked.level,
            workers=self.pool,
            told=lambda more: self.progress("resampling", done + more, total),
        )

    def _add(
        self,
        call: Call,
        model: str,
        cut: str | None,
        found: Findings,
        ranges: Sequence[Around],
        draws: Draws,
    ) -> None:
        where = "" if cut is None else f" in {cut}"
        told = [f"{call.metric.name} of {model}{where}: {one}" for one in found.warnings]
        self.warnings |= dict.fromkeys(told)
        for value, around in zip(found.values, ranges, strict=True):
            row = metric_row(call, model, cut, value, around, draws.drawn_count)
            self.metrics.append(row)
            self._called.append((call, row))
            compared = value.label is None or self._of_labels.has(row, found)
            if cut is None and compared and not told_by_samples(found.samples, value):
                self._keep(row, around, draws)
        self.curves += [row_of(CurveResult, call, model, one, slice=cut) for one in found.curves]
        self.tables += [row_of(TableResult, call, model, one, slice=cut) for one in found.tables]
        if found.statuses:
            self.coverage.append(coverage_row(call, model, cut, found.statuses))
        if cut is None:
            self._add_of_whole(call, model, found)

    def _add_of_whole(self, call: Call, model: str, found: Findings) -> None:
        """What slices do not have."""
        if found.samples is not None:
            groups = self.groups.get(model)
            own = row_of(SamplesResult, call, model, found.samples, groups=groups)
            self.samples.append(own)
            if found.samples.texts and all(one.model != model for one in self.texts):
                texts = TextsResult(model, found.samples.sample_ids, found.samples.texts)
                self.texts.append(texts)
        self.agreements += [row_of(AgreementResult, call, model, one) for one in found.agreements]
        self.insights += [insight_row(call, model, one) for one in found.insights]

    def _keep(self, row: MetricResult, around: Around, draws: Draws) -> None:
        """The values at every resample, of what has no value of single samples to compare by."""
        if around.column is None:
            return
        if row.model not in self._digests:
            unit_ids = self.loaded.datasets[row.model].unit_ids
            self._digests[row.model] = draws.digest(unit_ids)
        self.resamples.append(resampled_row(row, self._digests[row.model], around.column))

    def _store(self, part: WingPlan, whole: ModelValues) -> None:
        """Keep the evidence of values that neither samples nor resamples can compare."""
        if self.plan.config.interval is not None or not part.wing.stored:
            return
        calls = [
            call
            for call, found in zip(part.calls, whole.findings, strict=True)
            if call.metric.resampled
            and any(_needs_evidence(call, found, one) for one in found.values)
        ]
        if calls:
            number = self.plan.task.wings.index(part.wing)
            unit_ids, groups = whole.dataset.unit_ids, self.groups.get(whole.model)
            kept = stored(
                whole.model, number, calls, whole.evidence, part.wing.stored, unit_ids, groups
            )
            self.evidence += [] if kept is None else [kept]

    def _list_objects(self, part: WingPlan, whole: ModelValues) -> None:
        """Keep what became of each object, as the first wing that matches objects has it."""
        if part.wing.objects is None or not self.illustrated:
            return
        if any(one.model == whole.model for one in self.objects):
            return
        data = whole.dataset
        parts = data.parts if isinstance(data, RangedDataset) else (data,)
        found = part.wing.objects(whole.model, parts, whole.evidence, part.calls)
        if found is None:
            self.warnings[f"{whole.model}: too many detections to keep the outcome of each"] = None
        else:
            self.objects.append(found)

    def _illustrate(
        self, call: Call, model: str, cut: str | None, found: Findings, dataset: Dataset
    ) -> None:
        shown = dataset.illustrate(found.examples) if found.examples else ()
        self.examples += [
            row_of(ExampleResult, call, model, one, slice=cut, **drawn._asdict())
            for one, drawn in zip(found.examples, shown, strict=True)
        ]


def groups_of(plan: Plan, loaded: Loaded[Any]) -> Mapping[str, Sequence[Scalar]]:
    """By model, the cluster of each unit; empty if units are drawn singly."""
    asked = plan.config.interval
    if asked is None or asked.group is None:
        return loaded.groups
    name = asked.group.removeprefix(METADATA)
    return {model: own[name] for model, own in loaded.metadata.items()}


def _needs_evidence(call: Call, found: Findings, value: MetricValue) -> bool:
    """Whether only resamples could compare a value with that of another run."""
    judged = value.label is None and call.metric.output(value.output).better is not None
    return judged and not told_by_samples(found.samples, value)
