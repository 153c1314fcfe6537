"""Numbers of semantic segmentation, from files to results.json, against slow oracles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.cli.conftest import ROOT, Evaluate, Run, written
from tests.data.png_files import GRAY, PALETTE, colours, label_map, write
from tests.oracles.label_map_numbers import (
    VOID,
    Image,
    Key,
    Name,
    all_numbers,
    counted,
    image_scores,
    named,
)
from tests.oracles.seeded_label_maps import Maps, seeded_maps
from valor_cli.kernels import engine

TASK = "semantic_segmentation"
DATA = ROOT / "tests" / "real_data" / "segmentation"
GOLDEN = json.loads((ROOT / "tests/golden/segmentation/torchmetrics.json").read_text())

AVERAGES = ("macro", "micro", "weighted")
FAST = [
    *("iou", "mean_iou", "pixel_accuracy", "mean_accuracy", "frequency_weighted_iou"),
    *("confusion_matrix", "image_scores"),
    *({name: {"average": how}} for name in ("precision", "recall", "f1") for how in AVERAGES),
]
METRICS = [*FAST, "boundary_iou"]
NAMES = ("sky", "road", "car", "tree", "sea")
DATA_BLOCK = {"ground_truth": "gt", "predictions": "dt", "labels": list(NAMES)}


def near(value: Any, within: float = 1e-12) -> Any:
    return value if value is None else pytest.approx(value, abs=within, rel=0)


def numbers(run: Run, model: str | None = None, part: str | None = None) -> dict[Key, float | None]:
    """The values of one model, the only one if none is named, and of one slice."""
    own = (model or run.result["models"][0], part)
    rows = [row for row in run.result["metrics"] if (row["model"], row["slice"]) == own]
    found: dict[Key, float | None] = {
        (row["metric"], row["label"], row["parameters"].get("average"), row["output"]): row["value"]
        for row in rows
    }
    assert len(found) == len(rows)
    assert all(row["undefined"] for row in rows if row["value"] is None)
    return found


def folders(at: Path, maps: Maps, *, depth: int = 8, kind: int = GRAY, model: str = "dt") -> None:
    """PNGs of both sides under gt/ and the model's name."""
    for name, (truth, found) in maps.items():
        write(at / "gt" / f"{name}.png", label_map(truth, depth=depth, kind=kind))
        write(at / model / f"{name}.png", label_map(found, depth=depth, kind=kind))


def images(
    maps: Maps, truth_of: Callable[[int], Name], found_of: Callable[[int], Name] | None = None
) -> dict[str, Image]:
    """What the pixels are called."""
    return {
        name: Image(named(truth, truth_of), named(found, found_of or truth_of))
        for name, (truth, found) in maps.items()
    }


def same(found: Mapping[Key, float | None], expected: Mapping[Key, float | None]) -> None:
    """The same rows, of the same values; boundaries only where the run has them."""
    if not any(metric == "boundary_iou" for metric, *_ in found):
        expected = {key: one for key, one in expected.items() if key[0] != "boundary_iou"}
    assert found.keys() == expected.keys()
    off = {key: (found[key], value) for key, value in expected.items() if found[key] != near(value)}
    assert not off


class Case(NamedTuple):
    """Label maps, what a config says of them, and what their pixels are then called.

    Attributes:
        truths: The values of the ground truth.
        predictions: Those that are strewn into the predictions; None: the same.
        changed: Values of predictions that are others.
        data: More keys of `data:`.
        config: More keys of the config.
        names: By value; None is no label.
        found: The same of predictions, where it differs.
        labels: That have rows.
        depth: Bits of a pixel.
        kind: Of the PNGs.
        metrics: Boundaries take the oracle long.
    """

    truths: Sequence[int]
    predictions: Sequence[int] | None = None
    changed: Mapping[int, int] = {}
    data: Mapping[str, Any] = {}
    config: Mapping[str, Any] = {}
    names: Mapping[int, Name] = dict(enumerate(NAMES))
    found: Mapping[int, Name] = {}
    labels: Sequence[str] = NAMES
    depth: int = 8
    kind: int = GRAY
    metrics: Sequence[Any] = FAST


FIVE = range(5)


def ignoring(*values: int, **more: Any) -> Case:
    """True pixels of the values are in no number; predicted ones elsewhere are misses."""
    kept = {value: name for value, name in enumerate(NAMES) if value not in values}
    return Case(
        FIVE,
        data={"ignore_index": values[0] if len(values) == 1 else list(values)},
        names={**kept, **dict.fromkeys(values, VOID)},
        found={**kept, **dict.fromkeys(values)},
        labels=list(kept.values()),
        **more,
    )


