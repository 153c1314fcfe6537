"""Show the cases of the corpus whose outcome changed; `--update` stores the new outcomes.

python -m tests.data.corpus [--update] [SHAPE ...]
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.data.corpus.reader import (
    FOLDER,
    OUTCOME,
    SHAPES,
    Case,
    cases,
    changed,
    line_of,
    updated,
)


def main() -> int:
    """Print what changed, and write it if asked to."""
    parser = argparse.ArgumentParser(prog="python -m tests.data.corpus", description=__doc__)
    parser.add_argument("shapes", nargs="*", choices=[*SHAPES, []], metavar="SHAPE")
    parser.add_argument("--update", action="store_true", help="store the new outcomes")
    options = parser.parse_args()
    total = 0
    for shape in options.shapes or SHAPES:
        with TemporaryDirectory() as folder:
            now = {case["name"]: found for case, found in changed(shape, Path(folder))}
        every = cases(shape)
        for case in every:
            if case["name"] in now:
                show(shape, case, now[case["name"]])
        total += len(now)
        if now and options.update:
            lines = [line_of(updated(case, now.get(case["name"]))) + "\n" for case in every]
            (FOLDER / f"{shape}.jsonl").write_text("".join(lines), encoding="utf-8")
    done = "updated" if options.update else "changed"
    sys.stdout.write(f"{total} cases {done}\n")
    return int(total > 0 and not options.update)


def show(shape: str, case: Case, now: Case) -> None:
    """Print the outcome of a case as it was and as it is."""
    then = {key: case[key] for key in OUTCOME if key in case}
    sys.stdout.write(f"{shape}: {case['name']}\n")
    lines = (json.dumps(one, ensure_ascii=False, indent=1).splitlines() for one in (then, now))
    for line in list(difflib.unified_diff(*lines, lineterm="", n=0))[2:]:
        if not line.startswith("@@"):
            sys.stdout.write(f"  {line}\n")


if __name__ == "__main__":
    sys.exit(main())
