"""Images of a report: all of the run, embedded, copied or linked, or why they are not."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import DataError
from valor_cli.pipeline import images as module
from valor_cli.pipeline.images import compared_images, copied_images, report_images
from valor_cli.pipeline.reporting import reported
from valor_cli.reports.run_files import read_run
from valor_cli.reports.writer import IMAGES
from valor_cli.results import EmbeddedImages, Picture, RunResult

WAYS = ("embed", "folder", "link")

GOOD = ("a.jpg", "sub/b b#%ü.png", "'\"<i>&.jpg", "c:d.png", "e.webp")
RAW = "scan.tif"
BROKEN = "broken.jpg"
MISSING = "missing.jpg"
FILES = (*GOOD, RAW, BROKEN, MISSING)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("images/sub").mkdir(parents=True)
    noise = np.random.default_rng(0).integers(0, 255, (60, 80, 3), np.uint8)
    for name in (*GOOD, RAW):
        Image.fromarray(noise).save(Path("images", name))
    Path("images", BROKEN).write_bytes(b"no image")
    lines = [
        {"image_id": at, "file_name": name, "width": 80, "height": 60, "objects": objects}
        for at, (name, objects) in enumerate(zip(FILES, [[_object("cat")], *[[]] * 7], strict=True))
    ]
    _write("truth.jsonl", lines)
    found = [[], [], [_object("cat", 0.9)], *[[]] * 5]
    _write("found.jsonl", [one | {"objects": own} for one, own in zip(lines, found, strict=True)])
    return tmp_path


def _object(label: str, score: float | None = None) -> dict[str, Any]:
    made = {"label": label, "box": [10, 10, 20, 20]}
    return made if score is None else made | {"score": score}


def _write(name: str, lines: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def run(*, files: Any = "images", **report: Any) -> tuple[EmbeddedImages, RunResult]:
    """The images of a run in the folder `out`, and the run with its warnings."""
    config = {
        "task": "object_detection",
        "data": {"ground_truth": "truth.jsonl", "predictions": "found.jsonl", "images": files},
        "metrics": [{"confusion_matrix": {"score_threshold": 0.5}}],
        "report": report,
    }
    plan = pipeline.make_plan(load_config(config, catalogue, ()))
    result = pipeline.evaluate(plan, command="")
    images, _ = report_images(plan, result, Path("out"))
    written, _ = reported(plan, result, Path("out"), ["json", "html"])
    return images, written.result


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("budget", [None, 0.02])
def test_every_image_of_a_run_is_shown_or_it_is_said_why_not(way: str, budget: Any) -> None:
    images, _ = run(images=way, size=50, budget_mb=budget)
    assert sorted([*images.photos, *images.links, *images.left_out]) == sorted(FILES)
    told = " ".join(images.notes)
    assert f"{len(images.photos) + len(images.links)} of 8 images are " in told
    for reason in set(images.left_out.values()):
        assert reason in told
    assert images.left_out[MISSING] == "there is no such file in the folder of images"


def test_embedded() -> None:
    images, result = run(size=50)
    assert set(images.photos) == {*GOOD, RAW}
    assert images.left_out[BROKEN] == "not a readable image"
    for content in images.photos.values():
        assert Image.open(BytesIO(content)).size == (50, 38)
    assert images.notes[0] == "6 of 8 images are in this page, at most 50 pixels wide and high."
    assert "broken.jpg is left out: not a readable image." in images.notes
    (said,) = [one for one in result.warnings if one.startswith("not shown")]
    assert said == f"not shown: images{os.sep}broken.jpg: not a readable image"
    assert sorted(os.listdir("out")) == ["objects.bin", "report.html", "results.json"]


def test_the_most_telling_are_embedded_first() -> None:
    images, _ = run(size=50, budget_mb=0.004)
    whole, _ = run(size=50)
    # The images of the false positive and of the false negative come before the others.
    assert list(whole.photos)[:2] == ["'\"<i>&.jpg", "a.jpg"]
    assert list(images.photos) == list(whole.photos)[: len(images.photos)]
    assert 0 < len(images.photos) < 6
    size = sum(map(len, images.photos.values()))
    assert size * 4 / 3 <= 4_000 < (size + len(list(whole.photos.values())[len(images.photos)])) * 2
    (said,) = [note for note in images.notes if "budget" in note]
    assert said.startswith(f"{7 - len(images.photos)} images are left out: the budget of 0.004 MB")


def test_without_a_budget_pages_have_one_and_folders_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUDGET", 0.004)
    for way, fits in (("embed", False), ("folder", True)):
        images, _ = run(images=way, size=50)
        assert (len(images.photos) + len(images.links) == 6) is fits


def test_the_worst_images_come_before_mistakes_and_those_before_hits() -> None:
    _, result = run(size=50)
    shown = [
        replace(result.examples[0], kind=kind, picture=Picture(f"{kind}.jpg", 80, 60))
        for kind in ("true_positive", "false_negative", "worst_image")
    ]
    files = module._most_telling(replace(result, examples=tuple(shown)))
    assert files[:3] == ["worst_image.jpg", "false_negative.jpg", "true_positive.jpg"]


def test_copied() -> None:
    images, _ = run(images="folder", size=50)
    assert set(images.links) == {*GOOD, RAW}
    copies = sorted(os.listdir(Path("out") / IMAGES))
    assert sorted(images.links.values()) == [f"{IMAGES}/{name}" for name in copies]
    contents = [Path("out", url).read_bytes() for url in images.links.values()]
    assert {Image.open(BytesIO(content)).size for content in contents} == {(50, 38)}
    page = Path("out/report.html").read_text()
    assert images.links["a.jpg"] in page
    assert "img-src data: 'self';" in page
    # The same images give the same bytes; those of another run go.
    Path("images/e.webp").unlink()
    again, _ = run(images="folder", size=50)
    assert [Path("out", url).read_bytes() for url in again.links.values()] == contents[:-2] + [
        contents[-1]
    ]
    assert len(os.listdir(Path("out") / IMAGES)) == 5
    run(images="link")
    assert sorted(os.listdir("out")) == ["objects.bin", "report.html", "results.json"]


def test_a_small_jpeg_is_copied_as_it_is() -> None:
    # Of the best quality: a copy would be smaller.
    with Image.open("images/a.jpg") as image:
        image.copy().save("images/a.jpg", quality=100)
    images, _ = run(images="folder")
    assert Path("out", images.links["a.jpg"]).read_bytes() == Path("images/a.jpg").read_bytes()


def test_linked() -> None:
    images, _ = run(images="link")
    assert set(images.links) == {*GOOD, BROKEN}
    for file, url in images.links.items():
        parts = urlsplit(url)
        assert parts.path == url  # neither scheme nor query
        assert Path("out", unquote(url)).samefile(Path("images", file))
    assert images.left_out == {
        RAW: "browsers do not show .tif",
        MISSING: "there is no such file in the folder of images",
    }


def test_a_url_is_not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Store:
        def __init__(self, folder: str) -> None: ...

        def paths(self, names: Sequence[str]) -> dict[str, str]:
            return {name: f"s3://bucket/{name}" for name in names}

    monkeypatch.setattr(module, "ImageFolder", Store)
    images, _ = run(images="link")
    assert dict(images.left_out) == dict.fromkeys(FILES, "the page asks nothing of a network")


def test_a_folder_that_went_away_fails_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(folder: str) -> None:
        raise DataError(module.Problem(folder, "no such folder"))

    monkeypatch.setattr(module, "ImageFolder", gone)
    images, _ = run()
    assert set(images.left_out) == set(FILES)
    assert images.notes[1].startswith("8 images are left out: images: no such folder (the first: ")


def test_many_broken_images_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LISTED", 2)
    for name in GOOD:
        Path("images", name).write_bytes(b"")
    _, result = run()
    told = [one for one in result.warnings if one.startswith("not shown")]
    assert len(told) == 3
    assert told[-1] == "not shown: more than 2 images; the report names them"


def test_a_copy_that_cannot_be_written() -> None:
    Path("out").mkdir()
    Path("out/report_files").write_text("mine")
    with pytest.raises(DataError, match="cannot be written") as refused:
        run(images="folder")
    assert refused.value.problems[0].place.startswith(str(Path("out") / IMAGES))
    assert Path("out/report_files").read_text() == "mine"


def test_without_a_folder_of_images_nothing_is_said() -> None:
    images, result = run(files=None)
    assert images == EmbeddedImages(colours={}, notes=[])
    assert result.images == {}


def test_a_page_that_is_made_again_shows_the_copies() -> None:
    images, _ = run(images="folder")
    result = read_run("out")
    again = copied_images(result, Path("out"), Path("out"))
    assert again.links == images.links
    other = copied_images(result, Path("out"), Path("b c/d"))
    for file, url in other.links.items():
        copy = Path("out", images.links[file])
        assert Path(os.path.normpath(Path("b c/d") / unquote(url))) == copy
    assert copied_images(result, Path("none"), Path("out")) == EmbeddedImages()


@pytest.mark.parametrize("way", WAYS)
def test_drawn_errors_of_segmentation(way: str) -> None:
    for side in ("gt", "one", "two"):
        Path(side).mkdir()
    for name in ("a", "c:d", "e"):
        Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8)).save(f"gt/{name}.png")
        for side in ("one", "two"):
            Image.fromarray(np.array([[0, 1], [0, 0]], np.uint8)).save(f"{side}/{name}.png")
    config = {
        "task": "semantic_segmentation",
        "data": {
            "ground_truth": "gt",
            "predictions": {"one": "one", "two": "two"},
            "labels": ["road", "cat"],
            "images": "images",
        },
        "report": {"images": way},
    }
    Path("images/e.webp").unlink()
    plan = pipeline.make_plan(load_config(config, catalogue, ()))
    result = pipeline.evaluate(plan, command="")
    images, told = report_images(plan, result, Path("out"))
    keys = {(model, name) for model in ("one", "two") for name in ("a", "c:d", "e")}
    assert images.colours == {"road": "#0072b2", "cat": "#e6be3c"}
    if way == "embed":
        assert set(images.overlays) == keys
        assert not images.overlay_links
        assert set(images.photos) == {"a", "c:d"}
    else:
        assert set(images.overlay_links) == keys
        assert not images.overlays
        assert set(images.links) == {"a", "c:d"}
        contents = [Path("out", url).read_bytes() for url in images.overlay_links.values()]
        assert all(content.startswith(b"\x89PNG") for content in contents)
    assert list(images.left_out) == ["e"]
    assert list(told) == []


def test_the_worst_of_each_model_is_drawn_first() -> None:
    keys = [("m", "a"), ("m", "b"), ("n", "c"), ("n", "d"), ("n", "e")]
    assert module._by_rank(keys) == [("m", "a"), ("n", "c"), ("m", "b"), ("n", "d"), ("n", "e")]


def test_a_comparison_has_the_overlays_of_both_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    _, result = run(size=50)
    own = EmbeddedImages(links={"a.jpg": "a"}, overlays={("found", "a.jpg"): b"drawn"})
    monkeypatch.setattr(module, "copied_images", lambda *_: own)
    found = compared_images([("A", result, "one"), ("B", result, "two")], Path("both"))
    assert found.overlays == {("A found", "a.jpg"): b"drawn", ("B found", "a.jpg"): b"drawn"}


@pytest.mark.parametrize("way", WAYS)
def test_a_comparison_has_the_images_of_both_runs(way: str) -> None:
    data = {"ground_truth": "truth.jsonl", "predictions": "found.jsonl", "images": "images"}
    config = {"task": "object_detection", "data": data, "report": {"images": way}}
    Path("run.yaml").write_text(json.dumps(config))
    plan = pipeline.make_plan(load_config(Path("run.yaml"), catalogue, ()))
    for out in ("one", "two"):
        reported(plan, pipeline.evaluate(plan, command=""), Path(out), ["json", "html"])
    runs = [(name, read_run(out), out) for name, out in (("A", "one"), ("B", "two/results.json"))]
    found = compared_images(runs, Path("both"))
    assert {*GOOD} <= {*found.photos, *found.links}
    assert bool(found.photos) == (way == "embed")
    for link in found.links.values():
        assert Path("both", unquote(link)).resolve().is_file()
    assert not Path("both").exists()
    # another config is no place to look for what a run had
    Path("run.yaml").write_text(json.dumps({**config, "matching": "valor"}))
    assert bool(compared_images(runs, Path("both")).links) == (way == "folder")
    Path("run.yaml").unlink()
    assert compared_images(runs, Path("both")).photos == {}