def mapped(names: Mapping[str, str], background: str | None = None, **more: Any) -> Case:
    """Labels by their new names, of which the background's is none."""
    new = [names.get(name, name) for name in NAMES]
    none = None if background is None else names.get(background, background)
    return Case(
        FIVE,
        data={} if background is None else {"background": background},
        config={"label_map": names},
        names={value: None if name == none else name for value, name in enumerate(new)},
        labels=[name for name in dict.fromkeys(new) if name != none],
        **more,
    )


def without_sky(background: str | int, **more: Any) -> Case:
    """Sky is the background, and 9 is ignored."""
    return Case(
        [0, 1, 2, 3, 9],
        [0, 1, 2, 3],
        {9: 1},
        {"background": background, "ignore_index": 9, **more},
        names={0: None, 9: VOID, 1: "road", 2: "car", 3: "tree"},
        labels=NAMES[1:],
        metrics=METRICS,
    )


SPARSE = {7: "road", 11: "sidewalk", 300: "sign"}
REDUCED: Mapping[int, Name] = {0: VOID, 255: VOID, **dict(enumerate(NAMES, 1))}
"""What mean_iou of Hugging Face evaluate (and mmsegmentation) makes of a true label map."""

CASES = {
    # Every label on both sides; one in the ground truth alone, one predicted alone; two in neither.
    "both": Case(FIVE, metrics=METRICS),
    "one side": Case([0, 1, 2, 3], [0, 1, 2, 4], {3: 4}, metrics=METRICS),
    "absent": Case([1, 2], metrics=METRICS),
    "16 bit": Case(range(4), depth=16),
    "palette": Case(range(4), kind=PALETTE),
    "4 bit palette": Case(range(4), kind=PALETTE, depth=4),
    "4 bit": Case(range(4), depth=4),
    "2 bit": Case(range(4), depth=2),
    "ignored": ignoring(4, metrics=METRICS),
    "two ignored": ignoring(1, 4),
    "ignored, one not there": ignoring(4, 0)._replace(data={"ignore_index": [200, 4, 0]}),
    "background": without_sky("sky"),
    "background 0": without_sky(0),
    "background unnamed": without_sky(0, labels={1: "road", 2: "car", 3: "tree", 4: "sea"}),
    "reduced": Case(
        [*range(6), 255],
        FIVE,
        {5: 4, 255: 4},
        {"reduce_labels": True, "ignore_index": 255},
        names=REDUCED,
        found=dict(enumerate(NAMES)),
        metrics=METRICS,
    ),
    "two into one": mapped({"car": "thing", "tree": "thing"}, metrics=METRICS),
    "onto a label": mapped({"car": "road"}),
    "onto the background": mapped({"car": "sky", "tree": "sky"}, "sky", metrics=METRICS),
    "the background renamed": mapped({"sky": "nothing", "sea": "nothing"}, "sky"),
    "swapped": mapped({"car": "road", "road": "car"}),
    # Ground truth of other labels is ignored; predictions stay, and may be wrong.
    "filter": Case(
        FIVE,
        config={"filter": {"label": ["car", "sea"]}},
        names={0: VOID, 1: VOID, 2: "car", 3: VOID, 4: "sea"},
        found=dict(enumerate(NAMES)),
        metrics=METRICS,
    ),
    "sparse": Case(
        list(SPARSE), data={"labels": SPARSE}, names=SPARSE, labels=[*SPARSE.values()], depth=16
    ),
    "sparse in a file": Case(
        list(SPARSE),
        data={"labels": "classes.json"},
        names=SPARSE,
        labels=[*SPARSE.values()],
        depth=16,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_metric(tmp_path: Path, evaluate: Evaluate, name: str) -> None:
    case = CASES[name]
    maps = seeded_maps(11, case.truths, case.predictions)
    for old, new in case.changed.items():
        maps = {key: (one, np.where(two == old, new, two)) for key, (one, two) in maps.items()}
    folders(tmp_path, maps, depth=case.depth, kind=case.kind)
    (tmp_path / "classes.json").write_text(json.dumps(SPARSE))
    run = evaluate({**DATA_BLOCK, **case.data}, case.metrics, **case.config)
    pictures = images(maps, case.names.__getitem__, (case.found or case.names).__getitem__)
    same(numbers(run), all_numbers([*pictures.values()], case.labels))
    (table,) = run.result["tables"]
    assert table["labels"] == list(case.labels)
    cells = counted(pictures.values())
    assert table["unmatched_ground_truths"] == [cells[one, None] for one in case.labels]
    assert table["unmatched_predictions"] == [cells[None, one] for one in case.labels]
    missing, ignored = (["tree"], ["sea"]) if name == "one side" else ([], [])
    if name in ("both", "one side", "absent"):
        assert run.result["missing_prediction_labels"] == {"dt": missing}
        assert run.result["ignored_prediction_labels"] == {"dt": ignored}


@pytest.mark.parametrize("zero", [0.0, 1.0, 0.25])
def test_zero_division(tmp_path: Path, evaluate: Evaluate, zero: float) -> None:
    maps = {"a": (np.array([[0, 0, 1, 2]]), np.array([[0, 0, 0, 3]]))}
    folders(tmp_path, maps)
    metrics = [
        {name: {"average": how, "zero_division": zero}}
        for name in ("precision", "f1")
        for how in AVERAGES
    ]
    run = evaluate(DATA_BLOCK, metrics)
    expected = all_numbers([*images(maps, NAMES.__getitem__).values()], NAMES, zero=zero)
    same(numbers(run), {key: one for key, one in expected.items() if key[0] in ("precision", "f1")})
    # sky is predicted three times, twice rightly; road and car never; sea never and nowhere.
    assert numbers(run)["precision", None, "macro", "value"] == near((2 / 3 + zero + zero) / 3)
    told = {row["label"]: row["undefined"] for row in run.result["metrics"]}
    assert "zero_division" in told["road"]
    assert told["sky"] is None


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"seed {case['seed']}")
def test_torchmetrics(tmp_path: Path, evaluate: Evaluate, case: dict[str, Any]) -> None:
    maps = seeded_maps(case["seed"], [*range(5), 255], range(5))
    folders(
        tmp_path, {name: (one, np.where(two == 255, 0, two)) for name, (one, two) in maps.items()}
    )
    run = evaluate({**DATA_BLOCK, "ignore_index": 255}, FAST)
    found = numbers(run)
    assert run.result["tables"][0]["matrix"] == case["confusion_matrix"]
    for metric in ("precision", "recall", "f1"):
        for how in AVERAGES:
            assert found[metric, None, how, "value"] == near(case[metric][how]), (metric, how)
        ours = [found[metric, name, "macro", "value"] for name in NAMES]
        assert ours == near(case[metric]["none"])
    # Its MulticlassJaccardIndex divides in single precision.
    ious = [found["iou", name, None, "value"] for name in NAMES]
    assert ious == near(case["iou"]["none"], 1e-7)
    for metric, how in (("mean_iou", "macro"), ("frequency_weighted_iou", "weighted")):
        assert found[metric, None, None, "value"] == near(case["iou"][how], 1e-7), metric


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("road", [1, 300])
def test_a_pixel_that_a_prediction_leaves_open_is_a_miss(
    tmp_path: Path,
    evaluate: Evaluate,
    monkeypatch: pytest.MonkeyPatch,
    compiled: bool,
    road: int,
) -> None:
    """An ignored value is right nowhere, on background neither."""
    if not compiled:
        monkeypatch.setattr(engine, "compiled", None)
    maps = {"a": (np.array([[0, 0, road, road, 7]]), np.array([[0, 7, road, 7, road]]))}
    folders(tmp_path, maps, depth=8 if road == 1 else 16)
    data = {**DATA_BLOCK, "labels": {0: "sky", road: "road"}}
    found = numbers(evaluate({**data, "background": "sky", "ignore_index": 7}, METRICS))
    # Of 4 judged pixels one is background without a label, one is road predicted as road.
    assert {
        found[key]
        for key in [
            ("pixel_accuracy", None, None, "value"),
            ("image_scores", None, None, "pixel_accuracy"),
            ("mean_accuracy", None, None, "value"),
            ("iou", "road", None, "value"),
            ("boundary_iou", "road", None, "value"),
        ]
    } == {1 / 2}


def test_reduce_labels_beyond_255(tmp_path: Path, evaluate: Evaluate) -> None:
    """With 300 labels in 16 bits the values 255 and 256 are two labels, one less than that."""
    names = [f"label {at}" for at in range(300)]
    maps = {"a": (np.array([[1, 255, 256, 257]]), np.array([[0, 254, 255, 256]]))}
    folders(tmp_path, maps, depth=16)
    more = {"labels": names, "reduce_labels": True, "ignore_index": 65_535}
    assert evaluate({**DATA_BLOCK, **more}, ["pixel_accuracy"]).value("pixel_accuracy") == 1


WEATHER = {
    f"image-{at}": {"sample_id": f"s{at}", "weather": "rain" if at % 3 else "sun", "hour": at % 2}
    for at in range(5)
}


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv"])
def test_slices_and_filters_are_the_subset_alone(
    tmp_path: Path, evaluate: Evaluate, name: str
) -> None:
    maps = seeded_maps(19, range(4), range(5), images=5)
    folders(tmp_path, maps)
    rows = [
        {"ground_truth": f"gt/{one}.png", "prediction": f"dt/{one}.png", **WEATHER[one]}
        for one in maps
    ]
    if name == "pairs.jsonl":
        written(tmp_path / name, rows)
    else:
        lines = [",".join(map(str, row)) for row in (rows[0], *(row.values() for row in rows))]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    data = {"ground_truth": name, "labels": list(NAMES)}
    sliced = evaluate(data, FAST, slices=["metadata.weather", "metadata.hour"])
    pictures = images(maps, NAMES.__getitem__)
    same(numbers(sliced), all_numbers([*pictures.values()], NAMES))
    for key, value in (("weather", "rain"), ("weather", "sun"), ("hour", 0), ("hour", 1)):
        subset = [pictures[one] for one, row in WEATHER.items() if row[key] == value]
        expected = all_numbers(subset, NAMES)
        same(numbers(sliced, "model", f"metadata.{key}={value}"), expected)
        same(numbers(evaluate(data, FAST, filter={f"metadata.{key}": value})), expected)
    one = evaluate(data, FAST, filter={"sample_id": ["s1", "s4"]})
    same(numbers(one), all_numbers([pictures["image-1"], pictures["image-4"]], NAMES))


def panoptic(at: Path, side: str, maps: Mapping[str, np.ndarray], names: Mapping[int, str]) -> None:
    """A segment for each value, 0 for none; 2 is a crowd of category 20 in the ground truth."""
    annotations = []
    for number, (name, values) in enumerate(maps.items(), 1):
        # Ids of segments are no categories, and need more than one colour channel.
        write(at / side / f"{name}.png", colours(np.where(values > 0, values * 300, 0)))
        segments = [
            {"id": int(value) * 300, "category_id": int(value) * 10, "iscrowd": int(value == 2)}
            for value in np.unique(values[values > 0])
        ]
        annotations.append(
            {"image_id": number, "file_name": f"{name}.png", "segments_info": segments}
        )
    document = {
        "images": [
            {"id": at, "file_name": f"{name}.jpg", "height": len(one), "width": one.shape[1]}
            for at, (name, one) in enumerate(maps.items(), 1)
        ],
        "categories": [{"id": key, "name": name} for key, name in names.items()],
        "annotations": annotations,
    }
    (at / f"{side}.json").write_text(json.dumps(document))


def test_panoptic(tmp_path: Path, evaluate: Evaluate) -> None:
    """panopticapi's conversion: crowds have their category; no segment is void, or no label."""
    names = {10: "person", 20: "car", 40: "sky"}
    maps = seeded_maps(21, [0, 1, 2, 4], noise=0.2)
    panoptic(tmp_path, "gt", {name: one for name, (one, _) in maps.items()}, names)
    panoptic(tmp_path, "dt", {name: two for name, (_, two) in maps.items()}, names)
    run = evaluate({"ground_truth": "gt.json", "predictions": "dt.json"}, METRICS)
    pictures = images(
        maps,
        lambda value: names[value * 10] if value else VOID,
        lambda value: names[value * 10] if value else None,
    )
    same(numbers(run), all_numbers([*pictures.values()], list(names.values())))
    # The same predictions as label maps of category ids, 0 for none.
    for name, (_, found) in maps.items():
        write(tmp_path / "png" / f"{name}.png", label_map(found * 10))
    again = evaluate({"ground_truth": "gt.json", "predictions": "png", "ignore_index": 0}, METRICS)
    assert numbers(again) == numbers(run)


def test_limit_and_several_models(tmp_path: Path, evaluate: Evaluate) -> None:
    names = list(NAMES)
    sets = {
        model: seeded_maps(22, range(5), noise=noise)
        for model, noise in (("good", 0.05), ("bad", 0.4))
    }
    for model, maps in sets.items():
        folders(tmp_path, maps, model=model)
    truths = {name: one for name, (one, _) in sets["bad"].items()}
    data = {"ground_truth": "gt", "predictions": {one: one for one in sets}, "labels": names}
    run, limited = evaluate(data, FAST), evaluate(data, FAST, "--limit", 2)
    for model, maps in sets.items():
        own = {name: (truths[name], two) for name, (_, two) in maps.items()}
        pictures = [*images(own, NAMES.__getitem__).values()]
        same(numbers(run, model), all_numbers(pictures, NAMES))
        same(numbers(limited, model), all_numbers(pictures[:2], NAMES))
        alone = evaluate({**data, "predictions": {model: model}}, FAST)
        for kind in ("metrics", "tables"):
            own = [one for one in run.result[kind] if one["model"] == model]
            assert alone.result[kind] == own


def test_the_confusion_matrix(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(23, [0, 1, 2, 3, 4, 255], [0, 1, 2, 4])
    maps = {name: (one, np.where(two == 3, 2, two)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    run = evaluate({**DATA_BLOCK, "ignore_index": 255, "background": "sky"}, FAST)
    names = dict(enumerate(NAMES)) | {0: None}
    cells = counted(
        images(
            maps,
            lambda value: VOID if value == 255 else names[value],
            lambda value: None if value == 255 else names[value],
        ).values()
    )
    labels, (table,) = NAMES[1:], run.result["tables"]
    truths = {one: sum(n for (truth, _), n in cells.items() if truth == one) for one in labels}
    founds = {one: sum(n for (_, found), n in cells.items() if found == one) for one in labels}
    for row, truth in enumerate(labels):
        for column, found in enumerate(labels):
            both = cells[truth, found]
            assert table["matrix"][row][column] == both
            union = truths[truth] + founds[found] - both
            assert table["ious"][row][column] == pytest.approx(both / union, abs=1e-15)
        missed, invented = cells[truth, None], cells[None, truth]
        assert table["unmatched_ground_truths"][row] == missed
        assert table["unmatched_predictions"][row] == invented
        assert sum(table["matrix"][row]) + missed == truths[truth]
        assert sum(one[row] for one in table["matrix"]) + invented == founds[truth]
        assert table["unmatched_ground_truth_ratios"][row] == missed / truths[truth]
        share = None if not founds[truth] else invented / founds[truth]
        assert table["unmatched_prediction_ratios"][row] == share
    assert founds["tree"] == 0
    assert run.row("pixel_accuracy")["n"] == cells.total()
    assert {row["label"]: row["n"] for row in run.rows("iou")} == truths


def test_each_image_as_if_alone(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(24, [0, 1, 2, 3, 255], [0, 1, 2, 3, 4], images=5)
    maps["void"] = np.full((4, 6), 255), np.zeros((4, 6), np.int64)
    folders(tmp_path, maps)
    data = {**DATA_BLOCK, "ignore_index": 255}
    run = evaluate(data, FAST)
    assert [line["sample_id"] for line in run.samples] == sorted(maps)
    pictures = images(
        maps,
        lambda value: VOID if value == 255 else NAMES[value],
        lambda value: None if value == 255 else NAMES[value],
    )
    for line in run.samples:
        entry = line["metrics"]["image_scores"]
        cells = counted([pictures[line["sample_id"]]])
        expected = image_scores(pictures[line["sample_id"]], NAMES)
        assert entry["value"] == near(expected["mean_iou"])
        outputs = entry["outputs"]
        assert outputs["pixel_accuracy"] == near(expected["pixel_accuracy"])
        assert outputs["pixels"] == cells.total()
        right = sum(n for (truth, found), n in cells.items() if truth == found)
        assert outputs["errors"] == cells.total() - right
        if line["sample_id"] == "void":
            assert entry["value"] is None
            assert entry["reason"]
            continue
        alone = evaluate(data, FAST, filter={"sample_id": line["sample_id"]})
        assert alone.value("mean_iou") == near(entry["value"])
        assert alone.value("pixel_accuracy") == near(outputs["pixel_accuracy"])


def test_the_worst_images(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(25, range(4), images=6)
    maps["right"] = maps["image-0"][0], maps["image-0"][0]
    folders(tmp_path, maps)
    run = evaluate(DATA_BLOCK, [{"image_scores": {"worst": 3}}])
    scores = {
        name: float(image_scores(one, NAMES)["mean_iou"] or 0)
        for name, one in images(maps, NAMES.__getitem__).items()
    }
    worst = sorted(scores, key=lambda name: scores[name])[:3]
    assert [one["sample_id"] for one in run.result["examples"]] == worst
    values = [one["value"] for one in run.result["examples"]]
    assert values == near([scores[name] for name in worst])
    (curve,) = run.result["curves"]
    expected = np.quantile([*scores.values()], curve["points"]["quantile"])
    assert curve["points"]["mean_iou"] == near(expected.tolist())


@pytest.mark.parametrize("ratio", [0.0001, 0.07, 0.6])
def test_boundary_iou(tmp_path: Path, evaluate: Evaluate, ratio: float) -> None:
    maps = seeded_maps(26, [0, 1, 2, 255], [0, 1, 2], images=2, noise=0.01)
    maps = {name: (one, np.where(two == 255, 2, two)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    run = evaluate(
        {**DATA_BLOCK, "labels": ["sky", "road", "car"], "ignore_index": 255},
        [{"boundary_iou": {"dilation_ratio": ratio}}],
    )
    pictures = images(maps, lambda value: VOID if value == 255 else NAMES[value])
    expected = all_numbers([*pictures.values()], NAMES[:3], ratio=ratio)
    same(numbers(run), {key: one for key, one in expected.items() if key[0] == "boundary_iou"})


def test_boundary_iou_of_thin_and_tiny_images(tmp_path: Path, evaluate: Evaluate) -> None:
    """An image narrower than its boundary is all boundary: boundary IoU is IoU there."""
    rng = np.random.default_rng(27)
    shapes = {"row": (1, 40), "column": (40, 1), "dot": (1, 1), "pair": (2, 30)}
    maps = {
        name: (rng.integers(0, 2, shape), rng.integers(0, 2, shape))
        for name, shape in shapes.items()
    }
    folders(tmp_path, maps)
    found = numbers(evaluate(DATA_BLOCK, ["boundary_iou", "iou"]))
    for name in ("sky", "road"):
        assert found["boundary_iou", name, None, "value"] == found["iou", name, None, "value"]


class RealSet(NamedTuple):
    """How the expected numbers of a set are called, and its values that are ignored."""

    folder: str
    mean_iou: str
    mean_accuracy: str
    ignored: int | None


REAL = {
    "dsb2018-nuclei-a": RealSet("semantic", "mIoU", "mean_class_accuracy", None),
    "coco-panoptic-deeplab": RealSet(
        "", "mIoU_over_classes_in_gt", "mean_recall_over_classes_in_gt", 255
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_real_sets(evaluate: Evaluate, name: str) -> None:
    """Every number of expected.json; its labels without ground truth or prediction have none."""
    real = REAL[name]
    folder = DATA / name / real.folder
    data: dict[str, Any] = {
        "ground_truth": str(folder / "groundtruth"),
        "predictions": {"model": str(folder / "predictions")},
        "labels": str(folder / "classes.json"),
    }
    run = evaluate(data if real.ignored is None else {**data, "ignore_index": real.ignored}, FAST)
    expected = json.loads((DATA / name / "expected.json").read_text())["semantic"]
    found, (table,) = numbers(run), run.result["tables"]
    assert table["matrix"] == expected["confusion_matrix_rows_gt_cols_pred"]
    for key, own in (
        ("iou", "iou"),
        ("f1", "dice_f1"),
        ("precision", "precision"),
        ("recall", "recall"),
    ):
        average = None if key == "iou" else "macro"
        for label in table["labels"]:
            value = found[key, label, average, "value"]
            there = expected["per_class"].get(label)
            assert value == (None if there is None else near(there[own]))
    assert set(expected["per_class"]) <= set(table["labels"])
    for key, own in (
        ("mean_iou", real.mean_iou),
        ("mean_accuracy", real.mean_accuracy),
        ("pixel_accuracy", "pixel_accuracy"),
        ("frequency_weighted_iou", "frequency_weighted_IoU"),
    ):
        assert found[key, None, None, "value"] == near(expected[own]), key
    pixels = sum(map(sum, table["matrix"]))
    assert pixels == expected.get("pixels_counted", pixels)
    rows = dict(zip(table["labels"], table["matrix"], strict=True))
    for label, there in expected["per_class"].items():
        assert there.get("gt_pixels", sum(rows[label])) == sum(rows[label])
        column = table["labels"].index(label)
        predicted = sum(row[column] for row in table["matrix"])
        assert there.get("pred_pixels", predicted) == predicted
