"""Whole files and folders, or what stood there before."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from valor_cli.data.conversion.output import check_place, write_file, write_folder
from valor_cli.errors import DataError


def test_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    check_place(str(out), suffixes=(), force=False)
    write_file(str(out), b"one")
    assert os.listdir(tmp_path) == ["out.csv"]
    with pytest.raises(DataError, match="exists already\nreplace it with --force"):
        check_place(str(out), suffixes=(), force=False)
    check_place(str(out), suffixes=(), force=True)
    write_file(str(out), b"two")
    assert out.read_bytes() == b"two"


def test_a_compressed_file_is_the_same_each_time(tmp_path: Path) -> None:
    names = ["a.json.gz", "b.json.gz"]
    for name in names:
        write_file(str(tmp_path / name), b"text")
    first, second = [(tmp_path / name).read_bytes() for name in names]
    assert first == second
    assert gzip.decompress(first) == b"text"


@pytest.mark.parametrize("out", ["no/out.csv", "", ".", "..", "/"])
def test_places_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(tmp_path)
    for suffixes in ((), (".txt",)):
        with pytest.raises(DataError, match=r"there is no folder 'no'|name a file or a folder"):
            check_place(out, suffixes=suffixes, force=True)


def test_a_compression_that_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="zstd is not written"):
        check_place(str(tmp_path / "out.jsonl.zst"), suffixes=(), force=False)


def test_a_file_does_not_replace_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is not a file"):
        check_place(str(tmp_path), suffixes=(), force=True)
    with pytest.raises(DataError, match="this is not a file"):
        check_place("/dev/null", suffixes=(), force=True)


def test_a_folder_replaces_one_of_its_kind_alone(tmp_path: Path) -> None:
    out = tmp_path / "labels"
    write_folder(str(out), {"a.txt": b"1", "classes.txt": b"cat\n"})
    check_place(str(out), suffixes=(".txt",), force=True)
    write_folder(str(out), {"b.txt": b"2"})
    assert sorted(path.name for path in out.iterdir()) == ["b.txt"]
    assert os.listdir(tmp_path) == ["labels"]
    (out / "picture.jpg").touch()
    with pytest.raises(DataError, match=r"it also holds files that are not \.txt: picture\.jpg"):
        check_place(str(out), suffixes=(".txt",), force=True)
    (out / "picture.jpg").unlink()
    (out / "sub.txt").mkdir()
    with pytest.raises(DataError, match=r"files that are not \.txt: sub\.txt"):
        check_place(str(out), suffixes=(".txt",), force=True)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="this is not a folder"):
        check_place(str(tmp_path / "file"), suffixes=(".txt",), force=True)


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "labels"
    write_folder(str(out), {"a.txt": b"1"})
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        write_folder(str(out), {"b.txt": b"2", f"{'x' * 300}.txt": b"3"})
    assert [path.name for path in out.iterdir()] == ["a.txt"]

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"out\.csv: cannot be written: No space left on device"):
        write_file(str(tmp_path / "out.csv"), b"one")
    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        write_folder(str(out), {"b.txt": b"2"})
    assert os.listdir(tmp_path) == ["labels"]
    assert [path.name for path in out.iterdir()] == ["a.txt"]
