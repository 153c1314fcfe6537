"""A composite action run as GitHub runs it: expressions, the shell, files that steps write to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]}


@dataclass(slots=True)
class Ended:
    """What became of the action.

    Attributes:
        code: Of the step that failed; 0: none did.
        said: What its steps printed, to either output.
        outputs: Of the action.
        summary: What it showed on the page of the run.
    """

    code: int = 0
    said: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""


def run_action(
    action: Path, inputs: Mapping[str, str], *, workspace: Path, temp: Path, env: Mapping[str, str]
) -> Ended:
    """Run its steps in their order, up to the first that fails.

    Args:
        action: The folder of action.yml.
        inputs: What stands under `with:`.
        workspace: The checkout of who uses it.
        temp: The runner's folder for what it forgets.
        env: What else the runner's environment has.
    """
    told: dict[str, Any] = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))
    unknown = set(inputs) - set(told["inputs"])
    assert not unknown, f"no such inputs: {unknown}"
    known = {name: inputs.get(name, one.get("default", "")) for name, one in told["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in known.items()}
    ended = Ended()
    temp.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(told["runs"]["steps"]):
        assert set(step) <= {"id", "name", "shell", "env", "run"}, f"this runner lacks {set(step)}"
        script, output, summary = (
            temp / f"{number}.{name}" for name in ("sh", "output", "summary")
        )
        script.write_text(step["run"], encoding="utf-8")
        for file in (output, summary):
            file.write_text("", encoding="utf-8")
        done = subprocess.run(
            [*_SHELLS[step["shell"]], str(script)],
            cwd=workspace,
            env={
                **env,
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(workspace),
                "GITHUB_ACTION_PATH": str(action),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "RUNNER_TEMP": str(temp),
                **{name: filled(text, values) for name, text in step.get("env", {}).items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ended.said += done.stdout
        ended.summary += summary.read_text(encoding="utf-8")
        written = outputs_in(output.read_text(encoding="utf-8"))
        values |= {f"steps.{step['id']}.outputs.{name}": text for name, text in written.items()}
        if done.returncode:
            ended.code = done.returncode
            break
    ended.outputs = {name: filled(one["value"], values) for name, one in told["outputs"].items()}
    return ended


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its expressions replaced, of which names of inputs and outputs are known here.

    As GitHub does it an output that no step wrote is empty.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        assert re.fullmatch(r"(inputs|steps\.\w+\.outputs)\.[\w-]+", name), f"unknown: {name}"
        return values[name] if name.startswith("inputs.") else values.get(name, "")

    return _EXPRESSION.sub(value, text)


def outputs_in(text: str) -> dict[str, str]:
    """What a step wrote to $GITHUB_OUTPUT: name=value, or name<<end, lines, end."""
    lines = iter(text.splitlines())
    found = {}
    for line in lines:
        if one := re.match(r"([\w-]+)<<(.+)$", line):
            inside = []
            for following in lines:
                if following == one[2]:
                    break
                inside.append(following)
            else:
                raise AssertionError(f"{one[1]} has no end")
            found[one[1]] = "\n".join(inside)
        else:
            name, is_there, value = line.partition("=")
            assert is_there, f"neither a value nor lines: {line}"
            found[name] = value
    return found
