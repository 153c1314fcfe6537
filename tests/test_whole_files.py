"""Temporary files: which are removed, and that bytes are on the disk before a rename."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from valor_cli.atomic_files import clear, put, temporary
from valor_cli.data.conversion.output import write_file, write_folder
from valor_cli.models.scheduler.cassette import CassetteWriter
from valor_cli.reports.writer import write_files


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_what_a_killed_run_left_is_removed_and_nothing_else(tmp_path: Path, dead: int) -> None:
    stays = [
        f".report.html.{os.getppid()}.tmp",  # of a process that is alive
        f".other.html.{dead}.tmp",
        f".report.html.{dead}",
        f"report.html.{dead}.tmp",
        ".report.html.x.tmp",
        f".results.json.{dead}.old",  # the only copy
        "report.html",
    ]
    goes = [
        f".report.html.{dead}.tmp",
        f".report.html.{os.getpid()}.tmp",
        ".report.html.9999999999.tmp",
        f".report.html.{dead}.old",
    ]
    for name in [*stays, *goes]:
        (tmp_path / name).write_text("half")
    clear(tmp_path, {"report.html", "results.json"}.__contains__)
    assert sorted(os.listdir(tmp_path)) == sorted(stays)
    clear(tmp_path / "none", "report.html".__eq__)


def test_a_run_clears_its_folder(tmp_path: Path, dead: int) -> None:
    for name in ("report.html", "samples.jsonl", "results.json"):
        (tmp_path / f".{name}.{dead}.tmp").write_text("half")
    write_files(tmp_path, {"results.json": b"{}"})
    assert os.listdir(tmp_path) == ["results.json"]


def test_every_writer_clears_what_it_left(tmp_path: Path, dead: int) -> None:
    (tmp_path / f".a.csv.{dead}.tmp").write_text("half")
    write_file(str(tmp_path / "a.csv"), b"1")
    left = tmp_path / f".labels.{dead}.tmp"
    left.mkdir()
    (left / "a.txt").write_text("half")
    write_folder(str(tmp_path / "labels"), {"a.txt": b"1"})
    (tmp_path / f".c.jsonl.{dead}.tmp").write_text("half")
    CassetteWriter(str(tmp_path / "c.jsonl")).close()
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "c.jsonl", "labels"]


def test_bytes_are_on_the_disk_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(not (tmp_path / "a").exists()))
    waiting = temporary(tmp_path / "a")
    waiting.write_bytes(b"1")
    put(waiting, tmp_path / "a")
    assert synced == [True]
    assert (tmp_path / "a").read_bytes() == b"1"
    write_files(tmp_path, {"results.json": b"{}", "report.md": b""})
    assert len(synced) == 2
