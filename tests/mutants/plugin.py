"""A plugin of pytest: records which lines each test runs, or tries mutants instead."""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import random
import select
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from math import inf
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.operators import Place, places

ASKED = json.loads(os.environ["MUTANTS"])
RECORD = Path(ASKED["record"])
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
SECONDS_OF_TESTS, HARD_LIMIT, SLOW_TEST = 10.0, 40.0, 15.0

seconds: dict[str, float] = defaultdict(float)
failed: set[str] = set()
recorder = coverage.Coverage(RECORD / f"{WORKER}.coverage", source=["valor_cli"], messages=False)


def pytest_collection_finish() -> None:
    """Record what tests run, not what imports do."""
    if WORKER:
        recorder.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record under the test's name."""
    if WORKER:
        recorder.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long each test takes, and which do not pass."""
    seconds[report.nodeid] += report.duration
    if not report.passed:
        failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the record of this process."""
    if WORKER:
        recorder.stop()
        recorder.save()
        # What fails by itself says nothing of a mutant: never quick enough to be tried.
        took = {name: inf if name in failed else each for name, each in seconds.items()}
        (RECORD / f"{WORKER}.json").write_text(json.dumps(took), encoding="utf-8")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Try the sampled mutants in two processes, each mutant in a child of its own."""
    if ASKED["record_only"]:
        return None
    sample = _sample()
    for path in {path for path, _ in sample}:
        with suppress(ImportError):
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
    gc.unfreeze()
    functions = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            code = one.__code__
            functions[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    tests = _tests(session.items, sample)
    gc.freeze()
    workers = []
    for number in range(ASKED["processes"]):
        if not (worker := os.fork()):
            with (RECORD / f"results.{number}.jsonl").open("w", encoding="utf-8") as out:
                for at in range(number, len(sample), ASKED["processes"]):
                    row = _tried(*sample[at], functions, tests[at], RECORD / f"files.{number}")
                    print(json.dumps(row), file=out, flush=True)
            os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    return True


def _sample() -> list[tuple[str, int]]:
    """The mutants named; else as many as asked of all, by the seed."""
    if ASKED["only"]:
        return [(path, index) for path, index in ASKED["only"]]
    files = sorted(one for under in ASKED["under"] for one in Path().glob(under))
    found = [(str(one), at) for one in files for at, _ in enumerate(places(_parsed(one)))]
    return random.Random(ASKED["seed"]).sample(found, min(ASKED["size"], len(found)))


def _parsed(path: str | Path) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _tests(items: list[pytest.Item], sample: list[tuple[str, int]]) -> list[list[pytest.Item]]:
    """For each mutant the tests that run its lines: nearest to its file first, then the quick."""
    by_name = {item.nodeid: item for item in items}
    for one in RECORD.glob("*.json"):
        seconds.update(json.loads(one.read_text(encoding="utf-8")))
    # Never used after a fork: it would then empty its file.
    records = [coverage.CoverageData(one) for one in RECORD.glob("*.coverage")]
    every = []
    for path, index in sample:
        place = list(places(_parsed(path)))[index]
        names: set[str] = set()
        for record in records:
            record.read()
            by_line = record.contexts_by_lineno(os.path.abspath(path))
            lines = [line for line in place.lines if line in by_line] or [place.statement.lineno]
            names.update(name for line in lines for name in by_line.get(line, ()))
        near = {one: _nearness(path, one) for one in by_name}
        # Tests that came since, of the same package.
        names.update(one for one in near if one not in seconds and near[one] > 2)
        known = [one for one in names if one in near and seconds.get(one, 0.5) < SLOW_TEST]
        known.sort(key=lambda one: (-near[one], seconds.get(one, 0.5), one))
        total, chosen = 0.0, []
        for one in known:
            total += seconds.get(one, 0.5)
            if not chosen or total < SECONDS_OF_TESTS:
                chosen.append(by_name[one])
        every.append(chosen)
    return every


def _nearness(path: str, test: str) -> int:
    """How many folders, and the file's name, a test shares with the code."""
    mirror = test.split("::")[0].replace("tests/", "valor_cli/", 1).replace("/test_", "/")
    pairs = zip(path.split("/"), mirror.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _tried(
    path: str, index: int, functions: Any, tests: list[pytest.Item], files: Path
) -> dict[str, Any]:
    """Run the tests of a mutant in a process of its own, until one fails."""
    tree = _parsed(path)
    place = list(places(tree))[index]
    row = {"path": path, "index": index, "line": place.lines[0], "fault": place.fault}
    place.apply()
    row["function"], row["after"] = place.function, ast.unparse(place.statement).split("\n")[0]
    code = _code(compile(ast.fix_missing_locations(tree), path, "exec"), place)
    originals = functions[os.path.abspath(path), place.function, place.first_line]
    row["tests"] = len(tests)
    if not code or not originals or originals[0].__code__.co_freevars != code.co_freevars:
        return row | {"outcome": "not applicable"}
    if not tests:
        return row | {"outcome": "no test"}
    began = time.monotonic()
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        for one in originals:
            one.__code__ = code
        _run(tests, writing, files)
    os.close(writing)
    ready = select.select([reading], [], [], HARD_LIMIT)[0]
    answer = os.read(reading, 4096).decode() if ready else "timeout"
    os.close(reading)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    outcome = "survived" if answer == "passed" else "killed"
    return row | {"outcome": outcome, "by": answer, "seconds": round(time.monotonic() - began, 2)}


def _code(module: CodeType, place: Place) -> CodeType | None:
    for one in module.co_consts:
        if isinstance(one, CodeType):
            if (one.co_qualname, one.co_firstlineno) == (place.function, place.first_line):
                return one
            if place.function.startswith(f"{one.co_qualname}.") and (found := _code(one, place)):
                return found
    return None


def _run(items: list[pytest.Item], writing: int, files: Path) -> None:
    """Run tests until one fails, and write which; never returns."""
    quiet = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(quiet, one)
    items[0].config._tmp_path_factory._given_basetemp = files  # type: ignore[attr-defined]
    answer = ""
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            if any(one.failed for one in runtestprotocol(item, nextitem=following, log=False)):
                answer = item.nodeid
                break
        else:
            answer = "passed"
    finally:
        os.write(writing, answer.encode()[:4000])
        os._exit(0)
