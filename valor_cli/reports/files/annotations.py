"""GitHub Actions annotations for the findings of a run.

A failed gate is an error at its place in the config, a problem a warning, an incomplete run a
notice. GitHub shows ten of each kind per step; beyond that, the last one says how many are left
out.

Commands are escaped as in GitHub's own toolkit, so that data cannot inject a command with a line
break.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.gates import stopped
from valor_cli.reports.files.checks import Check, gate_checks, problem_checks
from valor_cli.results import RunResult

MOST = 10
"""Annotations of each kind that GitHub shows of a step."""

PATH = 1_000
"""Characters of a path."""

Place: TypeAlias = tuple[str, int, int]
"""A file, relative to the repository; a line and a column of it, both from 1."""

PlaceOfGate: TypeAlias = Callable[[int], Place | None]
"""The position of a gate by its index in the config; None if it cannot be shown."""

_Level: TypeAlias = Literal["error", "warning", "notice"]


def workflow_commands(result: RunResult, place_of_gate: PlaceOfGate) -> list[str]:
    """The commands, one line each; errors, then warnings, then notices.

    Args:
        result: The run.
        place_of_gate: The position of a gate in the config.
    """
    failed = [
        _of_gate(check, place_of_gate) for check in gate_checks(result) if check.status == "failed"
    ]
    problems = [
        _command("warning", f"problem ({check.kind}): {check.name}", check.message)
        for check in problem_checks(result)
    ]
    why = stopped(result) or result.incomplete
    notices = [_command("notice", "the run is incomplete", clean(why, 400))] if why else []
    return [
        *_most("error", failed, "failed gates"),
        *_most("warning", problems, "problems"),
        *notices,
    ]


def _most(level: _Level, commands: Sequence[str], what: str) -> Sequence[str]:
    """All of them, or as many as are shown, of which the last counts the others."""
    if len(commands) <= MOST:
        return commands
    shown = commands[: MOST - 1]
    left_out = f"{len(commands) - len(shown):,} more {what}; the report has all of them"
    return [*shown, _command(level, "valor", left_out)]


def _of_gate(check: Check, place_of_gate: PlaceOfGate) -> str:
    place = None if check.gate is None else place_of_gate(check.gate)
    reason = check.details.get("reason")
    message = f"{check.message}: {reason}" if reason else check.message
    return _command("error", f"gate failed: {check.name}", message, place)


def _command(level: _Level, title: str, message: str, place: Place | None = None) -> str:
    properties = [f"title={_property(title)}"]
    if place is not None:
        file, line, column = place
        properties = [
            f"file={_property(clean(file, PATH))}",
            f"line={line}",
            f"col={column}",
            *properties,
        ]
    return f"::{level} {','.join(properties)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
