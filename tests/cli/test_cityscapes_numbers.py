"""Cityscapes' layout, with and without a config, against what cityscapesScripts counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from tests.cli.conftest import Valor, read_run
from tests.data.png_files import colours, label_map, write

Map = NDArray[np.uint8]

EVALUATED = (7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33)
"""The ids without `ignoreInEval`, in the order of their train ids."""

IMAGES = ("frankfurt_000000_000294", "frankfurt_000001_000019", "munster_000000_000019")


def scripts_iou(truths: list[Map], predictions: list[Map]) -> dict[int, float]:
    """IoU by id as evalPixelLevelSemanticLabeling.py has it.

    Predicted ids that are ignored are false negatives of the label that is right; ground truth
    that is ignored makes no false positives.
    """
    counts = np.zeros((34, 34), np.int64)
    for truth, found in zip(truths, predictions, strict=True):
        for right, said in zip(truth.ravel(), found.ravel(), strict=True):
            counts[right, said] += 1
    ious = {}
    for label in EVALUATED:
        tp = counts[label, label]
        fn = counts[label].sum() - tp
        fp = sum(counts[other, label] for other in EVALUATED if other != label)
        ious[label] = float(tp / (tp + fn + fp))
    return ious


def train_ids(values: Map) -> Map:
    table = np.full(256, 255, np.uint8)
    table[list(EVALUATED)] = range(19)
    return table[values]


class Scene:
    """Drawn streets: every id occurs on both sides, ignored ones too."""

    def __init__(self) -> None:
        draw = np.random.default_rng(7)
        self.truths: list[Map] = []
        self.found: list[Map] = []
        for image in IMAGES:
            truth = draw.permutation(np.arange(34 * 24) % 34).reshape(24, 34).astype(np.uint8)
            other = draw.integers(0, 34, truth.shape).astype(np.uint8)
            self.truths.append(truth)
            self.found.append(np.where(draw.random(truth.shape) < 0.7, truth, other))
            base = f"gtFine/val/{image.partition('_')[0]}/{image}_gtFine_"
            write(f"{base}labelIds.png", label_map(truth))
            write(f"{base}instanceIds.png", label_map(truth.astype(int) * 1000, depth=16))
            write(f"{base}color.png", colours(np.zeros((24, 34, 3), int)))
            Path(f"{base}polygons.json").write_text("{}")

    def predict(self, form: str, *, encode: Any = lambda values: values) -> None:
        for image, values in zip(IMAGES, self.found, strict=True):
            name = form.format(city=image.partition("_")[0], image=image)
            write(f"net/{name}", label_map(encode(values)))

    def train_truth(self) -> None:
        for image, values in zip(IMAGES, self.truths, strict=True):
            path = Path(f"gtFine/val/{image.partition('_')[0]}/{image}_gtFine_labelIds.png")
            path.unlink()
            train = str(path).replace("labelIds", "labelTrainIds")
            write(train, label_map(train_ids(values)))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    return Scene()


def assert_equal_to_the_script(scene: Scene, folder: Path) -> None:
    expected = scripts_iou(scene.truths, scene.found)
    found = read_run(folder)
    assert found.value("mean_iou") == pytest.approx(np.mean([*expected.values()]), abs=1e-12)
    ious = {row["label"]: row["value"] for row in found.rows("iou")}
    assert len(ious) == 19
    named = {"road": 7, "traffic light": 19, "person": 24, "bicycle": 33}
    for name, label in named.items():
        assert ious[name] == pytest.approx(expected[label], abs=1e-12)


@pytest.mark.parametrize(
    "form",
    [
        "{city}/{image}_gtFine_labelIds.png",
        "{city}/{image}.png",
        "{image}.png",
        "{image}_leftImg8bit.png",
        "{image}_pred.png",
        "{image}_leftImg8bit_pred.png",
    ],
)
def test_two_folders_are_enough(form: str, scene: Scene, valor: Valor, tmp_path: Path) -> None:
    scene.predict(form)
    done = valor("evaluate", "gtFine/val", "net", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()[0]
    assert told.startswith("semantic segmentation · Cityscapes ids · joined by file name · ")
    assert "labels: road, sidewalk, building, wall, fence, pole, traffic light, " in told
    assert "(ids 0, 1, 2, 3, 4, 5, 6, 9, 10, 14, 15, 16, 18, 29, 30 are ignored)" in told
    assert_equal_to_the_script(scene, tmp_path / "out")


@pytest.mark.parametrize("truth_too", [False, True])
def test_train_ids(truth_too: bool, scene: Scene, valor: Valor, tmp_path: Path) -> None:
    scene.predict("{image}.png", encode=train_ids)
    if truth_too:
        scene.train_truth()
    # Either order: names tell which the ground truth is.
    saved = ["--save-config", "own.yaml"]
    done = valor("evaluate", "net", "gtFine/val", "--out", "out", *saved, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_equal_to_the_script(scene, tmp_path / "out")
    said = yaml.safe_load(Path("own.yaml").read_text())["data"]
    both = {"ground_truth": "cityscapes", "predictions": "cityscapes_train_ids"}
    assert said == {
        "ground_truth": "gtFine/val",
        "predictions": "net",
        "format": "cityscapes_train_ids" if truth_too else both,
    }
    assert valor("evaluate", "own.yaml", "--out", "again", cwd=tmp_path).returncode == 0
    assert_equal_to_the_script(scene, tmp_path / "again")


def test_what_a_config_that_names_no_format_is_told(
    scene: Scene, valor: Valor, tmp_path: Path
) -> None:
    scene.predict("{image}.png")
    Path("own.yaml").write_text(
        "task: semantic_segmentation\ndata: {ground_truth: gtFine/val, predictions: net}\n"
    )
    done = valor("evaluate", "own.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: labels: the pixel values of gtFine/val have no names",
        "Its files are named as Cityscapes names them: set `format: cityscapes`.",
    ]


def test_models_of_two_encodings_and_values_of_no_class(
    scene: Scene, valor: Valor, tmp_path: Path
) -> None:
    scene.predict("{image}.png")
    Path("net").rename("ids")
    scene.predict("{image}.png", encode=train_ids)
    done = valor("evaluate", "gtFine/val", "ids", "net", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: ids: holds Cityscapes ids",
        "net: holds Cityscapes train ids",
        "evaluate models of one format at a time",
    ]
    # Where the ground truth is ignored, any value may stand.
    write(f"ids/{IMAGES[0]}.png", label_map(np.full((24, 34), 40)))
    done = valor("evaluate", "gtFine/val", "ids", cwd=tmp_path)
    assert done.returncode == 2
    assert f"ids/{IMAGES[0]}.png: no label for the value 40 (456 pixels)" in done.stderr
