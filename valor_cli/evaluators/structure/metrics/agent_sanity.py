"""Agent sanity: whether the files that an agent produces pass a list of checks.

The value of a sample is the share of checks that passed; a check of several files counts once for
each. H2O Eval Studio describes the kinds of checks; the config says which are made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from valor_cli.errors import printable
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.evaluators.structure.artifact_checks import CheckResult, results_of
from valor_cli.evaluators.structure.artifact_files import Artifacts, TooMuchError
from valor_cli.evaluators.structure.checks import Check, Checks, check_of
from valor_cli.kernels.patterns.regex import Patience
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.metric import Metric
from valor_cli.results import Findings

LISTED = 100
"""Results that the details of a sample list: those that did not pass before the others."""

NO_FOLDER = "the artifacts folder does not exist"

SANE: tuple[dict[str, Any], ...] = (
    {"check": "exists", "path": "**/*"},
    {"check": "not_empty", "path": "**/*"},
    {"check": "parses", "path": "**/*", "format": None},
)

Secrets = Callable[[str], Iterable[tuple[int, int]]]


def agent_sanity(texts: Texts, *, checks: Checks = SANE) -> Outcomes:  # type: ignore[assignment]
    """The share of checks that the files in the agent's artifacts folder pass.

    Without `checks`: that there is a file, that none is empty, and that JSON, JSON Lines, YAML and
    CSV files parse. A folder that does not exist passes none. A check that cannot be decided (a
    pattern that takes too long, a PDF without a readable page tree, a file of more than 64 MiB)
    makes the sample a parse failure. Links are not followed, and no file is changed or executed.
    The checks are `exists`, `layout`, `not_empty`, `min_size`, `min_pages`, `parses`,
    `json_schema` and `regex`; each counts once for every file that its `path` names.

    Formula:
        value = checks passed / checks, a check counted once for each file it names

    Pitfalls:
        Many good files hide a bad one: 1 failure among 100 is 0.99. A pattern that no file has asks
        nothing except of `exists` and `layout`: list there what must not be missing. Form is
        checked, not whether a report is right.

    Example:
        A folder with a valid report.json and an empty notes.txt passes `exists` 1 of 1, `not_empty`
        1 of 2 and `parses` 1 of 1: 3 / 4 = 0.75.
    """
    asked = [check_of(check) for check in checks]  # type: ignore[arg-type]
    patience = Patience()
    data = texts.data
    return Outcomes.of(
        [
            missing("no artifacts folder")
            if folder is None
            else _outcome(folder, asked, patience, data.secrets)
            for folder in data.artifacts
        ],
        ("value",),
    )


def agent_sanity_values(sampled: Sampled) -> Findings:
    """The mean over samples, with a warning if no artifacts folder exists."""
    return sampled.findings(sampled.means(), warnings=_warnings(sampled))


def _warnings(sampled: Sampled) -> Iterator[str]:
    there = [reason for reason in sampled.outcomes.reasons if reason != "no artifacts folder"]
    if there and set(there) == {NO_FOLDER}:
        yield (
            f"agent_sanity: none of {len(there):,} artifacts folders exists; paths under "
            "`artifacts` start from the folder of the samples' file, or from `data.artifacts`"
        )


AGENT_SANITY = Metric(
    name="agent_sanity",
    measure=agent_sanity,
    compute=agent_sanity_values,
    reference="H2O Eval Studio, Agent Sanity Check",
    citation="H2O.ai, H2O Eval Studio documentation, Agent Sanity Check Evaluator",
    needs=("artifacts",),
    threshold=0.75,
    aliases=("agent_sanity_check",),
)


def _outcome(folder: str, checks: Sequence[Check], patience: Patience, secrets: Secrets) -> Outcome:
    try:
        artifacts = Artifacts(folder)
    except (FileNotFoundError, NotADirectoryError):
        return Outcome({"value": 0.0}, reason=NO_FOLDER)
    except (OSError, TooMuchError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Outcome(status="parse_failure", reason=f"the artifacts folder: {why}")
    results = [result for check in checks for result in results_of(check, artifacts, patience)]
    if not results:
        return Outcome(status="not_applicable", reason="no file that the checks are about")
    untold = [result for result in results if result.passed is None]
    failed = [result for result in results if result.passed is False]
    worst = [*untold, *failed]
    return Outcome(
        {"value": 1 - len(failed) / len(results)} if not untold else {},
        "parse_failure" if untold else "ok",
        _reason(worst, secrets),
        _details(results, worst, secrets),
    )


def _reason(worst: Sequence[CheckResult], secrets: Secrets) -> str | None:
    if not worst:
        return None
    more = f" (and {len(worst) - 1:,} more)" if len(worst) > 1 else ""
    return f"{_shown(worst[0].path, secrets)}: {_shown(worst[0].reason or '', secrets)}{more}"


def _details(
    results: Sequence[CheckResult], worst: Sequence[CheckResult], secrets: Secrets
) -> dict[str, Any]:
    told = [*worst, *(result for result in results if result.passed)][:LISTED]
    return {
        "checks": len(results),
        "passed": sum(result.passed is True for result in results),
        "results": [
            {
                "name": result.name,
                "path": _shown(result.path, secrets),
                "passed": result.passed,
                "reason": result.reason and _shown(result.reason, secrets),
            }
            for result in told
        ],
    }


def _shown(text: str, secrets: Secrets) -> str:
    """A name or a message on one line, with what no report may show masked."""
    # Names of files may have bytes that are no UTF-8.
    plain = os.fsencode(text).decode("utf-8", "replace")
    return printable(masked(plain, [Span(start, end, "") for start, end in secrets(plain)]))
