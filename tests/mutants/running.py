"""A plugin of pytest that, in place of all tests, runs for each mutant those that reach it."""

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
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.operators import Place, places

SETTINGS = json.loads(os.environ["MUTANTS"])
RECORD = Path(SETTINGS["record"])
SECONDS_OF_TESTS = 10.0
HARD_LIMIT = 40.0
SLOW_TEST = 6.0
Mutant = tuple[str, int]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the sampled mutants in two processes, each mutant in a child of its own."""
    sample = _sample()
    for path, _ in sample:
        try:
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
        except ImportError as problem:
            print(f"{path}: {problem}")
    gc.unfreeze()
    functions = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            code = one.__code__
            functions[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    reached = _Reached(session)
    gc.freeze()
    workers = []
    for number in range(SETTINGS["processes"]):
        if not (worker := os.fork()):
            with (RECORD / f"results.{number}.jsonl").open("w", encoding="utf-8") as out:
                for mutant in sample[number :: SETTINGS["processes"]]:
                    out.write(json.dumps(_tried(mutant, functions, reached, number)) + "\n")
                    out.flush()
            os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    return True


def _sample() -> list[Mutant]:
    """The mutants to try: as many as asked, of the files asked, by the seed; or those named."""
    if SETTINGS["only"]:
        return [tuple(one) for one in SETTINGS["only"]]
    found = []
    for path in sorted(one for under in SETTINGS["under"] for one in Path(under).rglob("*.py")):
        if not any(str(path).startswith(one) for one in SETTINGS["without"]):
            count = len(places(ast.parse(path.read_text(encoding="utf-8"))))
            found += [(str(path), index) for index in range(count)]
    size = min(SETTINGS["size"], len(found))
    return random.Random(SETTINGS["seed"]).sample(found, size)


class _Reached:
    """The tests that run a line, nearest to its file first, quick ones before slow ones."""

    def __init__(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}
        self.seconds: dict[str, float] = {}
        for one in RECORD.glob("*.json"):
            self.seconds |= json.loads(one.read_text(encoding="utf-8"))
        self.data = [coverage.CoverageData(str(one)) for one in RECORD.glob("*.coverage")]
        for one in self.data:
            one.read()

    def tests(self, path: str, place: Place) -> list[str]:
        names = set()
        for data in self.data:
            by_line = data.contexts_by_lineno(os.path.abspath(path))
            hit = [line for line in place.lines if line in by_line] or [place.statement]
            names.update(name for line in hit for name in by_line.get(line, ()))
        known = [one for one in names if self.seconds.get(one, 99) < SLOW_TEST and one in self.items]
        known.sort(key=lambda one: (-_nearness(path, one), self.seconds[one], one))
        chosen, total = [], 0.0
        for one in known:
            if chosen and total + self.seconds[one] > SECONDS_OF_TESTS:
                break
            chosen.append(one)
            total += self.seconds[one]
        return chosen


def _nearness(path: str, test: str) -> int:
    """How many folders, and the file's name, a test shares with the code."""
    mirror = test.split("::")[0].replace("tests/", "valor_cli/", 1).replace("/test_", "/")
    return len(os.path.commonprefix([path.split("/"), mirror.split("/")]))


def _tried(mutant: Mutant, functions: Any, reached: _Reached, number: int) -> dict[str, Any]:
    path, index = mutant
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    place = places(tree)[index]
    before = ast.unparse(_statement(tree, place))
    place.apply()
    after = ast.unparse(_statement(tree, place))
    row: dict[str, Any] = {
        "path": path, "index": index, "line": place.lines[0], "function": place.function,
        "fault": place.fault, "before": before, "after": after,
    }  # fmt: skip
    code = _code(compile(ast.fix_missing_locations(tree), path, "exec"), place)
    mutated = functions[os.path.abspath(path), place.function, place.first_line]
    tests = reached.tests(path, place)
    row["tests"] = len(tests)
    if code is None or not mutated or mutated[0].__code__.co_freevars != code.co_freevars:
        return row | {"outcome": "not applicable"}
    if not tests:
        return row | {"outcome": "no test"}
    began = time.monotonic()
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        for one in mutated:
            one.__code__ = code
        _run([reached.items[one] for one in tests], writing, number)
    os.close(writing)
    ready = select.select([reading], [], [], HARD_LIMIT)[0]
    answer = os.read(reading, 4096).decode() if ready else "timeout"
    os.close(reading)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)
    outcome = {"": "crash", "timeout": "timeout", "passed": "survived"}.get(answer, "killed")
    seconds = round(time.monotonic() - began, 2)
    return row | {"outcome": outcome, "by": answer, "seconds": seconds}


def _statement(tree: ast.AST, place: Place) -> ast.AST:
    """The innermost statement that holds a place, for people to read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno == place.statement:
            found = node
            if not hasattr(node, "body"):
                break
    if hasattr(found, "body"):
        bare = {name: [] for name in ("orelse", "handlers", "finalbody") if hasattr(found, name)}
        return type(found)(**{**vars(found), "body": [ast.Pass()], **bare})
    return found


def _code(module: CodeType, place: Place) -> CodeType | None:
    for one in module.co_consts:
        if isinstance(one, CodeType):
            if (one.co_qualname, one.co_firstlineno) == (place.function, place.first_line):
                return one
            if place.function.startswith(f"{one.co_qualname}.") and (found := _code(one, place)):
                return found
    return None


def _run(items: list[pytest.Item], writing: int, number: int) -> None:
    """Run tests until one fails, and say which; never returns."""
    quiet = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(quiet, one)
    answer = "error"
    try:
        factory = items[0].config._tmp_path_factory  # type: ignore[attr-defined]
        factory._given_basetemp = RECORD / f"files.{number}"
        answer = "passed"
        for item, following in zip(items, [*items[1:], None], strict=True):
            reports = runtestprotocol(item, nextitem=following, log=False)
            if any(one.failed for one in reports):
                answer = item.nodeid
                break
    finally:
        os.write(writing, answer.encode()[:4000])
        os._exit(0)


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a table: package, mutants, killed, survived, without a test."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        package = "/".join(row["path"].split("/")[1:3]).removesuffix(".py")
        for name in (package, "all"):
            counts[name][row["outcome"]] += 1
    lines = []
    for name in sorted(counts, key=lambda one: (one == "all", one)):
        count = counts[name]
        killed = count["killed"] + count["timeout"] + count["crash"]
        shown = (killed, count["survived"], count["no test"])
        lines.append(f"| {name} | {sum(shown)} | " + " | ".join(map(str, shown)) + " |")
    return lines
