"""What is kept of the runs of the corpus, and how a run that says something else is told of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.same_bytes import command
from tests.same_bytes.command import EXPECTED, HASHES, Told, compared, hashes_in, path_of, update
from tests.same_bytes.corpus import corpus
from tests.same_bytes.record import Record, differences, recorded, rows_in, written
from valor_cli import catalogue
from valor_cli.data.formats import tables
from valor_cli.data.inputs import label_maps
from valor_cli.data.inputs import objects as formats

OTHERS = {"cvat", "dota", "kitti", "labelme", "label_studio", "open_images", "json"}
"""Formats that are read by the same code as VOC, most of them without predictions, and JSON, which
has to be named."""

HASH = re.compile("#[0-9a-f]{6}")
ROW = {"metric": "recall", "output": "value", "model": "m", "label": "cat", "slice": None}
FORMATS = {
    ("classification",): tables.FORMATS,
    ("object_detection", "instance_segmentation"): formats.FORMATS,
    ("semantic_segmentation",): get_args(label_maps.Format),
    ("text_generation",): tables.FORMATS,
}
"""What readers know, by the tasks that have it."""


def results(*rows: dict[str, Any], **more: Any) -> bytes:
    document = {"schema_version": 1, "run": {"duration_s": 0.1}, "metrics": list(rows), **more}
    return json.dumps(document, indent=1).encode()


def row(value: float | None, label: str = "cat", **more: Any) -> dict[str, Any]:
    return {**ROW, "label": label, "parameters": {"k": 3}, "value": value, **more}


def record(content: bytes, **more: Any) -> Record:
    return recorded(0, {"results.json": content}, "", **more)


def changes(before: bytes, now: bytes) -> list[str]:
    return differences(rows_in(written(record(before))), record(now).rows)


def test_every_case_is_kept_and_no_other() -> None:
    assert set(hashes_in(HASHES.read_text(encoding="utf-8"))) == set(corpus())
    assert {path_of(name) for name in corpus()} == set(EXPECTED.rglob("*.txt"))


def test_only_what_is_at_fault_is_refused() -> None:
    for name in corpus():
        code = rows_in(path_of(name).read_text(encoding="utf-8"))["run", "exit code"]
        # Crashes are -1, and a gate that failed is 1.
        assert (code == "2") == ("/invalid_error" in name), name
        assert code in "0123", name


def test_every_format_that_readers_know_has_a_case() -> None:
    assert {task for tasks in FORMATS for task in tasks} == set(catalogue.TASKS)
    for tasks, known in FORMATS.items():
        own = [case for name, case in corpus().items() if name.split("/")[0] in tasks]
        assert {run.split()[0] for case in own for run in case.runs} >= set(known) - OTHERS


def test_every_task_has_all_ways_intervals_slices_gates_and_faults() -> None:
    for task in catalogue.TASKS:
        runs = [
            run
            for name, case in corpus().items()
            if name.startswith(f"{task}/")
            for run in case.runs.values()
        ]
        assert {(way.kernel, way.jobs, way.pieces) for run in runs for way in run.ways} == {
            (kernel, jobs, pieces)
            for kernel in ("compiled", "numpy")
            for jobs in (1, 2)
            for pieces in (False, True)
        }
        for key in ("interval:", "slices:", "gates:", "filter:", "on_invalid: skip"):
            assert any(key in run.config for run in runs), (task, key)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            results(row(0.25), row(1.0, "dog")),
            'changed: metrics recall {"k": 3} · m label=cat: 0.5 # -> 0.25 #',
        ),
        (
            results(row(0.5, n=3), row(1.0, "dog")),
            'changed: metrics recall {"k": 3} · m label=cat: 0.5, in what is not shown',
        ),
        (results(row(0.5)), 'removed: metrics recall {"k": 3} · m label=dog: 1.0 #'),
        (
            results(row(0.5), row(1.0, "dog"), row(0.0, "eel")),
            'added: metrics recall {"k": 3} · m label=eel: 0.0 #',
        ),
        (
            results(row(0.5), row(1.0, "dog"), warnings=["so"]),
            'added: warnings · 1: "so" #',
        ),
    ],
)
def test_a_row_that_changed_is_named(now: bytes, expected: str) -> None:
    (line,) = changes(results(row(0.5), row(1.0, "dog")), now)
    assert HASH.sub("#", line) == expected


def test_what_is_of_the_run_alone_is_left_out() -> None:
    one = results(row(0.5))
    other = one.replace(b"0.1", b"17.25")
    assert one != other
    assert record(one) == record(other)


def test_any_other_byte_counts() -> None:
    one = results(row(0.5))
    other = one.replace(b"0.5", b"0.50")
    assert record(one).hash != record(other).hash
    assert changes(one, other) == []


def test_rounded_numbers_that_are_nearly_the_same() -> None:
    one, other, third = (results(row(value)) for value in (0.123456, 0.1234561, 0.1235))
    assert record(one, digits=5) == record(other, digits=5)
    assert record(one, digits=5) != record(third, digits=5)


def test_ids_of_shown_objects_are_left_out_where_asked() -> None:
    def shown(number: int) -> bytes:
        return results(examples=[{"id": 1, "objects": [{"role": "prediction", "id": number}]}])

    assert record(shown(1)) != record(shown(2))
    assert record(shown(1), ids=False) == record(shown(2), ids=False)


def test_the_command_counts_and_names_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "EXPECTED", tmp_path)
    monkeypatch.setattr(command, "HASHES", tmp_path / "hashes.txt")
    before, now = record(results(row(0.5))), record(results(row(0.25)))
    kept = [Told("task/one", "csv", {"compiled": before}, 0.0)]
    update(kept, {"task/gone": "0"}, ["task/one"])
    hashes = hashes_in((tmp_path / "hashes.txt").read_text(encoding="utf-8"))
    assert hashes == {"task/one": before.hash}
    assert compared(kept, hashes) == (set(), [])
    told = [Told("task/one", "csv", {"compiled": now, "numpy": now, "pieces": before}, 0.0)]
    failed, lines = compared(told, hashes)
    assert failed == {"task/one"}
    assert lines[0].startswith("task/one (csv, compiled): changed: metrics recall ")
    assert lines[1:] == ["task/one (csv, numpy): as (csv, compiled)"]
    failed, lines = compared([Told("task/new", "csv", {"compiled": now}, 0.0)], hashes)
    assert failed == {"task/new"}
    assert lines == ["task/new (csv, compiled): added: nothing is kept of this case"]


def test_a_shipped_config_says_the_same_in_all_its_ways() -> None:
    told = command.told("configs/object_detection_pascal_voc", "shipped")
    assert len(told.records) == 2
    assert len({one.hash for one in told.records.values()}) == 1
    assert ("run", "exit code") in next(iter(told.records.values())).rows
