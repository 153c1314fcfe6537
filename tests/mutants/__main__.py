"""`python -m tests.mutants record|run`: which tests run which lines; whether faults fail a test."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

UNDER = [f"valor_cli/{one}" for one in ("evaluators", "data", "pipeline", "statistics")]
WITHOUT = ["valor_cli/evaluators/judge", "valor_cli/evaluators/own", "valor_cli/pipeline/inference"]
TESTS = [
    f"tests/{one}"
    for one in ("evaluators", "data", "pipeline", "statistics", "cli", "config", "reports")
]
MARKS = "not browser and not slow and not scale and not models and not local_model and not export"


def main() -> int:
    """Record, or try a sample of mutants and print the table of packages."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("step", choices=["record", "run"])
    parser.add_argument("--record", type=Path, default=Path(".mutants"))
    parser.add_argument("--size", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", nargs="+", default=UNDER)
    parser.add_argument("--again", type=Path, help="try the survivors of these results again")
    parser.add_argument("--out", type=Path, help="where the results go")
    asked = parser.parse_args()
    asked.record.mkdir(exist_ok=True)
    record = asked.record.resolve()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", MARKS, *TESTS]
    if asked.step == "record":
        for old in record.iterdir():
            old.unlink()
        environment = os.environ | {"MUTANTS_RECORD": str(record)}
        recording = ["-p", "tests.mutants.recording", "-n2", "--dist", "worksteal"]
        return subprocess.run([*command, *recording], env=environment).returncode
    only = _rows(asked.again) if asked.again else []
    settings = {
        "record": str(record), "size": asked.size, "seed": asked.seed, "under": asked.under,
        "without": WITHOUT, "processes": 2,
        "only": [(row["path"], row["index"]) for row in only if row["outcome"] == "survived"],
    }  # fmt: skip
    environment = os.environ | {"MUTANTS": json.dumps(settings)}
    running = ["-p", "tests.mutants.running", "-p", "no:terminal"]
    subprocess.run([*command, *running], env=environment, check=False)
    from tests.mutants.running import summary

    rows = [row for one in sorted(record.glob("results.*.jsonl")) for row in _rows(one)]
    if asked.out:
        asked.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print("| package | mutants | killed | survived | no test |\n|---|--:|--:|--:|--:|")
    print("\n".join(summary(rows)))
    return 0


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
