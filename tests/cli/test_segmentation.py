"""Semantic segmentation as a hostile user runs it: bad pictures, bad folders, bad manifests."""

from __future__ import annotations

import json
import os
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.cli.conftest import Valor
from tests.cli.judged import complaints, refused, result_of

PREDICTED = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]], np.uint8)
TRUE = np.where(PREDICTED == 1, 2, PREDICTED).astype(np.uint8)
"""Four pixels of b are predicted where c is true: IoU of a is 1, of c 4 of 8, b has none."""
MEAN_IOU = 0.75
DATA = "data: {ground_truth: gt, predictions: pr, labels: [a, b, c]}\n"


def png(values: NDArray[Any], form: str = "PNG") -> bytes:
    content = BytesIO()
    Image.fromarray(values).save(content, form)
    return content.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


def raw_png(
    data: bytes, size: tuple[int, int] = (4, 3), depth: int = 8, kind: int = 0, more: bytes = b""
) -> bytes:
    """A PNG of any header over any compressed data; `size` is width and height."""
    header = struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + more + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def rows(values: NDArray[np.uint8], depth: int) -> bytes:
    """The rows of a PNG of `depth` bits a pixel."""
    bits = [np.unpackbits(row[:, None], axis=1)[:, 8 - depth :].ravel() for row in values]
    return zlib.compress(b"".join(b"\0" + np.packbits(row).tobytes() for row in bits))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of label maps, the second alike on both sides."""
    for side, values in (("gt", TRUE), ("pr", PREDICTED)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "1.png").write_bytes(png(values))
    configured(tmp_path)
    return tmp_path


def configured(folder: Path, data: str = DATA, rest: str = "", name: str = "run.yaml") -> None:
    (folder / name).write_text(f"task: semantic_segmentation\n{data}{rest}report: {{out: out}}\n")


def mean_iou(result: Any) -> list[float | None]:
    return [row["value"] for row in result["metrics"] if row["metric"] == "mean_iou"]


GOOD = png(PREDICTED)
SHORT = zlib.compress((b"\0" + bytes(4)) * 2)
BAD_PICTURES: dict[str, tuple[bytes, str]] = {
    "size": (png(PREDICTED[:2]), "is 4 wide and 2 high; its ground truth gt/1.png is 4 wide and 3"),
    "rgb": (png(np.stack([PREDICTED] * 3, -1)), "found RGB colours\nWrite each label map with one"),
    "rgba": (png(np.stack([PREDICTED] * 4, -1)), "found RGB colours with an alpha channel"),
    "cut off": (GOOD[:-20], "the PNG is cut off after"),
    "no end": (GOOD[:-12], "the PNG is cut off after"),
    "a bit": (GOOD[:45] + bytes([GOOD[45] ^ 1]) + GOOD[46:], "a checksum differs"),
    "few rows": (raw_png(SHORT), "the pixels of the PNG end after 10 of 15 bytes"),
    "no rows": (raw_png(b""), "1.png: "),
    "noise": (raw_png(b"noise"), "1.png: "),
    "no such filter": (raw_png(zlib.compress((b"\x09" + bytes(4)) * 3)), "1.png: "),
    "no such depth": (raw_png(SHORT, depth=3), "1.png: "),
    "no width": (raw_png(SHORT, size=(0, 3)), "1.png: "),
    "jpeg": (png(PREDICTED, "JPEG"), "expected a PNG"),
    "tiff": (png(PREDICTED, "TIFF"), "expected a PNG"),
    "empty": (b"", "expected a PNG"),
    "html": (b"<html>", "expected a PNG"),
    "beyond": (png(PREDICTED + np.uint8(2)), "no label for the values 3 (4 pixels), 4 (4 pixels)"),
    "beyond, 16 bit": (png(PREDICTED.astype(np.uint16) * 300), "300 (4 pixels), 600 (4 pixels)"),
    "text bomb": (
        raw_png(
            rows(PREDICTED, 8), more=chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(80_000_000), 9))
        ),
        "1.png: ",
    ),
}


def test_bad_pictures(valor: Valor, folder: Path) -> None:
    for number, (content, _) in enumerate(BAD_PICTURES.values()):
        (folder / f"pr{number}").mkdir()
        (folder / f"pr{number}" / "1.png").write_bytes(content)
        configured(folder, DATA.replace("pr,", f"pr{number},"), name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_PICTURES))
    for number, (said, (name, (_, message))) in enumerate(
        zip(found, BAD_PICTURES.items(), strict=True)
    ):
        assert said.startswith(f"pr{number}/1.png: "), name
        assert message in said, name
    for number in (0, 6, 16):
        refused(valor("evaluate", f"{number}.yaml", cwd=folder), found[number], folder=folder)


def test_a_picture_that_says_it_is_huge_is_never_unpacked(valor: Valor, folder: Path) -> None:
    for side in ("gt", "pr"):
        bomb = raw_png(zlib.compress(bytes(1000)), size=(2**31 - 1, 2**31 - 1))
        (folder / side / "1.png").write_bytes(bomb)
    refused(valor("evaluate", "run.yaml", cwd=folder), "gt/1.png: the image has more than")


PALETTE = chunk(b"PLTE", bytes([0, 0, 0, 255, 0, 0, 0, 255, 0]))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(png(PREDICTED.astype(np.uint16)), id="16 bit"),
        pytest.param(raw_png(rows(PREDICTED, 2), depth=2), id="2 bit"),
        pytest.param(raw_png(rows(PREDICTED, 4), depth=4), id="4 bit"),
        pytest.param(raw_png(rows(PREDICTED, 8), kind=3, more=PALETTE), id="palette"),
        pytest.param(
            raw_png(rows(PREDICTED, 2), depth=2, kind=3, more=PALETTE), id="2 bit palette"
        ),
        pytest.param(
            raw_png(rows(PREDICTED, 8), more=chunk(b"gAMA", struct.pack(">I", 45455))), id="gamma"
        ),
    ],
)
def test_values_are_labels_in_every_mode(valor: Valor, folder: Path, content: bytes) -> None:
    (folder / "pr" / "1.png").write_bytes(content)
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    assert mean_iou(result) == [MEAN_IOU]


def test_pairs_that_miss_a_side(valor: Valor, folder: Path) -> None:
    for number in range(30):
        (folder / "gt" / f"g{number}.png").write_bytes(png(TRUE))
    (folder / "pr" / "p.png").write_bytes(png(TRUE))
    (folder / "gt" / "cut.png").write_bytes(png(TRUE))
    (folder / "pr" / "cut.png").write_bytes(png(TRUE)[:-20])
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "gt/g0.png: has no prediction in pr", "… and 11 more problems", folder=folder)
    skip = ["--set", "data.on_invalid=skip"]
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *skip, cwd=folder))
    assert mean_iou(result) == [MEAN_IOU]
    assert result["data"]["images"] == 1
    told = "\n".join(result["warnings"])
    assert "left out: 30 of 32 ground truths have no prediction in pr (the first: g0)" in told
    assert "left out: 1 of 3 predictions of pr have no ground truth in gt (the first: p)" in told
    assert "left out: 1 of 2 images cannot be used (the first: pr/cut.png: the PNG is cut" in told
    assert [one["skipped"] for one in result["run"]["inputs"]] == [30, 2]


@pytest.mark.parametrize("content", [raw_png(SHORT), raw_png(b"noise")])
def test_pixels_that_are_damaged_can_be_left_out(
    valor: Valor, folder: Path, content: bytes
) -> None:
    (folder / "gt" / "2.png").write_bytes(png(TRUE))
    (folder / "pr" / "2.png").write_bytes(content)
    skip = ["--set", "data.on_invalid=skip"]
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *skip, cwd=folder))
    assert mean_iou(result) == [MEAN_IOU]
    assert "left out: 1 of 2 images cannot be used (the first: pr/2.png: " in result["warnings"][0]


def test_one_of_two_models_misses_an_image(valor: Valor, folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "1.png").write_bytes(png(TRUE))
    for side in ("gt", "pr"):
        (folder / side / "2.png").write_bytes(png(TRUE))
    configured(folder, DATA.replace("pr,", "{m: pr, n: other},"))
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "gt/2.png: has no prediction in other", "set `on_invalid: skip`", folder=folder)
    skip = ["--set", "data.on_invalid=skip"]
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *skip, cwd=folder))
    assert mean_iou(result) == [MEAN_IOU, 1]  # both of the one image that both have


def test_names_that_are_hard_to_say(valor: Valor, folder: Path) -> None:
    names = ["a b", "ü漢", "new\nline", "\x1b[31m", "<script>alert(1)", "-rf", "*", "x|y"]
    for name in names:
        (folder / "gt" / f"{name}.png").write_bytes(png(TRUE))
        (folder / "pr" / f"{name}.png").write_bytes(png(PREDICTED))
    (folder / "gt" / "x").mkdir()
    (folder / "pr" / "x").mkdir()
    for side in ("gt", "pr"):
        (folder / side / "x" / "1.png").write_bytes(png(TRUE))
        (folder / side / ".hidden.png").write_bytes(b"")
        (folder / side / "notes.txt").write_text("no label map")
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = (folder / "out" / "samples.jsonl").read_text().splitlines()
    assert {json.loads(line)["sample_id"] for line in lines} == {"1", "x/1", *names}
    texts = (folder / "out" / "report.html").read_text(), (folder / "out" / "report.md").read_text()
    assert not any("<script>alert" in text or "\x1b" in text for text in texts)
    (folder / "pr" / "new\nline.png").write_bytes(b"")
    refused(valor("validate", "run.yaml", cwd=folder), "pr/new\\nline.png: expected a PNG")


def test_links(valor: Valor, folder: Path) -> None:
    (folder / "pr").rename(folder / "elsewhere")
    (folder / "pr").symlink_to("elsewhere")
    (folder / "elsewhere" / "round").symlink_to("..")
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    assert mean_iou(result) == [MEAN_IOU]
    (folder / "pr" / "1.png").unlink()
    (folder / "pr" / "1.png").symlink_to("1.png")
    refused(valor("evaluate", "run.yaml", cwd=folder), "pr/1.png: ", "symbolic links")


def test_a_linked_folder_is_read_or_told_of(valor: Valor, folder: Path) -> None:
    for side in ("gt", "pr"):
        (folder / f"more_{side}").mkdir()
        (folder / f"more_{side}" / "2.png").write_bytes(png(TRUE))
        (folder / side / "more").symlink_to(f"../more_{side}")
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    assert result["data"]["images"] == 2 or result["warnings"]


BAD_CONFIGS = {
    "labels: none": ("labels: []", "", "data.labels: expected"),
    "labels: too few": ("labels: [a, b]", "", "gt/1.png: no label for the value 2 (8 pixels)"),
    "labels: float": ("labels: [a, b, 1.5]", "", "data.labels.2: expected text, found the number"),
    "labels: twice": ("labels: {0: a, 0: b}", "", "data.labels.0: duplicate key"),
    "labels: negative": ("labels: {-1: z, 0: a, 1: b, 2: c}", "", "run.yaml:2:"),
    "labels: no file": ("labels: classes.json", "", "classes.json: no such file"),
    "labels: garbled": ("labels: cut.json", "", "cut.json:1:7: the file ends inside a string"),
    "labels: file, twice": ("labels: twice.txt", "", "twice.txt:3: duplicate name 'b'"),
    "labels: file, negative": ("labels: minus.json", "", "-1: expected an index of 0 or more"),
    "labels: file, key twice": ("labels: key.json", "", "duplicate index 0"),
    "labels: left out": ("", "", "the pixel values of gt have no names"),
    "ignore_index: negative": ("labels: [a, b, c], ignore_index: -1", "", "data.ignore_index: "),
    "ignore_index: text": ("labels: [a, b, c], ignore_index: a", "", "data.ignore_index: "),
    "ignore_index: all": (
        "labels: [a, b, c], ignore_index: [0, 1, 2]",
        "",
        "no label is left beside what is ignored or background",
    ),
    "background": (
        "labels: [a, b, c], background: z",
        "",
        "no label is named 'z'\nlabels: a, b, c",
    ),
    "reduce_labels": ("labels: [a, b, c], reduce_labels: 1", "", "expected true or false, found"),
    "images": ("labels: [a, b, c], images: photos", "", "images: photos: no such folder"),
    "filter: label": ("labels: [a, b, c]", "filter: {label: z}", "filter.label: no label 'z'"),
    "filter: sample": ("labels: [a, b, c]", "filter: {sample_id: z}", "no image 'z'"),
    "slice": ("labels: [a, b, c]", "slices: [metadata.x]", "a folder holds no metadata of its"),
    "gate": (
        "labels: [a, b, c]",
        "gates: [{metric: iou, label: z, min: 0}]",
        "gates.0.label: no label 'z'; there are a, b, c",
    ),
}


def test_bad_configs(valor: Valor, folder: Path) -> None:
    (folder / "cut.json").write_text('{"0": "a')
    (folder / "twice.txt").write_text("a\nb\nb\n")
    (folder / "minus.json").write_text('{"-1": "z", "0": "a"}')
    (folder / "key.json").write_text('{"0": "a", "0": "b"}')
    for number, (data, rest, _) in enumerate(BAD_CONFIGS.values()):
        given = DATA.replace("labels: [a, b, c]", data)
        configured(folder, given, rest and f"{rest}\n", name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_CONFIGS))
    for number, (said, (name, (_, _, message))) in enumerate(
        zip(found, BAD_CONFIGS.items(), strict=True)
    ):
        assert message.replace("run.yaml", f"{number}.yaml") in said, name


@pytest.mark.parametrize(
    ("labels", "extra"),
    [
        ("{0: a, 7: never, 1: b, 2: c}", []),
        ("[a, b, c, never, again]", ["--jobs", "3"]),
        ("[a, b, c]", ["--limit", "1"]),
    ],
)
def test_labels_that_are_never_there_have_no_value(
    valor: Valor, folder: Path, labels: str, extra: list[str]
) -> None:
    configured(folder, DATA.replace("[a, b, c]", labels))
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *extra, cwd=folder))
    assert mean_iou(result) == [MEAN_IOU]
    iou = {row["label"]: row for row in result["metrics"] if row["metric"] == "iou"}
    assert {name: row["value"] for name, row in iou.items() if row["value"] is not None} == {
        "a": 1,
        "c": 0.5,
    }
    assert all(row["undefined"] for row in iou.values() if row["value"] is None)


def test_where_all_is_ignored_nothing_is_defined_and_gates_cannot_be_checked(
    valor: Valor, folder: Path
) -> None:
    (folder / "gt" / "1.png").write_bytes(png(np.full_like(TRUE, 255)))
    data = DATA.replace("c]", "c], ignore_index: [255, 254]")
    configured(folder, data, "gates: [{metric: mean_iou, min: 0}]\n")
    done = valor("evaluate", "run.yaml", "--out", "-", cwd=folder)
    assert done.returncode == 3
    result = json.loads(done.stdout)
    assert mean_iou(result) == [None]
    assert {row["value"] for row in result["metrics"]} <= {None, 0}  # counts of pixels are 0
    assert result["gates"][0]["status"] == "not checked"


@pytest.mark.parametrize("ignored", [True, False])
def test_reduced_labels_and_255(valor: Valor, folder: Path, ignored: bool) -> None:
    # 0 becomes ignored, 1 becomes a (0), 2 becomes b (1); 255 stays what it is.
    truth = np.array([[0, 1, 2, 255]], np.uint8)
    found = np.array([[1, 0, 0, 0]], np.uint8)
    (folder / "gt" / "1.png").write_bytes(png(truth))
    (folder / "pr" / "1.png").write_bytes(png(found))
    more = ", reduce_labels: true" + (", ignore_index: 255" if ignored else "")
    configured(folder, DATA.replace("c]", f"c]{more}"))
    done = valor("evaluate", "run.yaml", "--out", "-", cwd=folder)
    if ignored:
        # Two pixels are left: a is hit once and wrong once, b is missed.
        assert mean_iou(result_of(done)) == [0.25]
    else:
        refused(done, "gt/1.png: no label for the value 255 (1 pixel", "`ignore_index: 255`")


HEAD = "ground_truth,prediction\n"
PAIR = "gt/1.png,pr/1.png\n"
BAD_MANIFESTS: dict[str, tuple[str | bytes, str]] = {
    "column.csv": ("ground_truth\ngt/1.png\n", "the column 'prediction' is missing; there is:"),
    "file.csv": (HEAD + "gt/1.png,pr/9.png\n", "pr/9.png: "),
    "folder.csv": (HEAD + "gt,pr\n", "gt: expected a file, found a folder"),
    "outside.csv": (HEAD + "/etc/passwd,pr/1.png\n", "/etc/passwd: expected a PNG"),
    "twice.csv": (
        HEAD + PAIR + PAIR,
        "twice.csv:3: sample_id: duplicate sample 'gt/1', first on line 2",
    ),
    "ragged.csv": (HEAD + "gt/1.png\n", "ragged.csv:2: expected 2 fields as in the first line"),
    "nul.csv": (HEAD + "gt/1\0.png,pr/1.png\n", "nul.csv:2: ground_truth: expected the path of"),
    "quote.csv": (HEAD + '"gt/1.png,pr/1.png\n', "quote.csv:2: "),
    "empty.csv": ("", "empty.csv: the file is empty"),
    "head.csv": (HEAD, "head.csv: there is no row in this manifest"),
    "wide.csv": ((HEAD + PAIR).encode("utf-16"), "wide.csv: this looks like UTF-16"),
    "half.jsonl": ('{"ground_truth": "gt/1.png", "predic', "half.jsonl:1: not JSON"),
    "number.jsonl": ('{"ground_truth": 1, "prediction": "pr/1.png"}', "ground_truth: expected the"),
    "list.jsonl": ("[]", "list.jsonl:1: expected an object"),
}


def test_bad_manifests(valor: Valor, folder: Path) -> None:
    for number, (name, (content, _)) in enumerate(BAD_MANIFESTS.items()):
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(raw)
        data = f"data: {{ground_truth: {name}, labels: [a, b, c]}}\n"
        configured(folder, data, name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_MANIFESTS))
    for said, (name, (_, message)) in zip(found, BAD_MANIFESTS.items(), strict=True):
        assert message in said, name


def test_a_key_twice_in_a_manifest(valor: Valor, folder: Path) -> None:
    line = '{"ground_truth": "pr/1.png", "ground_truth": "gt/1.png", "prediction": "pr/1.png"}\n'
    (folder / "pairs.jsonl").write_text(line)
    configured(folder, "data: {ground_truth: pairs.jsonl, labels: [a, b, c]}\n")
    refused(
        valor("validate", "run.yaml", cwd=folder),
        "pairs.jsonl:1: ",
        "ground_truth",
        "duplicate key",
    )


@pytest.mark.parametrize("written", ["\ufeff{}", "{}\r\n", "{}\n\n"])
def test_manifests_of_other_tools(valor: Valor, folder: Path, written: str) -> None:
    text = written.format((HEAD.replace(",", ";") + PAIR.replace(",", ";")).rstrip("\n"))
    (folder / "pairs.csv").write_text(text, newline="")
    configured(folder, "data: {ground_truth: pairs.csv, labels: [a, b, c]}\n")
    assert mean_iou(result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))) == [
        MEAN_IOU
    ]


WRONG_PLACES = {
    "gt/1.png": "gt/1.png: this is a file; a folder is needed",
    "gtt": "gtt: no such folder",
    "nothing": "nothing: there is no .png file in this folder",
    "arrays": "arrays: there is no .png file in this folder; there are files of .npy",
    "-": "label maps cannot come from standard input",
}


def test_wrong_places(valor: Valor, folder: Path) -> None:
    (folder / "nothing").mkdir()
    (folder / "arrays").mkdir()
    (folder / "arrays" / "1.npy").write_bytes(b"")
    for number, path in enumerate(WRONG_PLACES):
        configured(folder, DATA.replace("gt,", f'"{path}",'), name=f"{number}.yaml")
    found = complaints(valor, folder, len(WRONG_PLACES))
    for said, message in zip(found, WRONG_PLACES.values(), strict=True):
        assert message in said


IMAGE = {"id": 1, "file_name": "1.jpg", "width": 4, "height": 3}
KINDS = [{"id": 7 + value, "name": name} for value, name in enumerate("abc")]
SEGMENTS = [{"id": 1 + value, "category_id": 7 + value} for value in range(3)]


def panoptic(**changes: Any) -> str:
    one = {"image_id": 1, "file_name": "1.png", "segments_info": SEGMENTS, **changes}
    return json.dumps({"images": [IMAGE], "categories": KINDS, "annotations": [one]})


BAD_PANOPTIC = {
    "missing": (panoptic(), "0/1.png: the PNG cannot be read: No such file or directory"),
    "not listed": (panoptic(segments_info=SEGMENTS[:2]), "segment 3 has pixels in"),
    "category": (
        panoptic(segments_info=[{"id": 1, "category_id": 99}, *SEGMENTS[1:]]),
        "annotations[0].segments_info[0].category_id: no category has the id 99",
    ),
    "twice": (
        panoptic(segments_info=SEGMENTS + SEGMENTS[:1]),
        "duplicate id 1, first at segments_info",
    ),
    "true": (
        panoptic(segments_info=[{"id": True, "category_id": 7}]),
        "segments_info[0].id: expected a whole number",
    ),
    "image": (panoptic(image_id=5), "annotations[0].image_id: no image has the id 5"),
    "cut off": (panoptic()[:-9], "the file ends inside"),
}


def test_bad_panoptic(valor: Valor, folder: Path) -> None:
    values = np.zeros((*TRUE.shape, 3), np.uint8)
    values[..., 0] = PREDICTED + 1
    for name in ["truth", *map(str, range(len(BAD_PANOPTIC)))]:
        (folder / name).mkdir()
        (folder / name / "1.png").write_bytes(png(values))
    (folder / "0" / "1.png").rename(folder / "0" / "2.png")
    (folder / "truth.json").write_text(panoptic())
    for number, (content, _) in enumerate(BAD_PANOPTIC.values()):
        (folder / f"{number}.json").write_text(content)
        data = f"data: {{ground_truth: truth.json, predictions: {number}.json}}\n"
        configured(folder, data, name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_PANOPTIC))
    for said, (name, (_, message)) in zip(found, BAD_PANOPTIC.items(), strict=True):
        assert message in said, name


def test_panoptic_label_maps_belong_to_their_image(valor: Valor, folder: Path) -> None:
    values = np.zeros((*TRUE.shape, 3), np.uint8)
    values[..., 0] = PREDICTED + 1
    for name, file in (("truth", "1.png"), ("found", "0001_panoptic.png")):
        (folder / name).mkdir()
        (folder / name / file).write_bytes(png(values))
        (folder / f"{name}.json").write_text(panoptic(file_name=file))
    configured(folder, "data: {ground_truth: truth.json, predictions: found.json}\n")
    assert mean_iou(result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))) == [1]


def test_photos_that_cannot_be_shown_cost_no_number(valor: Valor, folder: Path) -> None:
    for side, values in (("gt", TRUE), ("pr", PREDICTED)):
        (folder / side / "2.png").write_bytes(png(values))
        (folder / side / "3.png").write_bytes(png(values))
    (folder / "photos").mkdir()
    (folder / "photos" / "1.jpg").write_bytes(b"broken")
    (folder / "photos" / "2.jpg").write_bytes(png(TRUE, "JPEG"))
    data = DATA.replace("c]", "c], images: photos")
    configured(folder, data, "metrics: [mean_iou, image_scores]\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads((folder / "out" / "results.json").read_text())
    assert mean_iou(result) == [MEAN_IOU]
    told = done.stdout
    assert "images: 1 of 3 images have no file in photos (the first: 3)" in told
    assert "not shown: photos/1.jpg: not a readable image" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_label_map_without_permission(valor: Valor, folder: Path) -> None:
    (folder / "pr" / "1.png").chmod(0)
    refused(valor("evaluate", "run.yaml", cwd=folder), "pr/1.png: ", folder=folder)


def test_the_sample_project_runs_from_anywhere(valor: Valor, tmp_path: Path) -> None:
    assert valor("init", "semantic_segmentation", "new", cwd=tmp_path).returncode == 0
    config = tmp_path / "new" / "configs" / "semantic_segmentation.yaml"
    assert valor("validate", config, cwd=tmp_path).stdout == f"{config}: ok\n"
    done = valor("evaluate", config, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("PASSED")
    refused(valor("init", "semantic_segmentation", "new", cwd=tmp_path), "exists already")
