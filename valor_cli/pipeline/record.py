"""Record what a run read and which judges it called."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from valor_cli import __version__
from valor_cli.config import RunConfig
from valor_cli.metric import Loaded
from valor_cli.pipeline.plan import Plan
from valor_cli.results import EMBEDDINGS, RunInfo, ThresholdUsed, UsageResult

if TYPE_CHECKING:
    from valor_cli.models.session import Session

_PACKAGES = (
    *("jsonschema", "onnxruntime", "py3langid", "rapidfuzz", "regex", "sacrebleu", "sentencex"),
    *("tokenizers", "torch", "transformers", "umap"),
)
"""Packages that some metrics rest on, imported where one of them is computed."""

_NO_PART = {"path", "sha256", "report", "gates", "interval", "slices", "options"}
"""Settings that may change when a run is resumed: a higher budget, more time for replies.
Which judge is called, and how, is part of the cache key of its replies."""


_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"refs/(?!.*\.\.)[^\x00-\x20]+")


def record_of(
    plan: Plan, loaded: Loaded[Any], session: Session | None, *, command: str, started: datetime
) -> RunInfo:
    """The record of a run, without its duration.

    Args:
        plan: What was computed.
        loaded: From what.
        session: The models that were asked; None: nobody was.
        command: How the run was called.
        started: When.
    """
    return RunInfo(
        valor_version=__version__,
        started_at=started.isoformat(timespec="seconds"),
        duration_s=0.0,
        command=command,
        config=str(plan.config.path),
        config_sha256=plan.config.sha256,
        inputs=tuple(loaded.files),
        commit=commit_of(Path(plan.config.path).parent),
        thresholds=tuple(
            ThresholdUsed(call.metric.name, call.parameters, call.threshold, call.threshold_given)
            for part in plan.wings
            for call in part.calls
            if call.threshold is not None
        ),
        packages={"python": platform.python_version(), "numpy": np.__version__, **_packages()},
        **_asked(session, plan, loaded),
    )


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out in a folder, read from its repository without running git."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_file():
            # A worktree or a submodule: a file that names its folder.
            git = place / _first_line(git).removeprefix("gitdir: ")
        if (git / "HEAD").is_file():
            return _commit(git)
    return None


def _commit(git: Path) -> str | None:
    head = _first_line(git / "HEAD")
    if _COMMIT.fullmatch(head):
        return head
    name = head.removeprefix("ref: ")
    if not _BRANCH.fullmatch(name):
        return None
    common = git / (_first_line(git / "commondir") or ".")
    for folder in (git, common):
        found = _first_line(folder / name)
        if _COMMIT.fullmatch(found):
            return found
    packed = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", _text(common / "packed-refs"), re.M)
    return packed[1] if packed and _COMMIT.fullmatch(packed[1]) else None


def _first_line(file: Path) -> str:
    return _text(file).partition("\n")[0].strip()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def run_identity(plan: Plan, loaded: Loaded[Any], limit: int | None) -> str:
    """SHA-256 of a run's metrics and input bytes."""
    config = plan.config.model_dump(mode="json", exclude=_NO_PART)
    said: list[Any] = [config, [file.sha256 for file in loaded.files], limit]
    if own := own_sources(plan.config):
        said.append(own)
    return sha256(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def own_sources(config: RunConfig) -> Mapping[str, str]:
    """By name of an own metric, its function and the SHA-256 of the file."""
    if not config.own:
        return {}
    from valor_cli.evaluators.own import sources_of

    return sources_of(config.own)


def usage_of(session: Session | None, plan: Plan, loaded: Loaded[Any]) -> list[UsageResult]:
    """Usage by judge, by model, and by metric in config order.

    Which metric calls first depends on the judge's latency; the order of the rows must not.
    """
    if session is None:
        return []
    usage = list(session.usage)
    judges = list(dict.fromkeys(row.judge for row in usage))
    # Vectors are of no one model or metric.
    models = ["", *loaded.datasets]
    metrics = [call.metric.name for part in plan.wings for call in part.calls] + [EMBEDDINGS]

    def place(row: UsageResult) -> tuple[int, int, int]:
        return judges.index(row.judge), models.index(row.model), metrics.index(row.metric)

    return sorted(usage, key=place)


def _asked(session: Session | None, plan: Plan, loaded: Loaded[Any]) -> dict[str, Any]:
    """The record of the models that were used."""
    if session is None:
        return {}
    return {
        "models_used": tuple(session.models_used),
        "usage": tuple(usage_of(session, plan, loaded)),
        "stopped": None if session.stopped is None else session.stopped[1],
        "stopped_by": None if session.stopped is None else session.stopped[0],
    }


def _packages() -> dict[str, str]:
    """Versions of the packages that affect the values."""
    return {name: _version(name) for name in _PACKAGES if name in sys.modules}


def _version(package: str) -> str:
    said = vars(sys.modules[package]).get("__version__")
    if said is None:
        # To read what is installed imports email, sockets and zip: 10 ms.
        from importlib.metadata import version

        said = version(package)
    return str(said)
