"""Commands in; what whole processes cost, in rotation, as a table of medians and ratios out."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one run cost."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    printed: str = ""


def rotate(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Cost]]:
    """A B C A B C …, so that a machine that slows down slows all alike.

    The first round warms up and is not counted.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            found = cost(command)
            if number:
                costs[name].append(found)
    return costs


def cost(command: list[str]) -> Cost:
    """Run a command from start to exit, imports included."""
    # Told not to write bytecode, Python would compile a checkout anew in every run, and of what is
    # installed nothing.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )
    assert child.stdout is not None
    assert child.stderr is not None
    # What either prints fits a pipe.
    printed, talk = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{talk}")
    wall = time.perf_counter() - started
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, printed)


def print_table(costs: dict[str, list[Cost]]) -> None:
    """Medians; ratios to the first command, of the same rounds."""
    first, *_ = costs.values()
    print(f"{'':28}{'cpu s':>9}{'wall s':>9}{'peak MiB':>10}{'cpu ratio':>11}{'peak ratio':>12}")
    for name, runs in costs.items():
        cpu, wall, peak = (
            statistics.median(getattr(run, field) for run in runs)
            for field in ("cpu_s", "wall_s", "peak_mib")
        )
        ratio = statistics.median(
            run.cpu_s / base.cpu_s for run, base in zip(runs, first, strict=True)
        )
        memory = peak / statistics.median(base.peak_mib for base in first)
        print(f"{name:28}{cpu:9.2f}{wall:9.2f}{peak:10.0f}{ratio:11.2f}{memory:12.2f}")
