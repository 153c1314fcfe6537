"""List the samples of a run by what became of them under a metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.reports.digests.naming import PASS
from valor_cli.reports.lists.listing import Listing, Query, check_known, in_slice, models_of
from valor_cli.reports.writer import SAMPLES
from valor_cli.results import RunResult, SamplesResult, Scalar

KINDS: Final = ("passed", "failed", "error", "unscored")

COLUMNS: Final = ("sample_id", "model", "metric", "value", "status", "reason")

_ERRORS: Final = frozenset({"judge_error", "parse_failure", "model_unavailable"})

_RULES: Final = ("min", "max")


class _Rule(Struct, frozen=True):
    """Which values pass.

    Attributes:
        output: Of the metric, the value that is looked at.
        limit: From which one on, or up to which one, it passes.
        higher: Whether high values are good.
    """

    output: str
    limit: float
    higher: bool

    def passes(self, value: float) -> bool:
        """Whether a value passes."""
        return value >= self.limit if self.higher else value <= self.limit


def sample_list(result: RunResult, query: Query) -> Listing:
    """The samples that passed or failed, that an error kept from a value, or that have none.

    A sample passes by the metric's own output `pass`; else by the threshold asked for, that of a
    gate on the metric or of a problem; else if those of all models are 0 or 1, by the better one.

    Raises:
        UnknownNameError: The run has no such model, metric, slice or sample.
        ConfigError: What passes is not known.
        DataError: The run has no values of samples, or no slices.
    """
    models = models_of(result, query)
    if not result.samples:
        message = f"the run has no {SAMPLES} beside its results.json"
        hint = "evaluate again with json among the formats; metrics with values of samples write it"
        raise DataError(Problem("--list", message), hint=hint)
    if query.metric is not None:
        check_known("--metric", "metric", query.metric, [one.metric for one in result.samples])
    chosen = [
        one for one in result.samples if one.model in models and query.metric in (None, one.metric)
    ]
    if query.sample is not None:
        names = [str(name) for one in chosen for name in one.sample_ids]
        check_known("--sample", "sample", query.sample, names)
    if query.kind in ("passed", "failed"):
        chosen = [one for one in chosen if _rule(result, one, query) is not None]
        if not chosen:
            message = "no metric of the run says from which value on a sample passes"
            hint = "name one with --metric, and the value with --threshold"
            raise ConfigError(Problem(f"--list {query.kind}", message), hint=hint)
    among = {model: in_slice(result, query, model) for model in models}
    rows = [
        row
        for one in chosen
        for row in _rows(one, query, _rule(result, one, query), among[one.model])
    ]
    settings = {"slice": query.slice, "metric": query.metric, "threshold": query.threshold}
    return Listing(query.kind, settings, COLUMNS, rows[: query.limit], len(rows))


def _rule(result: RunResult, one: SamplesResult, query: Query) -> _Rule | None:
    """What decides whether a sample passes under a metric."""
    if PASS in one.columns and query.threshold is None:
        return _Rule(PASS, 1.0, higher=True)
    primary = next(iter(one.columns))
    higher = not any(
        row.direction == "lower"
        for row in result.metrics
        if (row.metric, row.output) == (one.metric, primary)
    )
    if query.threshold is not None:
        return _Rule(primary, query.threshold, higher=higher)
    gates = [
        gate.limit
        for gate in result.gates
        if (gate.metric, gate.output, gate.label, gate.slice) == (one.metric, primary, None, None)
        and gate.rule in _RULES
    ]
    limits = [
        *gates,
        *(
            problem.threshold
            for problem in result.problems
            if (problem.metric, problem.output) == (one.metric, primary)
            and problem.threshold is not None
        ),
    ]
    if limits:
        return _Rule(primary, limits[0], higher=higher)
    alike = [
        other.columns[primary]
        for other in result.samples
        if (other.metric, other.parameters) == (one.metric, one.parameters)
    ]
    if all(value in (0, 1, None) for values in alike for value in values):
        return _Rule(primary, 1.0 if higher else 0.0, higher=higher)
    return None


def _rows(
    one: SamplesResult,
    query: Query,
    rule: _Rule | None,
    among: Collection[tuple[type, Scalar]] | None,
) -> Iterator[Sequence[Scalar]]:
    """What is listed of the samples of a metric."""
    primary = next(iter(one.columns))
    values = one.columns[primary]
    decided = values if rule is None else one.columns[rule.output]
    statuses = one.statuses or ["ok" if value is not None else "not_applicable" for value in values]
    wanted = _wanted(query.kind, rule)
    for name, value, status, reason, by in zip(
        one.sample_ids, values, statuses, one.undefined, decided, strict=True
    ):
        asked = query.sample in (None, str(name)) and (among is None or (type(name), name) in among)
        if asked and wanted(status, by):
            yield name, one.model, one.metric, value, status, reason


def _wanted(kind: str, rule: _Rule | None) -> Callable[[str, float | None], bool]:
    """Whether a sample of that status and value is listed."""
    if kind == "error":
        return lambda status, value: status in _ERRORS
    if kind == "unscored":
        return lambda status, value: value is None and status not in _ERRORS
    if rule is None:
        return lambda status, value: False
    return lambda status, value: value is not None and rule.passes(value) == (kind == "passed")
