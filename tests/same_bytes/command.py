"""Run the corpus, and say which rows of which case are not what they were.

python -m tests.same_bytes [--update] [--only TEXT]
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple
from unittest.mock import patch

from tests.engines import computing
from tests.same_bytes import PIECE_BYTES, files_of
from tests.same_bytes.corpus import Case, Run, Way, corpus
from tests.same_bytes.layouts import ROOT
from tests.same_bytes.record import Record, differences, recorded, rows_in, written
from valor_cli.cli.app import _called
from valor_cli.errors import ValorError
from valor_cli.evaluators.classification.load import streaming as classification_streaming
from valor_cli.evaluators.detection.load import streaming as detection_streaming

FOLDER = Path(__file__).parent
HASHES = FOLDER / "hashes.txt"
EXPECTED = FOLDER / "expected"

PIECE = 1500
"""Bytes: inputs of tens of thousands become tens of pieces."""

LISTED = 40
"""Rows of a case that are listed, before the rest is counted."""


class Told(NamedTuple):
    """What the ways of one run said.

    Attributes:
        case: Name of the case.
        run: Name of the run.
        records: By way.
        seconds: Of processor time, and so on.
    """

    case: str
    run: str
    records: Mapping[str, Record]
    seconds: float


def told(name: str, run_name: str, ways: int | None = None) -> Told:
    """One run in the first of its ways, or in all."""
    started = time.process_time()
    case = corpus()[name]
    run = case.runs[run_name]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        if run.lay_out is not None:
            run.lay_out()
            Path("run.yaml").write_text(run.config, encoding="utf-8")
        records = {str(way): _record(case, run, way, Path(folder)) for way in run.ways[:ways]}
    return Told(name, run_name, records, time.process_time() - started)


def _record(case: Case, run: Run, way: Way, folder: Path) -> Record:
    out = folder / "out"
    rmtree(out, ignore_errors=True)
    config = "run.yaml"
    if run.lay_out is None:
        os.chdir(ROOT)
        config = run.config
    asked = ["evaluate", config, "--out", str(out), "--format", "json", "-q"]
    asked += ["--jobs", str(way.jobs)]
    environment = {"VALOR_CACHE_DIR": str(folder / "cache"), "VALOR_KERNEL": way.kernel}
    environment["NO_COLOR"] = "1"
    with ExitStack() as stack:
        if way.pieces:
            environment[PIECE_BYTES] = str(PIECE)
            # Units are evaluated in several ranges, however few there are.
            stack.enter_context(patch.object(classification_streaming, "RANGE_ROWS", 25))
            stack.enter_context(patch.object(detection_streaming, "RANGE_OBJECTS", 30))
        stack.enter_context(patch.dict(os.environ, environment))
        stack.enter_context(computing(compiled=way.kernel == "compiled"))
        said = stack.enter_context(redirect_stderr(io.StringIO()))
        stack.enter_context(redirect_stdout(said))
        try:
            if run.baseline:
                Path("before.yaml").write_text(run.baseline, encoding="utf-8")
                before = ["evaluate", "before.yaml", "--out", "before", "--format", "json", "-q"]
                _called(before)(before, prog_name="valor", standalone_mode=False)
                asked += ["--baseline", "before"]
            code = _called(asked)(asked, prog_name="valor", standalone_mode=False)
        except ValorError as error:
            return recorded(error.exit_code, {}, str(error))
        except Exception as error:
            # The other runs go on; this one is named.
            return recorded(-1, {}, f"{type(error).__name__}: {error}")
    rmtree(folder / "cache", ignore_errors=True)
    text = said.getvalue().replace(str(out), "OUT")
    return recorded(int(code or 0), files_of(out), text, digits=case.digits, ids=case.ids)


def all_told(cases: Iterable[Case], processes: int, *, first: bool = False) -> list[Told]:
    """The runs of some cases, in several processes; of each the first in one way, or all."""
    one = 1 if first else None
    asked = [(case.name, run, one) for case in cases for run in list(case.runs)[:one]]
    # The largest first: the shipped configs.
    asked.sort(key=lambda run: not run[0].startswith("configs/"))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(told, *zip(*asked, strict=True)))


def hashes_in(text: str) -> dict[str, str]:
    """By case, the hash of what it says."""
    return dict(line.rsplit(" ", 1) for line in text.splitlines())  # type: ignore[misc]


def path_of(case: str) -> Path:
    """Where the rows of a case are kept."""
    return EXPECTED / f"{case}.txt"


def compared(told: Sequence[Told], hashes: Mapping[str, str]) -> tuple[set[str], list[str]]:
    """The cases of which a run said something else than is kept, and lines on what."""
    failed: set[str] = set()
    lines: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for one in told:
        for way, record in one.records.items():
            if record.hash == hashes.get(one.case):
                continue
            failed.add(one.case)
            place = f"{one.case} ({one.run}, {way})"
            if (one.case, record.hash) in seen:
                lines.append(f"{place}: as {seen[one.case, record.hash]}")
                continue
            seen[one.case, record.hash] = f"({one.run}, {way})"
            lines += _named(place, one.case, record)
    return failed, lines


def _named(place: str, case: str, record: Record) -> list[str]:
    path = path_of(case)
    if not path.exists():
        return [f"{place}: added: nothing is kept of this case"]
    found = differences(rows_in(path.read_text(encoding="utf-8")), record.rows)
    if not found:
        return [f"{place}: changed: the order of rows or how they are written; no row differs"]
    more = [f"{place}: … {len(found) - LISTED} more rows"] * (len(found) > LISTED)
    return [*(f"{place}: {line}" for line in found[:LISTED]), *more]


def update(told: Sequence[Told], hashes: Mapping[str, str], known: Iterable[str]) -> None:
    """Keep what was said, and drop what is kept of cases that are no more."""
    kept = {case: one for case, one in hashes.items() if case in set(known)}
    for case in set(hashes) - set(kept):
        path_of(case).unlink(missing_ok=True)
    for one in told:
        record = next(iter(one.records.values()))
        kept[one.case] = record.hash
        path_of(one.case).parent.mkdir(parents=True, exist_ok=True)
        path_of(one.case).write_text(written(record), encoding="utf-8")
    HASHES.write_text("".join(f"{case} {kept[case]}\n" for case in sorted(kept)), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command; 1 where anything differs."""
    parser = argparse.ArgumentParser("python -m tests.same_bytes", description=__doc__)
    parser.add_argument("--update", action="store_true", help="keep what the runs say now")
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--times", action="store_true", help="processor seconds of each run")
    wish = parser.parse_args(arguments)
    os.environ.pop("PREDICTIONS", None)
    cases = [case for name, case in corpus().items() if wish.only in name]
    # Of what is kept the other formats, kernels, processes and pieces have no say: they follow.
    found = all_told(cases, wish.processes, first=wish.update)
    if wish.times:
        slowest = sorted(found, key=lambda one: -one.seconds)
        _say(f"{one.seconds:6.2f} s {one.case} ({one.run})" for one in slowest)
    hashes = hashes_in(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {}
    if wish.update:
        update(found, hashes, corpus())
        _say([f"{len(cases)} cases kept; what changed: git diff {EXPECTED.relative_to(ROOT)}"])
        return 0
    failed, lines = compared(found, hashes)
    for name in sorted(set(hashes) - set(corpus())):
        failed.add(name)
        lines.append(f"{name}: removed: no such case")
    runs = sum(len(one.records) for one in found)
    count = len({case.name for case in cases} | failed)
    said = f"{count} cases, {count - len(failed)} passed, {len(failed)} failed ({runs} runs)"
    _say([*lines, said])
    return bool(failed)


def _say(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
