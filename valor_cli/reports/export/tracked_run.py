"""A run as experiment trackers take it: numbers by key, settings, tags and files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from msgspec import Struct

from valor_cli.reports.digests.naming import Names
from valor_cli.reports.run_files import RESULTS
from valor_cli.results import MetricResult, RunResult

FILES = (RESULTS, "report.html", "report.md", "samples.jsonl")
"""Files of a run that are sent with it, if they are beside its results."""

LONGEST_KEY, LONGEST_SETTING = 250, 500
"""Characters that MLflow allows in a name, and that all its servers allow in a parameter."""

_FOREIGN = re.compile(r"[^\w.\- ]")
"""What MLflow does not allow in a name; "/" separates its parts, and Windows has no ":"."""


class TrackedRun(Struct, frozen=True):
    """A run for a tracker.

    Attributes:
        name: What it is called there.
        metrics: Values by key, `coco/AP`, `recall/label/person`, `recall/slice/size_small`; with
            several models the model comes first. Undefined values are left out.
        settings: How it was evaluated.
        tags: Its verdict, and what it is of.
        files: Paths of the files that are sent with it.
        started: When it began, in milliseconds; None if the file does not say.
    """

    name: str
    metrics: Mapping[str, float]
    settings: Mapping[str, str]
    tags: Mapping[str, str]
    files: tuple[str, ...]
    started: int | None
    duration_ms: int


def tracked_run(result: RunResult, path: str, name: str | None = None) -> TrackedRun:
    """A run for a tracker.

    Args:
        result: The run.
        path: Of its results, or their folder.
        name: What it is called there; None: as its folder.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    files = (os.path.join(folder, one) for one in FILES)
    return TrackedRun(
        name=name or os.path.basename(os.path.abspath(folder)),
        metrics=_metrics(result),
        settings={key: value[:LONGEST_SETTING] for key, value in _settings(result)},
        tags=dict(_tags(result)),
        files=tuple(file for file in files if os.path.isfile(file)),
        started=_milliseconds(result.run.started_at),
        duration_ms=round(result.run.duration_s * 1000),
    )


def _metrics(result: RunResult) -> dict[str, float]:
    """Values by key; keys that differ in forbidden characters alone are told apart by a hash."""
    names = Names((row.metric, row.parameters) for row in result.metrics)
    many = len(result.models) > 1
    found: dict[str, list[tuple[str, float]]] = {}
    for row in result.metrics:
        if row.value is not None and (row.label is None or row.slice is None):
            parts = list(_parts(row, names, many=many))
            key = "/".join(map(_plain, parts))
            found.setdefault(key, []).append(("\0".join(parts), float(row.value)))
    return {
        _short(key if len(alike) == 1 else f"{key}-{_digest(exact)}", exact): value
        for key, alike in found.items()
        for exact, value in alike
    }


def _parts(row: MetricResult, names: Names, *, many: bool) -> Iterator[str]:
    if many:
        yield row.model
    yield row.metric
    if row.output not in ("value", ""):
        yield row.output
    if detail := names.detail(row.metric, row.parameters):
        yield detail.replace("=", " ").replace(",", "")
    for kind in ("label", "slice"):
        named = getattr(row, kind)
        if named is not None:
            yield from (kind, named)


def _plain(part: str) -> str:
    """A part of a key without forbidden characters; a dot alone would be a folder."""
    plain = _FOREIGN.sub("_", part).strip()
    return plain if plain.strip(".") else "_"


def _short(key: str, exact: str) -> str:
    if len(key) <= LONGEST_KEY:
        return key
    return f"{key[: LONGEST_KEY - 10]}-{_digest(exact)}"


def _digest(exact: str) -> str:
    return sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _settings(result: RunResult) -> Iterator[tuple[str, str]]:
    run = result.run
    yield "task", result.task
    yield "models", ", ".join(result.models)
    yield "config", run.config
    yield "config_sha256", run.config_sha256
    yield "command", run.command
    if run.models_used:
        yield "models_used", ", ".join(run.models_used)
    for name, count in result.data.items():
        yield _plain(f"data.{name}"), str(count)
    for name, value in result.settings.items():
        yield _plain(f"settings.{name}"), str(value)
    for prompt in result.prompts:
        yield _plain(f"prompts.{prompt.name}"), prompt.sha256
    if result.intervals is not None:
        for name in ("level", "resamples", "seed", "group"):
            yield f"intervals.{name}", str(getattr(result.intervals, name))


def _tags(result: RunResult) -> Iterator[tuple[str, str]]:
    yield "valor.verdict", result.verdict
    yield "valor.version", result.run.valor_version
    yield "valor.task", result.task
    if result.gates:
        failed = sum(gate.status == "failed" for gate in result.gates)
        yield "valor.failed_gates", str(failed)
    if result.run.commit:
        yield "mlflow.source.git.commit", result.run.commit


def _milliseconds(started_at: str) -> int | None:
    try:
        started = datetime.fromisoformat(started_at)
    except ValueError:
        return None
    return round((started if started.tzinfo else started.replace(tzinfo=UTC)).timestamp() * 1000)
