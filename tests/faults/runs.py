"""Runs of `valor` of which each has one fault, forked from a process that has imported everything.

Called as `runs.py FOLDER CALLS SEED KIND…` with faults.c loaded before libc; prints a line of JSON
for each run that does not end as it should.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from errno import EACCES, EIO, ENOSPC
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from valor_cli.cli import app
from valor_cli.pipeline import run as timed

IO, MEMORY, ARRAY, INTERRUPT = KINDS = range(4)
NAMES = ("io", "memory", "array", "interrupt")
EVERY = 200
"""Up to this point every call is made to fail, if there are so many runs."""
SECONDS = 20

faults = ctypes.CDLL(None)
faults.arm.argtypes = (ctypes.c_int, ctypes.c_long, ctypes.c_int)
faults.counted.restype = ctypes.c_long


class Clock(datetime):
    """A clock that stands still, so that reports of two runs are the same bytes."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime(2026, 1, 1, tzinfo=UTC)


timed.datetime = Clock  # type: ignore[misc]
timed.time = SimpleNamespace(perf_counter=float)  # type: ignore[assignment]


def interrupted_at(n: int) -> Any:
    """A signal at the n-th call or return of a function of Python; 0: count them."""
    at = [0]

    def profile(frame: Any, event: str, argument: Any) -> None:
        at[0] += 1
        if at[0] == n:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    return at


def child(folder: Path, kind: int, n: int, counts: Path | None) -> None:
    """In a process of its own: a run of which the n-th call of a kind fails."""
    os.setpgid(0, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
    sys.argv = ["valor", "evaluate", "run.yaml", *json.loads((folder / "options").read_text())]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    at: Any = None
    if kind == INTERRUPT:
        at = interrupted_at(n)
    else:
        faults.arm(kind, n or sys.maxsize, (EIO, ENOSPC, EACCES)[n % 3])
    try:
        app.main()
    finally:
        if counts is not None:
            sys.setprofile(None)
            counts.write_text(str(at[0] if at else faults.counted(kind)))


def ended(pid: int) -> tuple[int | None, bool]:
    """The exit code of a child, None for one that had to be killed; whether a process was left."""
    until = time.monotonic() + SECONDS
    while (done := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(done[1]) if done[0] else None
    left, until = True, time.monotonic() + 1
    while left and time.monotonic() < until:
        try:
            # What its parent left is the child of this process (a subreaper).
            left = os.waitpid(-1, os.WNOHANG)[0] == 0
            time.sleep(0.002 * left)
        except ChildProcessError:
            left = False
    if left or code is None:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(-1, 0)
    return code, left


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Runs:
    """Runs of one config.

    Attributes:
        old, new: Files before a run, and after a run without a fault.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.template = folder.parent / "before"
        self.code, self.old, self.new = 0, files(self.template), files(self.template)

    def run(self, kind: int, n: int, counts: Path | None = None) -> Iterator[dict[str, Any]]:
        """What is wrong with a run; in the forked process nothing is, and `app.main` is called."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.template, self.folder)
        os.chdir(self.folder)
        pid = os.fork()
        if pid == 0:
            child(self.folder, kind, n, counts)
        code, left = ended(pid)
        told = (self.folder.parent / "stderr").read_text(errors="replace")
        now = files(self.folder)
        if n == 0:
            self.code, self.new = code or 0, now
        wrong = list(self.wrong(kind, code, told, now)) + ["a process is left"] * left
        if wrong:
            yield {"kind": NAMES[kind], "n": n, "wrong": wrong, "code": code, "stderr": told}

    def says_why(self, now: dict[str, bytes]) -> bool:
        """Whether results say that the run was stopped, or warn and have the same values."""
        new, found = (json.loads(one["out/results.json"]) for one in (self.new, now))
        if found["run"].get("stopped_by") is not None:
            return True
        warned = len(found["warnings"]) > len(new["warnings"])
        return warned and found["metrics"] == new["metrics"]

    def wrong(self, kind: int, code: int | None, told: str, now: dict[str, bytes]) -> Iterator[str]:
        """What a run should not have done."""
        expected = {self.code, *((130,) if kind == INTERRUPT else (2, 3))}
        if kind in (MEMORY, ARRAY) and code in (-signal.SIGSEGV, -signal.SIGABRT):
            # Compiled code of others that does not look at what it allocates; files are whole.
            code, told = 2, "error: "
        if kind == MEMORY and code == 2 and "SyntaxError: " in told:
            told = "error: "  # its compiler says so
        if code not in expected:
            yield f"exit code {code}, not one of {sorted(expected)}"
        if "Traceback" in told or "bug in valor" in told:
            yield "traceback"
        messages = len(re.findall(r"^(?:error: |interrupted$)", told, re.MULTILINE))
        # An allocation of stderr itself leaves nothing to write to.
        mute = (kind == MEMORY and code == 2 and not told) or told == "lost sys.stderr\n"
        if kind == INTERRUPT and mute:
            return
        if code != self.code and messages != 1 and not mute:
            yield f"{messages} messages"
        told_why = self.says_why(now) if code in (self.code, 130) else False
        for name in sorted({*self.old, *self.new, *now}):
            states = [files.get(name) for files in (self.old, self.new)]
            if code == self.code:
                states = states[1:]
            if now.get(name) not in states and not told_why and not name.startswith("cache/"):
                yield f"{name} is {'neither old nor new' if name in now else 'gone'}"
        for name in now.keys() - self.old.keys() - self.new.keys():
            yield f"{name} is left"


def points(total: int, runs: int, seed: int) -> list[int]:
    """Which calls fail: every one of the first, then in steps; another seed, other ones.

    With as many runs as calls that is all of them.
    """
    if runs >= total:
        return list(range(1, total + 1))
    drawn = random.Random(seed)
    first = min(EVERY, runs // 2)
    start = drawn.randrange(max(1, EVERY - first + 1)) if total > EVERY else 0
    step = (total - first) / (runs - first)
    later = (first + int(step * (each + drawn.random())) + 1 for each in range(runs - first))
    return sorted({*range(start + 1, start + first + 1), *later})


def main() -> None:
    """Every run of the arguments."""
    folder, runs, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kinds = [NAMES.index(name) for name in sys.argv[4:]]
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    os.chdir(folder)
    # It imports what runs need, and what it writes are the reports of before.
    options = json.loads((folder / "options").read_text())
    sys.argv = ["valor", "evaluate", "run.yaml", "--limit", "1", "--quiet", *options]
    with contextlib.suppress(SystemExit):
        app._run()
    shutil.copytree(folder, folder.parent / "before")
    made = Runs(folder)
    say = os.fdopen(os.dup(1), "w", buffering=1)
    counts = folder.parent / "count"
    for kind in kinds:
        for fault in made.run(kind, 0, counts):
            say.write(json.dumps(fault) + "\n")
        total = int(counts.read_text())
        chosen = points(total, runs, seed)
        for n in chosen:
            for fault in made.run(kind, n):
                say.write(json.dumps(fault) + "\n")
        say.write(json.dumps({"kind": NAMES[kind], "calls": total, "runs": len(chosen)}) + "\n")


if __name__ == "__main__":
    main()
