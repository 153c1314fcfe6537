"""Samples, a config and a judge behind HTTP for runs of the whole program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import program
from tests.cli.conftest import ROOT, read_run, written
from tests.models.server import Asked, FaultServer, Plan, Turn, said

KEY = "sk-test-4f9a7c1d2e3b4a5968770c1d"


def form_of(asked: Asked) -> str:
    """What the schema of the reply is called."""
    return str(asked.body["response_format"]["json_schema"]["name"])


def opening(asked: Asked) -> str:
    """What a conversation begins with, its system message apart."""
    return str(asked.body["messages"][1]["content"])


def replied(asked: Asked) -> str:
    """What a judge says to a request: of the form asked for, and decided by the prompt alone.

    A response has two claims, of which the contexts support the first; it holds contact
    information where "@" stands in it.
    """
    form = form_of(asked)
    if form == "statements":
        number = opening(asked).split("Part ")[1].split(" ")[0]
        return json.dumps({"statements": [f"Part {number} is red.", f"Part {number} is new."]})
    if form == "verdicts":
        one = {"reason": "It says so.", "verdict": 1}
        return json.dumps({"verdicts": [one, {"reason": "It does not.", "verdict": 0}]})
    verdict = "present" if "@" in opening(asked) else "absent"
    return json.dumps({"reason": "I looked.", "verdict": verdict})


def well(asked: Asked) -> Turn:
    """A judge that has no faults."""
    return said(replied(asked))


def faulty(faults: Plan) -> Plan:
    """A judge with faults: what is not one of them is the reply."""

    def plan(asked: Asked) -> Turn:
        turn = faults(asked)
        return well(asked) if turn.kind == "said" else turn

    return plan


def sample(at: int) -> dict[str, Any]:
    """A sample; every fourth response has an address."""
    address = f" Write to part{at}@parts.net." if at % 4 == 0 else ""
    return {
        "sample_id": f"s{at}",
        "user_input": f"What is part {at}?",
        "response": f"Part {at} is red and new.{address}",
        "retrieved_contexts": [f"The part with the number {at} is red."],
        "kind": "odd" if at % 2 else "even",
    }


METRICS = "[faithfulness, contact_information]"


def project(
    folder: Path,
    count: int,
    url: str = "http://127.0.0.1:9/v1",
    *,
    judge: Mapping[str, Any] | None = None,
    metrics: str = METRICS,
    more: str = "",
    samples: str = "samples.jsonl",
    name: str = "run.yaml",
) -> Path:
    """A folder with so many samples and a config that asks a judge of them."""
    folder.mkdir(parents=True, exist_ok=True)
    written(folder / samples, map(sample, range(count)))
    asked = {"model": "judge", "api_base": url, **(judge or {})}
    (folder / name).write_text(
        "task: text_generation\n"
        f"data: {{samples: {samples}}}\n"
        f"judge: {json.dumps({key: value for key, value in asked.items() if value is not None})}\n"
        f"metrics: {metrics}\n"
        "report: {out: out, formats: [json]}\n"
        f"{more}\n"
    )
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Of a process that keeps its replies in the folder."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "VALOR_CACHE_DIR": str(folder / "cache"),
        **more,
    }


def started(folder: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """`valor evaluate run.yaml …` in the background."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "valor_cli", "evaluate", "run.yaml", *arguments],
        cwd=folder,
        env=environment(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def evaluated(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """`valor evaluate run.yaml …`, to its end."""
    variables = environment(folder, **more)
    done = program.run("evaluate", "run.yaml", *arguments, cwd=folder, environment=variables)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def results(folder: Path) -> dict[str, Any]:
    """results.json, without what differs from run to run."""
    found: dict[str, Any] = {**read_run(folder / "out").result}
    del found["run"]
    return found


def record(folder: Path) -> dict[str, Any]:
    """What results.json says of the run itself."""
    found: dict[str, Any] = read_run(folder / "out").result["run"]
    return found


def statuses(folder: Path) -> dict[str, dict[str, int]]:
    """By metric, how many samples have which status."""
    return {
        one["metric"]: {name: count for name, count in one["statuses"].items() if count}
        for one in results(folder)["coverage"]
        if one["slice"] is None
    }


def asked_once(server: FaultServer) -> bool:
    """Whether no prompt was answered twice."""
    return set(server.answered.values()) == {1}
