"""`python -m tests.mutants`: try a sample of small faults, and print how many a test notices."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

UNDER = [f"valor_cli/{one}/**/*.py" for one in ("evaluators", "data", "pipeline", "statistics")]
TESTS = [
    f"tests/{one}"
    for one in ("evaluators", "data", "pipeline", "statistics", "cli", "config", "reports")
]
MARKS = "not browser and not slow and not scale and not models and not local_model and not export"


def main() -> None:
    """Record which tests run which lines, unless it is done; try mutants; print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--record", type=Path, default=Path("build/mutants"))
    parser.add_argument("--size", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--under", nargs="+", default=UNDER, help="patterns of files")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files and folders")
    parser.add_argument("--again", type=Path, help="only those of these results that survived")
    parser.add_argument("--killed", action="store_true", help="of --again those that were killed")
    parser.add_argument("--out", type=Path, default=Path("build/mutants.jsonl"))
    asked = parser.parse_args()
    record = asked.record.resolve()
    earlier = _rows(asked.again) if asked.again else []
    wanted = "killed" if asked.killed else "survived"
    settings = {
        "record": str(record), "size": asked.size, "seed": asked.seed, "under": asked.under,
        "processes": asked.processes,
        "only": [(one["path"], one["index"]) for one in earlier if one["outcome"] == wanted],
    }  # fmt: skip
    if not any(record.glob("*.json")):
        record.mkdir(parents=True, exist_ok=True)
        options = (f"-n{asked.processes}", "--dist", "worksteal", *asked.tests)
        _pytest({**settings, "record_only": True}, *options)
    for old in record.glob("results.*.jsonl"):
        old.unlink()
    _pytest({**settings, "record_only": False}, *asked.tests)
    rows = [row for one in sorted(record.glob("results.*.jsonl")) for row in _rows(one)]
    asked.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for name in ("/".join(row["path"].split("/")[1:3]), "~ all"):
            counts[name][row["outcome"]] += 1
    kinds = ("killed", "survived", "no test")
    lines = [f"| package | {' | '.join(kinds)} |", "|---|--:|--:|--:|"]
    for name, count in sorted(counts.items()):
        lines.append(f"| {name} | {' | '.join(str(count[kind]) for kind in kinds)} |")
    sys.stdout.write("\n".join(lines) + "\n")


def _pytest(settings: dict[str, object], *options: str) -> None:
    options = ("-p", "tests.mutants.plugin", "-p", "no:cacheprovider", "-m", MARKS, *options)
    command = [sys.executable, "-m", "pytest", *options]
    environment = os.environ | {"MUTANTS": json.dumps(settings)}
    subprocess.run(command, env=environment, check=False)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
