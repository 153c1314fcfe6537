"""Clusters that the tests start: schedulers and workers as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]

WITHOUT_PACKAGE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "valor_cli":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""

OTHER_VERSION = """
import importlib.metadata as metadata
installed = metadata.version
metadata.version = lambda name: "1.26.4" if name == "numpy" else installed(name)
import valor_cli
valor_cli.__version__ = "0.0.9"
"""

OTHER_SOURCES = """
import valor_cli.pipeline.executor.cluster_versions as versions
versions.fingerprint = lambda: "0123456789ab"
"""

_SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
_WORKER = "from distributed.cli.dask_worker import main; main()"


class Cluster:
    """A scheduler, and workers that nobody starts again.

    Attributes:
        address: Of the scheduler.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        file = folder / "scheduler.json"
        options = ("--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file))
        self.scheduler = self._started(_SCHEDULER, "--host", "127.0.0.1", *options)
        self.workers: list[subprocess.Popen[bytes]] = []
        until(file.exists)
        until(lambda: file.read_text() != "")
        self.address = str(json.loads(file.read_text())["address"])

    def add(self, before: str = "") -> subprocess.Popen[bytes]:
        """A worker more, which begins with some lines of Python; it may still be on its way."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        where = ("--local-directory", str(self.folder), "--host", "127.0.0.1")
        self.workers.append(self._started(before + _WORKER, self.address, *options, *where))
        return self.workers[-1]

    def _started(self, script: str, *options: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{time.monotonic_ns()}.log").open("wb")
        with log:
            # Workers stand in a folder of their own: relative paths are the client's.
            return subprocess.Popen(
                [sys.executable, "-c", script, *options],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        for one in (*self.workers, self.scheduler):
            one.kill()
            one.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A scheduler with workers, which end with the block."""
    found = Cluster(folder)
    try:
        for _ in range(workers):
            found.add()
        yield found
    finally:
        found.stop()


def until(claim: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for what processes do; how long it takes is theirs."""
    end = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > end:
            raise AssertionError("this has not come about")
        time.sleep(0.02)


def is_running(process: int) -> bool:
    """Whether a process is there, and not one that has ended and waits for its parent."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
