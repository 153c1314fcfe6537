"""Gates and problems of a run as CI checks with stable names.

Trend views, flaky-test tables and "new failures" of a CI are keyed on the name of a check. So
names contain no value that differs from run to run: a gate is named by its condition, a problem by
its subject; measured values are in the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.digests.formatting import (
    SEVERITIES,
    UNCLEAR,
    against,
    against_share,
    clean,
    words,
)
from valor_cli.reports.digests.grids import Scopes
from valor_cli.reports.digests.naming import output_name
from valor_cli.results import COVERAGE, NOT_WORSE, GateResult, ProblemResult, RunResult
from valor_cli.results.document import dumps

NAME = 400
MESSAGE = 400
DETAIL = 1_000
"""Characters of a name, of a message or a reason, and of anything else."""

SAMPLES = 10
"""Samples of a problem that are named."""

_ASKED = {
    "min": "≥ {0}",
    "max": "≤ {0}",
    "max_drop": "drop ≤ {0}",
    NOT_WORSE: "not worse at {0}",
    COVERAGE: "≥ {0}",
}


class Check(Struct, frozen=True):
    """A gate or problem in words, cleaned but not escaped.

    Attributes:
        name: One of its own in its list, the same in every run of a config.
        kind: The rule of a gate; of a problem its severity, "unclear" where it cannot be told.
        status: "passed", "failed", "not checked"; of a problem "problem".
        message: What was found, against what was asked.
        details: What else there is to know, by name.
        gate: Which gate of the config, from 0; None of a problem.
    """

    name: str
    kind: str
    status: str
    message: str
    details: Mapping[str, str]
    gate: int | None = None


def gate_checks(result: RunResult) -> tuple[Check, ...]:
    """The gates, in the order of the run."""
    units = {(row.metric, row.output): row.unit for row in result.metrics}
    names = Scopes(result.metrics)
    checks = [
        _gate(gate, units.get((gate.metric, gate.output), "fraction"), names)
        for gate in result.gates
    ]
    return tuple(_unlike(checks))


def problem_checks(result: RunResult) -> tuple[Check, ...]:
    """The problems, most severe first; equally severe ones in the order of the run."""
    names = Scopes(result.metrics)
    ordered = sorted(result.problems, key=lambda one: SEVERITIES.index(one.severity or UNCLEAR))
    return tuple(_unlike([_problem(one, names) for one in ordered]))


def _gate(gate: GateResult, unit: str, names: Scopes) -> Check:
    asked = _ASKED.get(gate.rule, gate.rule + " {0}")
    covers = gate.rule == COVERAGE
    subject = f"coverage of {gate.metric}" if covers else output_name(gate.metric, gate.output)
    # The limit as the config has it: the decimals that a message needs depend on the value.
    limit = f"{gate.limit:.15g}"
    parts = [f"{subject} {asked.format(limit)}", *_where(gate, names)]
    if gate.status == "not checked" and gate.reason:
        message = _clean(gate.reason)
    else:
        message = _found(gate, unit, asked)
    reason = _clean(gate.reason) if gate.reason else ""
    return Check(
        name=clean(" · ".join(parts), NAME),
        kind=gate.rule,
        status=gate.status,
        message=message,
        details=_details(gate, label=gate.label, slice=gate.slice, reason=reason),
        gate=gate.gate,
    )


def _found(gate: GateResult, unit: str, asked: str) -> str:
    if gate.rule == COVERAGE:
        value, limit = against_share(gate.value, gate.limit)
        return f"found values for {value} of the samples, asked for {asked.format(limit)}"
    if gate.rule == NOT_WORSE:
        if gate.value is None:
            return f"asked for {asked.format(f'{gate.limit:g}')}"
        p, limit = against(gate.value, gate.limit)
        return f"found worse, p = {p}, asked for {asked.format(limit)}"
    value, limit = against(gate.value, gate.limit, unit)
    what = "a drop of " if gate.rule == "max_drop" else ""
    return f"found {what}{value}, asked for {asked.format(limit)}"


def _problem(problem: ProblemResult, names: Scopes) -> Check:
    about = output_name(problem.metric or "", problem.output or "")
    parts = [clean(f"{words(problem.kind)} {about}".rstrip(), 160)]
    detail = names.detail(problem.metric or "", None, problem.parameters)
    parts += [detail] if detail else []
    if problem.kind == "flip":  # the samples of others may be others in the next run
        parts += [clean(str(name), 60) for name in problem.sample_ids]
    parts += [clean(problem.model, 80)] if problem.model else []
    samples = ", ".join(clean(str(name), 60) for name in problem.sample_ids[:SAMPLES])
    return Check(
        name=clean(" · ".join(parts), NAME),
        kind=problem.severity or "unclear",
        status="problem",
        message=_clean(problem.message),
        details=_details(problem, samples=samples),
    )


def _where(gate: GateResult, names: Scopes) -> Iterator[str]:
    for part in (gate.label, gate.slice, gate.model):
        if part is not None:
            yield clean(part, 120)
    detail = names.detail(gate.metric, gate.label, gate.parameters)
    if detail:
        yield detail


def _details(one: GateResult | ProblemResult, **more: str | None) -> dict[str, str]:
    parameters = dumps(one.parameters).decode() if one.parameters else None
    told = {"metric": one.metric, "output": one.output, "model": one.model, **more}
    told["parameters"] = parameters
    return {name: clean(text, DETAIL) for name, text in told.items() if text}


def _clean(text: str) -> str:
    return clean(text, MESSAGE)


def _unlike(checks: Iterable[Check]) -> Iterator[Check]:
    """Make names unique: GitLab reads only the first of equal names."""
    taken: set[str] = set()
    for check in checks:
        name, count = check.name, 2
        while name in taken:
            name = f"{check.name} #{count}"
            count += 1
        taken.add(name)
        yield replace(check, name=name)
