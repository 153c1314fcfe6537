"""List the samples of a run by what became of them under a metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.reports.digests.passing import PassRule, pass_rule
from valor_cli.reports.lists.listing import Listing, Query, check_known, in_slice, models_of
from valor_cli.reports.writer import SAMPLES
from valor_cli.results import RunResult, SamplesResult, Scalar

KINDS: Final = ("passed", "failed", "error", "unscored")

COLUMNS: Final = ("sample_id", "model", "metric", "value", "status", "reason")

_ERRORS: Final = frozenset({"judge_error", "parse_failure", "model_unavailable"})


def sample_list(result: RunResult, query: Query) -> Listing:
    """The samples that passed or failed, that an error kept from a value, or that have none.

    Whether a sample passes is decided by `pass_rule`, as on the page.

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
    rules = [pass_rule(result, one, threshold=query.threshold) for one in chosen]
    if query.kind in ("passed", "failed") and not any(rules):
        message = "no metric of the run says from which value on a sample passes"
        hint = "name one with --metric, and the value with --threshold"
        raise ConfigError(Problem(f"--list {query.kind}", message), hint=hint)
    among = {model: in_slice(result, query, model) for model in models}
    rows = [
        row
        for one, rule in zip(chosen, rules, strict=True)
        for row in _rows(one, query, rule, among[one.model])
    ]
    settings = {"slice": query.slice, "metric": query.metric, "threshold": query.threshold}
    return Listing(query.kind, settings, COLUMNS, rows[: query.limit], len(rows))


def _rows(
    one: SamplesResult,
    query: Query,
    rule: PassRule | None,
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


def _wanted(kind: str, rule: PassRule | None) -> Callable[[str, float | None], bool]:
    """Whether a sample of that status and value is listed."""
    if kind == "error":
        return lambda status, value: status in _ERRORS
    if kind == "unscored":
        return lambda status, value: value is None and status not in _ERRORS
    if rule is None:
        return lambda status, value: False
    return lambda status, value: value is not None and rule.passes(value) == (kind == "passed")
