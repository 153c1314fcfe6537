"""Composites: metrics of a sample made of other metrics' values of the same sample.

A weighted mean needs a value of each part; a rule needs as many verdicts as decide it. Parts may be
any metrics with values of single samples, so that this is done once those have been computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.samples.evidence import SampleEvidence
from valor_cli.evaluators.samples.outcomes import Floats, Ints, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled, mean_of_samples
from valor_cli.evaluators.verdicts import is_verdict
from valor_cli.metric import ByParameters, Call, Metric, Output
from valor_cli.results import STATUSES, WHEN, Findings, MetricSamples

MEAN: Final = "of"
"""The parameter of a weighted mean: the parts with their weights."""

HALF: Final = 0.5
"""Between the values of a failed sample and of a passed one."""

_OK: Final = STATUSES.index("ok")
_NOT_APPLICABLE: Final = STATUSES.index("not_applicable")
_FAILED: Final = STATUSES.index("parse_failure")

Bools = NDArray[np.bool_]


def weighted_mean(texts: Texts, **parameters: Any) -> Outcomes:
    """Weighted mean of the values that other metrics have of a sample.

    A sample without a value of one of them has none; with `missing: skip` the weights of those
    that it has are scaled to 1.
    """
    return _open(texts.data.unit_count, "value")


def rule(texts: Texts, **parameters: Any) -> Outcomes:
    """Share of the samples that pass all, any, or at least k of other metrics.

    A sample without a verdict of some of them has one where those cannot change it; with
    `missing: skip` they are left out.
    """
    return _open(texts.data.unit_count, "pass")


def pass_rate(sampled: Sampled) -> Findings:
    """The share of the samples with a verdict that pass."""
    return sampled.findings(sampled.means(proportion=True))


def composite_metric(
    name: str, asked: Mapping[str, Any], known: Mapping[str, Metric[Any]]
) -> Metric[Any]:
    """The metric of a composite.

    Args:
        name: What it is called.
        asked: Its parameters.
        known: The metrics it may be made of, by name.

    Raises:
        ConfigError: Its parts have no mean; the place is the key at fault.
    """
    mean = MEAN in asked
    return Metric(
        name=name,
        measure=weighted_mean if mean else rule,
        compute=mean_of_samples if mean else pass_rate,
        outputs=(_mean_output(asked[MEAN], known) if mean else Output("pass"),),
        reference="",
        needs=(),
        by_parameters=BY_PARTS,
        threshold=None if mean else HALF,
    )


def _mean_output(weights: Mapping[str, float], known: Mapping[str, Metric[Any]]) -> Output:
    """Direction, bounds and unit of a weighted mean.

    Raises:
        ConfigError: The parts have different directions.
    """
    outputs = {}
    for name in weights:
        metric, output = _part(name, known)
        outputs[name] = known[metric].output(output) if output else known[metric].outputs[0]
    directions = {one.better for one in outputs.values()}
    if len(directions) > 1:
        told = ", ".join(f"{name} {one.better or 'neither'}" for name, one in outputs.items())
        message = f"the parts must agree on which direction is better; better is: {told}"
        raise ConfigError(Problem(MEAN, message))
    total = sum(weights.values())
    shares = [(weights[name] / total, one.bounds) for name, one in outputs.items()]
    low = round(sum(share * bounds[0] for share, bounds in shares), 12)
    highs = [share * bounds[1] for share, bounds in shares if bounds[1] is not None]
    high = round(sum(highs), 12) if len(highs) == len(shares) else None
    unit = "fraction" if (low, high) == (0, 1) else "score"
    return Output("value", directions.pop(), (low, high), unit)


def _part(name: str, known: Mapping[str, Any]) -> tuple[str, str | None]:
    """Metric and output of a part, "METRIC" or "METRIC.OUTPUT"; None: the primary output."""
    if name in known:
        return name, None
    metric, _, output = name.rpartition(".")
    return metric, output


def _rule_of(parameters: Mapping[str, Any]) -> tuple[Sequence[str], int] | None:
    """The parts of a rule, and how many of them a sample must pass; None: it is no rule."""
    if "at_least" in parameters:
        asked = parameters["at_least"]
        return asked["of"], asked["k"]
    if "all_of" in parameters:
        return parameters["all_of"], len(parameters["all_of"])
    if "any_of" in parameters:
        return parameters["any_of"], 1
    return None


def _parts(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of all metrics that a call rests on."""
    judged, _ = _rule_of(parameters) or ((), 0)
    return (*parameters.get(MEAN, ()), *judged, *parameters.get(WHEN, ()))


