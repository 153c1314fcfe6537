"""One data set, however it is cut, compressed, shuffled and worked on: the same results, to the
byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.same_bytes import (
    PIECE_BYTES,
    Layout,
    Told,
    assert_same,
    files_of,
    in_any_order,
    lay_out,
    told,
)
from tests.scale.cases import CASES
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.evaluators.classification.load import streaming as classification_streaming
from valor_cli.evaluators.detection.load import streaming as detection_streaming

ROOT = Path(__file__).parents[2]

PIECE = 1500
"""Bytes: inputs of tens of thousands become tens of pieces."""

ONE_FILE = Layout()
IN_ORDER = Layout(shards=6, ending=".zst")
SHUFFLED = Layout(shards=7, shuffled=True, ending=".gz")

WAYS: dict[str, tuple[Layout, tuple[str, ...], int | None]] = {
    "jobs": (ONE_FILE, ("--jobs", "2"), None),
    "pieces": (ONE_FILE, (), PIECE),
    "shards": (IN_ORDER, (), PIECE),
    "shuffled": (SHUFFLED, ("--jobs", "2"), PIECE),
}
"""Of each: how the inputs stand in files, options, and where they are cut."""

IN_RANGES = ("classes_jsonl", "classes_jsonl_sums", "boxes_coco", "masks_coco", "texts_csv")
"""Of every way to stream a case, whose ranges are counted: else nothing says anything of it."""

QUICK = (
    *IN_RANGES,
    *("classes_csv_long", "classes_csv_bare", "classes_csv_sums", "classes_keys_sums"),
    *("boxes_jsonl", "boxes_csv", "texts_jsonl_alone", "label_maps", "label_map_folders"),
)
"""Of every reader and every kind of evidence a case: what every run of the tests cuts."""

MORTAL = """
import os, signal, sys

