"""Reports on disk: each file whole, the new one or the old."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from tests.reports.conftest import attacked
from valor_cli.config.models import Report
from valor_cli.errors import DataError, UnknownNameError
from valor_cli.reports.files.samples_jsonl import jsonl_blocks
from valor_cli.reports.writer import (
    BESIDE,
    DATA,
    FILES,
    IMAGES,
    TEXTS,
    Page,
    content_of,
    write_file,
    write_files,
    write_reports,
)
from valor_cli.results import EmbeddedImages, ResampledResult, RunResult
from valor_cli.results.document import to_json

ALL = ("json", "markdown", "html")
NAMES = ("results.json", "report.md", "report.html")


def _full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _half(path: Path, content: bytes) -> Any:
    with path.open("wb") as file:
        file.write(content[:10])
    return _full()


def _page_full(source: Path, target: Path, rename: Any = os.replace) -> None:
    _full() if target.suffix == ".html" else rename(source, target)


def test_writes_what_is_asked_in_a_folder_it_makes(two_models: RunResult, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    paths = write_reports(two_models, out, ALL)
    assert [path.name for path in paths] == [*NAMES]
    assert sorted(os.listdir(out)) == sorted(NAMES)
    assert paths[0].read_bytes() == to_json(two_models)
    assert write_reports(two_models, out, ["html", "html"]) == [out / "report.html"]


def test_a_file_in_place_of_the_folder(two_models: RunResult, tmp_path: Path) -> None:
    out = tmp_path / "reports"
    out.write_text("mine")
    with pytest.raises(DataError, match="--out DIR") as refused:
        write_reports(two_models, out, ALL)
    assert refused.value.problems[0].place == str(out)
    assert out.read_text() == "mine"


def test_a_folder_in_place_of_a_file(two_models: RunResult, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "report.md").mkdir()
    with pytest.raises(DataError) as refused:
        write_reports(two_models, tmp_path, ALL[:2])
    assert refused.value.problems[0].place == str(tmp_path / "report.md")
    assert sorted(os.listdir(tmp_path)) == ["report.html", "report.md"]
    assert (tmp_path / "report.html").read_text() == "old"


@pytest.mark.parametrize(
    ("owner", "name", "failing", "told", "place", "kept"),
    [
        (Path, "write_bytes", _half, "No space left", None, (True, True, True)),
        (os, "replace", _full, "No space left", "results.json", (True, True, True)),
        (
            *(os, "replace", _page_full, r"already written: results\.json, report\.md"),
            *("report.html", (False, False, True)),
        ),
    ],
)
def test_a_failed_write_leaves_each_file_old_or_new(
    two_models: RunResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    failing: Any,
    told: str,
    place: str | None,
    kept: tuple[bool, ...],
) -> None:
    old = [path.read_bytes() for path in write_reports(two_models, tmp_path, ALL)]
    monkeypatch.setattr(owner, name, failing)
    with pytest.raises(DataError, match=told) as refused:
        write_reports(attacked(), tmp_path, ALL)
    if place:
        assert refused.value.problems[0].place == str(tmp_path / place)
    assert sorted(os.listdir(tmp_path)) == sorted(NAMES)
    now = [(tmp_path / name).read_bytes() for name in NAMES]
    assert tuple(one == was for one, was in zip(now, old, strict=True)) == kept


def test_an_unknown_format_writes_nothing(two_models: RunResult, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'html'"):
        write_reports(two_models, tmp_path / "out", ["json", "htm"])
    assert not (tmp_path / "out").exists()


def test_json_brings_the_samples(found: Callable[..., RunResult], tmp_path: Path) -> None:
    run = found(("m",), ("cat", "dog"))
    paths = write_reports(
        run, tmp_path, ALL, pictures=EmbeddedImages({"000000000000.jpg": b"\xff\xd8picture"})
    )
    assert [path.name for path in paths] == [*NAMES, "samples.jsonl"]
    assert paths[3].read_bytes() == b"".join(jsonl_blocks(run))
    assert [path.name for path in write_reports(run, tmp_path / "b", ["html"])] == ["report.html"]


def test_nothing_of_an_earlier_run_stays(two_models: RunResult, tmp_path: Path) -> None:
    known = {*FILES.values(), *DATA}
    own = {"notes.md", "report.md.bak", "results.json.old", "report.css"}
    for name, form in FILES.items():
        for file in (*known, *own):
            (tmp_path / file).write_text("old")
        write_reports(replace(two_models, samples=()), tmp_path, [name])
        assert {file.name for file in tmp_path.iterdir()} == {form, *own}
        assert all((tmp_path / file).read_text() == "old" for file in own)
    # A folder of that name is somebody's own.
    (tmp_path / "junit.xml").mkdir()
    write_reports(two_models, tmp_path, ["json"])
    assert (tmp_path / "junit.xml").is_dir()


def test_what_stands_beside_may_be_of_the_run(two_models: RunResult, tmp_path: Path) -> None:
    write_reports(two_models, tmp_path, ALL[:2])
    write_reports(two_models, tmp_path, ["html"], beside=True)
    assert {file.name for file in tmp_path.iterdir()} == {*NAMES}


def test_every_format_has_a_file(two_models: RunResult, tmp_path: Path) -> None:
    paths = write_reports(two_models, tmp_path, list(FILES))
    assert [path.name for path in paths] == [
        *("results.json", "report.md", "report.html", "junit.xml", "results.csv")
    ]
    for name, path in zip(FILES, paths, strict=True):
        assert path.read_bytes() == content_of(two_models, name)
    assert set(TEXTS) == set(FILES) - {"html"}


def test_json_brings_the_resamples(two_models: RunResult, tmp_path: Path) -> None:
    one = ResampledResult("coco", "AP", "small", None, None, {}, "ab" * 32, (0.37, None, 0.38))
    drawn = replace(two_models, resamples=(one,))
    paths = write_reports(drawn, tmp_path, ["json", "markdown"])
    assert [path.name for path in paths] == ["results.json", "report.md", "resamples.jsonl"]
    (line,) = paths[2].read_text().splitlines()
    assert json.loads(line)["values"] == [0.37, None, 0.38]
    # those of an earlier run would pass for this run's
    write_reports(two_models, tmp_path, ["json"])
    assert not paths[2].exists()


def test_files_in_the_order_given(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    paths = write_files(tmp_path, {"b": b"2", "a": b"1"}, ["old", "never"])
    assert paths == [tmp_path / "b", tmp_path / "a"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert write_files(tmp_path / "empty", {}) == []


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_page_and_the_files_it_reads(tmp_path: Path) -> None:
    page = Page(b"page", {"tile-0.js": b"0", "tile-1-f.js": iter([b"1", memoryview(b"2")])})
    paths = write_files(tmp_path, {"results.json": b"{}", "report.html": page})
    assert paths == [tmp_path / "results.json", tmp_path / "report.html"]
    assert _tree(tmp_path) == {
        "results.json": b"{}",
        "report.html": b"page",
        "report_files/tile-0.js": b"0",
        "report_files/tile-1-f.js": b"12",
    }


def test_what_a_page_reads_goes_with_it(two_models: RunResult, tmp_path: Path) -> None:
    beside, images = tmp_path / BESIDE, tmp_path / IMAGES
    own = {f"{BESIDE}/notes.txt": b"mine", f"{BESIDE}/frame.jpg": b"mine"}

    def put() -> None:
        images.mkdir(parents=True, exist_ok=True)
        for name, content in own.items():
            (tmp_path / name).write_bytes(content)
        for name in ("tile-0.js", "tile-1.js", "images/image-a.jpg", "images/image-b.jpg"):
            (beside / name).write_bytes(b"old")

    put()
    linked = EmbeddedImages(links={"x": f"{IMAGES}/image-b.jpg"})
    write_files(tmp_path, {"report.md": b""})
    assert len(_tree(beside)) == 6
    page = {"report.html": Page(b"page", {"tile-1.js": b"new"})}
    write_files(tmp_path, page, linked=linked.links.values())
    assert _tree(beside) == {
        "notes.txt": b"mine",
        "frame.jpg": b"mine",
        "tile-1.js": b"new",
        "images/image-b.jpg": b"old",
    }
    # A report that is rendered again beside its results keeps the images of the run.
    put()
    write_reports(two_models, tmp_path, ["html"], beside=True)
    left = {"images/image-a.jpg", "images/image-b.jpg", "notes.txt", "frame.jpg"}
    assert set(_tree(beside)) == left
    write_reports(two_models, tmp_path, ["markdown"], beside=True)
    assert f"{IMAGES}/image-b.jpg" in _tree(tmp_path)
    # Without a page nothing is read.
    write_reports(two_models, tmp_path, ["json"])
    assert {name: one for name, one in _tree(tmp_path).items() if BESIDE in name} == own
    assert not images.exists()
    for name in own:
        (tmp_path / name).unlink()
    write_reports(two_models, tmp_path, ["json"])
    assert not beside.exists()


def test_files_beside_a_page_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = {"report.html": Page(b"page", {"tile-0.js": b"0"})}
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", _full)
        with pytest.raises(DataError, match="No space left"):
            write_files(tmp_path, page)
    assert os.listdir(tmp_path) == []
    (tmp_path / BESIDE).write_text("mine")
    with pytest.raises(DataError) as refused:
        write_files(tmp_path, page)
    assert refused.value.problems[0].place == str(tmp_path / BESIDE)
    assert _tree(tmp_path) == {BESIDE: b"mine"}


def test_what_a_killed_run_left_beside_a_page(tmp_path: Path) -> None:
    (tmp_path / IMAGES).mkdir(parents=True)
    for name in ("tile-7.js", "images/image-7.jpg"):
        folder, _, file = f"{BESIDE}/{name}".rpartition("/")
        (tmp_path / folder / f".{file}.9999999999.tmp").write_bytes(b"half")
    write_files(tmp_path, {"report.html": b"page"})
    assert _tree(tmp_path) == {"report.html": b"page"}


def test_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "charts" / "pr.svg"
    assert write_file(path, b"<svg/>") == path
    assert path.read_bytes() == b"<svg/>"
    with pytest.raises(DataError, match="name another file") as refused:
        write_file(path / "below", b"")
    assert refused.value.problems[0].place == str(path)
    for folder in (tmp_path, Path("/")):
        with pytest.raises(DataError, match="a folder has the name of the file"):
            write_file(folder, b"")
    monkeypatch.chdir(tmp_path)
    assert write_file(Path("plain.svg"), b"x").read_bytes() == b"x"


def test_a_config_may_name_each_format() -> None:
    (names, _) = get_args(Report.model_fields["formats"].annotation)
    assert get_args(names) == tuple(FILES)