BY_PARTS: Final = ByParameters(parts=_parts)


def part_problems(call: Call, calls: Sequence[Call]) -> Iterator[str]:
    """Why a call cannot rest on what it names, of all calls of a run."""
    by_name: dict[str, list[Call]] = {}
    for one in calls:
        by_name.setdefault(one.metric.name, []).append(one)
    averaged = call.parameters.get(MEAN, ())
    for name in dict.fromkeys(call.parts):
        metric, output = _part(name, by_name)
        found = by_name.get(metric, ())
        if not found:
            yield f"rests on {name}, which `metrics:` does not list; add it there"
        elif len(found) > 1:
            yield f"rests on {name}, which `metrics:` lists {len(found)} times; keep one of them"
        elif name not in averaged or name in call.parameters.get(WHEN, ()):
            if output is not None:
                yield f"asks whether {name} passes; only the metric {metric} itself does"
            elif found[0].threshold is None and not _judges(found[0].metric):
                yield f"asks whether {name} passes, which has no threshold; give it `threshold:`"


def with_thresholds(call: Call, calls: Sequence[Call]) -> Call:
    """The call, with the thresholds that its verdicts follow among its parameters."""
    judged = {*call.parts} - {*call.parameters.get(MEAN, ())} | {*call.parameters.get(WHEN, ())}
    limits = {
        one.metric.name: one.threshold
        for one in calls
        if one.metric.name in judged and not _judges(one.metric)
    }
    return replace(call, parameters={**call.parameters, "thresholds": limits}) if limits else call


def _judges(metric: Metric[Any]) -> bool:
    """Whether a metric passes or fails each sample, whatever its threshold is."""
    return metric.measure is rule or is_verdict(metric.outputs)


class _Values(Struct, frozen=True):
    """What a metric has of each sample.

    Attributes:
        name: The metric.
        call: Its call.
        status: (n,) positions in `STATUSES`.
        reasons: (n,) why a sample has no primary value, or another remark.
        columns: By output, (n,) values.
    """

    name: str
    call: Call
    status: NDArray[np.int8]
    reasons: Sequence[str | None]
    columns: Mapping[str, Floats]

    def of(self, output: str | None) -> Floats:
        """(n,) values of an output; NaN: none."""
        column = self.columns[output or self.call.metric.outputs[0].name]
        return np.where(self.status == _FAILED, np.nan, column)

    def verdicts(self) -> Floats:
        """(n,) 1 for a sample that passes, 0 for one that fails; NaN: neither is known."""
        values, primary = self.of(None), self.call.metric.outputs[0]
        limit = self.call.threshold
        if limit is None or _judges(self.call.metric):
            limit = HALF
        passed = values <= limit if primary.better == "lower" else values >= limit
        return np.where(np.isnan(values), np.nan, passed)

    def why_none(self, at: int) -> str:
        """Why a sample has no value."""
        reason = self.reasons[at] if self.status[at] != _OK else None
        return f"{self.name}: {reason or STATUSES[self.status[at]].replace('_', ' ')}"


def completed(
    evidence: SampleEvidence, others: Mapping[str, tuple[Call, MetricSamples | None]]
) -> SampleEvidence:
    """Own metrics with what rests on the values of others.

    Args:
        evidence: Of the own metrics.
        others: By name of the run's other metrics, the call and its values of the same samples.

    Raises:
        ConfigError: A part has no values of single samples.
    """
    known: dict[str, _Values] = {}
    needed = {_part(name, others)[0] for call in evidence.calls for name in call.parts}
    for name in needed & set(others):
        known[name] = _values_of(name, *others[name], evidence.sample_ids)
    found = []
    for call, own in zip(evidence.calls, evidence.outcomes, strict=True):
        if call.metric.measure in (weighted_mean, rule):
            own = _composed(call, known, own)
        for name, wanted in call.parameters.get(WHEN, {}).items():
            own = _applied(own, known[name], wanted)
        found.append(own)
        name = call.metric.name
        known.setdefault(name, _Values(name, call, own.status, own.reasons, own.columns))
    return replace(evidence, outcomes=tuple(found))