def die(event, arguments):
    if event != "pickle.find_class" or os.environ["VALOR_DIES_AT"] not in ".".join(arguments):
        return
    if os.getpid() == int(os.environ["VALOR_LIVES"]):
        return
    try:
        os.close(os.open(os.environ["VALOR_DIED"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)

os.environ.setdefault("VALOR_LIVES", str(os.getpid()))
sys.addaudithook(die)
"""
"""A `sitecustomize`: of all processes of a run but the first, one dies when it is handed work."""

OF_EVERY_KIND = ("classes_csv_wide", "boxes_coco", "masks_coco", "texts_jsonl_alone", "label_maps")
"""Of every kind of evidence a case: where a worker dies."""

SHUFFLED_QUICKLY = tuple(name for name in OF_EVERY_KIND if name != "boxes_coco")
"""What every run of the tests shuffles: masks have all that boxes have."""

Baseline = Callable[[str], Told]

SCALE = pytest.mark.scale


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are evaluated in several ranges, however few there are."""
    monkeypatch.setattr(classification_streaming, "RANGE_ROWS", 25)
    monkeypatch.setattr(detection_streaming, "RANGE_OBJECTS", 30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every run has its inputs: paths are the same in all of them."""
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def baseline(folder: Path) -> Baseline:
    """What one process says of one file, by case; found once."""
    known: dict[str, Told] = {}

    def of(name: str) -> Told:
        if name not in known:
            known[name] = told(lay_out(CASES[name](), folder / name))
        return known[name]

    return of


def compared(name: str, layout: Layout, one: Told, other: Told) -> None:
    """Two runs of a case said the same, as far as its rows have no order that means something."""
    case = CASES[name]()
    if layout.shuffled and case.ordered:
        one, other = in_any_order(one), in_any_order(other)
    assert_same(one, other, ids=layout == ONE_FILE or not case.numbered)


def entries() -> Iterator[object]:
    """Every case, each way; most of them are for `make test-scale`."""
    quickly = {"pieces": QUICK, "shuffled": SHUFFLED_QUICKLY}
    for name in CASES:
        for way in WAYS:
            quick = name in quickly.get(way, ())
            marks = [] if quick else [SCALE]
            yield pytest.param(name, way, marks=marks, id=f"{name}-{way}")


@pytest.mark.parametrize(("name", "way"), [*entries()])
def test_without_a_cluster(
    name: str, way: str, folder: Path, baseline: Baseline, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, arguments, piece_bytes = WAYS[way]
    expected = baseline(name)
    config = lay_out(CASES[name](), folder / name, layout, seed=3)
    watched = way == "pieces" and name in IN_RANGES
    ranges = ranges_of(config, monkeypatch) if watched else []
    compared(name, layout, expected, told(config, *arguments, piece_bytes=piece_bytes))
    assert len(ranges) > 2 or not watched


def ranges_of(config: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The ranges of units that runs of the task evaluate in this process from now on."""
    task = catalogue.task(load_config(config, catalogue).task)
    assert task.stream is not None
    ranges: list[object] = []

    def noted(ground: object, span: object, parts: object) -> object:
        ranges.append(span)
        return load(ground, span, parts)

    stream = task.stream()
    load = stream.load
    watched = replace(stream, load=noted)
    # What the inputs hold would choose a task without it.
    own = replace(task, stream=lambda: watched, variant=None)
    monkeypatch.setitem(catalogue.TASKS, task.name, lambda: own)
    return ranges


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        pytest.param("boxes_coco", SHUFFLED),
        pytest.param("boxes_coco", IN_ORDER, marks=SCALE),
        pytest.param("boxes_jsonl", SHUFFLED, marks=SCALE),
        pytest.param("boxes_jsonl", IN_ORDER),
        pytest.param("boxes_csv", SHUFFLED),
        pytest.param("boxes_csv", IN_ORDER, marks=SCALE),
    ],
)
def test_positions_stand_for_ids_of_the_same_files(
    name: str, layout: Layout, tmp_path: Path
) -> None:
    # Those of one file are compared above.
    config = lay_out(CASES[name](), tmp_path, layout, seed=7)
    assert_same(told(config), told(config, piece_bytes=PIECE))


def processes(
    config: Path, folder: Path, *arguments: str, dies_at: str
) -> subprocess.CompletedProcess[str]:
    """`valor evaluate` as a user runs it; one of its workers dies when it is handed work.

    Args:
        config: The config.
        folder: Where it is noted that one died.
        arguments: Further ones of the command line.
        dies_at: What the name of a function or class in the work holds.
    """
    (folder / "sitecustomize.py").write_text(MORTAL)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    environment |= {"VALOR_DIES_AT": dies_at, "VALOR_DIED": str(folder / "died")}
    environment |= {PIECE_BYTES: str(PIECE)}
    out = str(config.parent / "out")
    program = [sys.executable, "-W", "error", "-m", "valor_cli", "evaluate", str(config)]
    return subprocess.run(
        [*program, "--out", out, "--format", "json", "-q", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )


def assert_survived(
    name: str, baseline: Baseline, folder: Path, tmp_path: Path, *arguments: str
) -> None:
    """A run in which a worker dies says what one says in which none does."""
    expected = baseline(name)
    config = lay_out(CASES[name](), folder / name, SHUFFLED, seed=4)
    done = processes(config, tmp_path, *arguments, dies_at="valor_cli.evaluators")
    assert done.returncode == expected.code, done.stderr
    assert (tmp_path / "died").exists()
    compared(name, SHUFFLED, expected, Told(done.returncode, files_of(config.parent / "out")))


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_EVERY_KIND)
def test_a_process_that_dies_changes_nothing(
    name: str, baseline: Baseline, folder: Path, tmp_path: Path
) -> None:
    assert_survived(name, baseline, folder, tmp_path, "--jobs", "2")


@pytest.fixture(scope="module", params=[2, 3])
def scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a cluster of so many processes of this machine."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=request.param,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    ) as cluster:
        yield cluster.scheduler_address


@SCALE
@pytest.mark.parametrize("name", CASES)
def test_on_a_cluster(name: str, scheduler: str, folder: Path, baseline: Baseline) -> None:
    expected = baseline(name)
    for layout in (ONE_FILE, SHUFFLED):
        config = lay_out(CASES[name](), folder / name, layout, seed=5)
        arguments = ("--engine", "dask", "--scheduler", scheduler)
        compared(name, layout, expected, told(config, *arguments, piece_bytes=PIECE))


@SCALE
@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("name", ["classes_csv_wide", "boxes_coco_anywhere", "texts_jsonl"])
def test_on_a_cluster_of_its_own(name: str, jobs: int, folder: Path, baseline: Baseline) -> None:
    config = lay_out(CASES[name](), folder / name, IN_ORDER, seed=6)
    arguments = ("--engine", "dask", "--jobs", str(jobs))
    compared(name, IN_ORDER, baseline(name), told(config, *arguments, piece_bytes=PIECE))


@SCALE
@pytest.mark.parametrize("name", OF_EVERY_KIND)
def test_a_worker_that_dies_changes_nothing(
    name: str, baseline: Baseline, folder: Path, tmp_path: Path
) -> None:
    assert_survived(name, baseline, folder, tmp_path, "--engine", "dask", "--jobs", "3")
