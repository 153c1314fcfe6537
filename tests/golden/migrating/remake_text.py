"""What ragas, deepeval and promptfoo say of the examples in docs/migrating/, stored beside this.

Run from the root of the repository, in an environment with the tool (promptfoo: on the path):

    python -m tests.golden.migrating.remake_text ragas
    python -m tests.golden.migrating.remake_text deepeval
    python -m tests.golden.migrating.remake_text promptfoo
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = Path(__file__).parent

Values = dict[str, list[float | None]]

_FILE = re.compile(r"^<!-- file: (?P<path>\S+) -->\n```\w+\n(?P<text>.*?)^```$", re.M | re.S)
_PACKAGES: Final = {
    "ragas": ("ragas", "rouge_score", "sacrebleu", "rapidfuzz"),
    "deepeval": ("deepeval", "rouge_score"),
}
_RUNS: Final = {"strings": "promptfooconfig.yaml", "judged": "graded.yaml"}
_NAMES: Final = {
    "ragas": "from ragas import metrics; from ragas.metrics import collections;"
    "names = {*metrics._DEPRECATED_METRICS, *metrics.__all__, *collections.__all__};"
    "names = [one for one in names if isinstance(getattr(collections, one, None)"
    " or getattr(metrics, one), type)]",
    "deepeval": "from deepeval import metrics; from deepeval.scorer import Scorer;"
    "names = [*metrics.__all__, *('Scorer.' + one for one in vars(Scorer))]",
}
_HANDLERS = re.compile(r"ASSERTION_HANDLERS = \{\n(.*?)^\};", re.M | re.S)
_QUIET: Final = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


def lay_out(tool: str, folder: Path) -> None:
    """The files that the page shows."""
    page = (ROOT / "docs" / "migrating" / f"{tool}.md").read_text(encoding="utf-8")
    for found in _FILE.finditer(page):
        (folder / found["path"]).write_text(found["text"], encoding="utf-8")


def told(tool: str, folder: Path) -> dict[str, Values]:
    """The values of each sample, by the example and the tool's name of the metric."""
    if tool == "promptfoo":
        return {name: _of_promptfoo(folder, config) for name, config in _RUNS.items()}
    return {name: _of_python(folder, f"{name}.py") for name in ("strings", "judged")}


def versions(tool: str) -> dict[str, str]:
    """The tool's version, and of what it computes with."""
    if tool != "promptfoo":
        return {name: importlib.metadata.version(name) for name in _PACKAGES[tool]}
    return {tool: _run(["promptfoo", "--version"], ROOT).strip().splitlines()[-1]}


def names(tool: str) -> list[str]:
    """What the tool calls its metrics or assertions."""
    if tool != "promptfoo":
        code = f"{_NAMES[tool]}; print(*sorted(set(names)))"
        return _run([sys.executable, "-W", "ignore", "-c", code], ROOT).split()
    program = Path(shutil.which(tool) or "").resolve()
    for script in program.parent.glob("evaluator-*.js"):
        if found := _HANDLERS.search(script.read_text(encoding="utf-8")):
            return sorted(re.findall(r'^\t"?([a-z:0-9-]+)"?:', found[1], re.M))
    raise RuntimeError(f"no assertions in {program.parent}")


def _of_python(folder: Path, script: str) -> Values:
    lines = _run([sys.executable, "-W", "ignore", script], folder).splitlines()
    found = (line.partition(" [") for line in lines if " [" in line)
    return {name: [_number(one) for one in rest.strip("]").split(", ")] for name, _, rest in found}


def _of_promptfoo(folder: Path, config: str) -> Values:
    options = ["--max-concurrency", "1", "--no-cache", "--no-table"]
    env = {"PROMPTFOO_CONFIG_DIR": str(folder / "home")}
    # Assertions fail by design: 100.
    _run(["promptfoo", "eval", "-c", config, "-o", "out.json", *options], folder, env, (0, 100))
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    results.sort(key=lambda one: one["testIdx"])
    return {
        name: [float(one["namedScores"][name]) for one in results]
        for name in results[0]["namedScores"]
    }


def _run(
    command: list[str],
    folder: Path,
    env: dict[str, str] | None = None,
    fine: tuple[int, ...] = (0,),
) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **_QUIET, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode not in fine:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _number(text: str) -> float | None:
    value = float(text)
    return None if math.isnan(value) else value


def main(tool: str) -> None:
    """Write the tool's file anew."""
    with tempfile.TemporaryDirectory() as name:
        lay_out(tool, Path(name))
        examples = told(tool, Path(name))
    document: dict[str, Any] = {
        "tools": versions(tool),
        "command": f"python -m tests.golden.migrating.remake_text {tool}",
        "names": names(tool),
        "examples": examples,
    }
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    (FOLDER / f"{tool}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