def _values_of(
    name: str, call: Call, samples: MetricSamples | None, sample_ids: Sequence[Any]
) -> _Values:
    """The values of another wing's metric, in the order of the samples here."""
    if samples is None or len(samples.sample_ids) != len(sample_ids):
        raise ConfigError(Problem("metrics", f"{name} has no values of single samples"))
    columns = {output: np.array(own, np.float64) for output, own in samples.columns.items()}
    if samples.statuses is None:
        primary = columns[call.metric.outputs[0].name]
        status = np.where(np.isnan(primary), _NOT_APPLICABLE, _OK).astype(np.int8)
    else:
        positions = {status: at for at, status in enumerate(STATUSES)}
        status = np.fromiter(map(positions.__getitem__, samples.statuses), np.int8)
    return _Values(name, call, status, samples.undefined, columns)


def _composed(call: Call, known: Mapping[str, _Values], own: Outcomes) -> Outcomes:
    """The outcomes of a composite."""
    skips = call.parameters.get("missing") == "skip"
    asked = _rule_of(call.parameters)
    if asked is None:
        weights = call.parameters[MEAN]
        parts = {name: _part(name, known) for name in weights}
        sources = [known[metric] for metric, _ in parts.values()]
        values = np.array([known[metric].of(output) for metric, output in parts.values()])
        there = ~np.isnan(values)
        scaled = np.array([*weights.values()], np.float64)[:, None] * there
        total = scaled.sum(axis=0)
        decided = total > 0 if skips else there.all(axis=0)
        value = (scaled * np.where(there, values, 0.0)).sum(axis=0)
        found = np.divide(value, total, out=np.full(len(total), np.nan), where=decided)
        return _decided(own, found, sources, there)
    names, k = asked
    sources = [known[name] for name in names]
    values = np.array([one.verdicts() for one in sources])
    there = ~np.isnan(values)
    passed, unknown = (values == 1).sum(axis=0), (~there).sum(axis=0)
    if skips:
        # `all_of` asks for every verdict that a sample has; `any_of` and `at_least` ask for k.
        least = there.sum(axis=0) if "all_of" in call.parameters else k
        decided, good = there.any(axis=0), passed >= least
    else:
        good = passed >= k
        decided = good | (passed + unknown < k)
    result = _decided(own, np.where(decided, good, np.nan), sources, there)
    reasons = list(result.reasons)
    for at in np.flatnonzero(decided & ~good).tolist():
        failed = [
            one.name for one, verdict in zip(sources, values[:, at], strict=True) if verdict == 0
        ]
        reasons[at] = f"failed: {', '.join(failed)}"
    return replace(result, reasons=tuple(reasons))


def _decided(own: Outcomes, found: Floats, parts: Sequence[_Values], there: Bools) -> Outcomes:
    """Outcomes with values, and for samples without one the reason that the first part has.

    A part that should have had a value comes before one that does not apply.
    """
    none = np.flatnonzero(np.isnan(found))
    status = np.where(np.isnan(found), own.status, _OK).astype(np.int8)
    reasons: list[str | None] = [None] * len(found)
    lost = np.array(
        [~have & (one.status != _NOT_APPLICABLE) for one, have in zip(parts, there, strict=True)]
    )
    blamed: Ints = np.where(lost.any(axis=0), lost.argmax(axis=0), (~there).argmax(axis=0))
    for at in none.tolist():
        part = parts[blamed[at]]
        status[at] = _NOT_APPLICABLE if part.status[at] == _OK else part.status[at]
        reasons[at] = part.why_none(at)
    (name,) = own.columns
    return replace(own, status=status, reasons=tuple(reasons), columns={name: found})


def _applied(own: Outcomes, other: _Values, wanted: str) -> Outcomes:
    """Outcomes of the samples that have the wanted verdict; of others none, and why."""
    verdicts = other.verdicts()
    left_out = verdicts != (wanted == "passes")
    status = np.where(left_out, _NOT_APPLICABLE, own.status).astype(np.int8)
    reasons = list(own.reasons)
    said = f"{other.name} {'fails' if wanted == 'passes' else 'passes'}"
    for at in np.flatnonzero(left_out).tolist():
        reasons[at] = said
        if np.isnan(verdicts[at]):
            reasons[at] = other.why_none(at)
            status[at] = _NOT_APPLICABLE if other.status[at] == _OK else other.status[at]
    columns = {name: np.where(left_out, np.nan, one) for name, one in own.columns.items()}
    return replace(own, status=status, reasons=tuple(reasons), columns=columns)


def _open(count: int, output: str) -> Outcomes:
    """What a composite has in a shard: nothing, until there are its parts."""
    nothing = (None,) * count
    return Outcomes(
        np.full(count, _NOT_APPLICABLE, np.int8),
        nothing,
        nothing,
        ((),) * count,
        {output: np.full(count, np.nan)},
    )
