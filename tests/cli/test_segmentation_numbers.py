"""Numbers of semantic segmentation, from files to results.json, against slow oracles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.cli.conftest import ROOT, Valor
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
from tests.program import invoke
from valor_cli.kernels import engine

DATA = ROOT / "tests" / "real_data" / "segmentation"
GOLDEN = json.loads((ROOT / "tests/golden/segmentation/torchmetrics.json").read_text())

METRICS = [
    "iou",
    "mean_iou",
    "pixel_accuracy",
    "mean_accuracy",
    "frequency_weighted_iou",
    "boundary_iou",
    "confusion_matrix",
    "image_scores",
    *(
        {name: {"average": average}}
        for name in ("precision", "recall", "f1")
        for average in ("macro", "micro", "weighted")
    ),
]
FAST = [metric for metric in METRICS if metric != "boundary_iou"]
NAMES = ("sky", "road", "car", "tree", "sea")


class Run(NamedTuple):
    """What a run wrote: results.json, and samples.jsonl a dictionary a line."""

    results: dict[str, Any]
    samples: list[dict[str, Any]]

    def numbers(self, model: str | None = None, part: str | None = None) -> dict[Key, float | None]:
        """The values of one model, its only one if none is named, and of one slice."""
        model = model or self.results["models"][0]
        rows = [
            row for row in self.results["metrics"] if (row["model"], row["slice"]) == (model, part)
        ]
        found: dict[Key, float | None] = {
            (row["metric"], row["label"], row["parameters"].get("average"), row["output"]): row[
                "value"
            ]
            for row in rows
        }
        assert len(found) == len(rows)
        assert all(row["undefined"] for row in rows if row["value"] is None)
        return found

    def table(self, model: str | None = None) -> dict[str, Any]:
        """The confusion matrix of one model."""
        model = model or self.results["models"][0]
        (table,) = [one for one in self.results["tables"] if one["model"] == model]
        return dict(table)


Evaluate = Callable[..., Run]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """`evaluate(data, *arguments, **top)` runs the program in the folder of the test."""

    def run(
        data: Mapping[str, Any], *arguments: object, metrics: Sequence[Any] = FAST, **top: Any
    ) -> Run:
        config = {"task": "semantic_segmentation", "data": data, "metrics": metrics, **top}
        (tmp_path / "run.yaml").write_text(json.dumps(config))
        command = ["evaluate", str(tmp_path / "run.yaml"), "--out", str(tmp_path / "out")]
        done = invoke([*command, "--format", "json", *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        written = tmp_path / "out" / "samples.jsonl"
        lines = written.read_text().splitlines() if written.exists() else []
        results = json.loads((tmp_path / "out" / "results.json").read_text())
        return Run(results, [json.loads(line) for line in lines])

    return run


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
    off = {
        key: (found[key], value)
        for key, value in expected.items()
        if found[key] != (value if value is None else pytest.approx(value, rel=0, abs=1e-12))
    }
    assert not off


def of(names: Sequence[str]) -> Callable[[int], str]:
    """Names by position."""
    return lambda value: names[value]


DATA_BLOCK = {"ground_truth": "gt", "predictions": "dt", "labels": list(NAMES)}


# Every label on both sides; one in the ground truth alone, one predicted alone; two in neither.
SIDES = {
    "both": ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
    "one side": ([0, 1, 2, 3], [0, 1, 2, 4]),
    "absent": ([1, 2], [1, 2]),
}


@pytest.mark.parametrize("sides", SIDES)
def test_every_metric(tmp_path: Path, evaluate: Evaluate, sides: str) -> None:
    truths, predictions = SIDES[sides]
    maps = seeded_maps(11, truths, predictions)
    if sides == "one side":
        maps = {
            name: (truth, np.where(found == 3, 4, found)) for name, (truth, found) in maps.items()
        }
    folders(tmp_path, maps)
    run = evaluate(DATA_BLOCK, metrics=METRICS)
    same(run.numbers(), all_numbers([*images(maps, of(NAMES)).values()], NAMES))
    missing, ignored = (["tree"], ["sea"]) if sides == "one side" else ([], [])
    assert run.results["missing_prediction_labels"] == {"dt": missing}
    assert run.results["ignored_prediction_labels"] == {"dt": ignored}


@pytest.mark.parametrize("zero", [0.0, 1.0, 0.25])
def test_zero_division(tmp_path: Path, evaluate: Evaluate, zero: float) -> None:
    maps = {"a": (np.array([[0, 0, 1, 2]]), np.array([[0, 0, 0, 3]]))}
    folders(tmp_path, maps)
    metrics = [
        {name: {"average": average, "zero_division": zero}}
        for name in ("precision", "f1")
        for average in ("macro", "micro", "weighted")
    ]
    run = evaluate(DATA_BLOCK, metrics=metrics)
    expected = all_numbers([*images(maps, of(NAMES)).values()], NAMES, zero=zero)
    mine = {key: one for key, one in expected.items() if key[0] in ("precision", "f1")}
    same(run.numbers(), mine)
    # sky is predicted three times, twice rightly; road and car never; sea never and nowhere.
    assert run.numbers()["precision", None, "macro", "value"] == pytest.approx(
        (2 / 3 + zero + zero) / 3
    )
    told = {row["label"]: row["undefined"] for row in run.results["metrics"]}
    assert "zero_division" in told["road"]
    assert told["sky"] is None


@pytest.mark.parametrize(
    ("depth", "kind"), [(16, GRAY), (8, PALETTE), (4, PALETTE), (4, GRAY), (2, GRAY)]
)
def test_depths_and_palettes(tmp_path: Path, evaluate: Evaluate, depth: int, kind: int) -> None:
    maps = seeded_maps(12, range(min(4, 1 << depth)), images=2)
    folders(tmp_path, maps, depth=depth, kind=kind)
    same(
        evaluate(DATA_BLOCK).numbers(),
        all_numbers([*images(maps, of(NAMES)).values()], NAMES),
    )


def test_scikit_learn(tmp_path: Path, evaluate: Evaluate) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    maps = seeded_maps(13, [0, 1, 2, 3], [0, 1, 2, 4], images=4)
    folders(tmp_path, maps)
    found = evaluate(DATA_BLOCK).numbers()
    truth = np.concatenate([one.ravel() for one, _ in maps.values()])
    prediction = np.concatenate([one.ravel() for _, one in maps.values()])
    seen = {"labels": [0, 1, 2, 3]}
    for average in ("macro", "micro", "weighted"):
        expected = sklearn.precision_recall_fscore_support(
            truth, prediction, **seen, average=average, zero_division=0
        )
        ours = [found[name, None, average, "value"] for name in ("precision", "recall", "f1")]
        assert ours == pytest.approx(expected[:3], abs=1e-12)
    for name, average in (("mean_iou", "macro"), ("frequency_weighted_iou", "weighted")):
        expected = sklearn.jaccard_score(truth, prediction, **seen, average=average)
        assert found[name, None, None, "value"] == pytest.approx(expected, abs=1e-12)
    ious = sklearn.jaccard_score(truth, prediction, **seen, average=None)
    assert [found["iou", name, None, "value"] for name in NAMES[:4]] == pytest.approx(ious)
    assert found["pixel_accuracy", None, None, "value"] == pytest.approx(
        sklearn.accuracy_score(truth, prediction), abs=1e-12
    )
    # A label that is predicted alone is none of balanced_accuracy_score's either.
    expected = sklearn.recall_score(truth, prediction, **seen, average="macro")
    assert found["mean_accuracy", None, None, "value"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"seed {case['seed']}")
def test_torchmetrics(tmp_path: Path, evaluate: Evaluate, case: dict[str, Any]) -> None:
    maps = seeded_maps(case["seed"], [*range(5), 255], range(5))
    folders(
        tmp_path, {name: (one, np.where(two == 255, 0, two)) for name, (one, two) in maps.items()}
    )
    run = evaluate({**DATA_BLOCK, "ignore_index": 255})
    found = run.numbers()
    assert run.table()["matrix"] == case["confusion_matrix"]
    for metric in ("precision", "recall", "f1"):
        for average in ("macro", "micro", "weighted"):
            value = found[metric, None, average, "value"]
            assert value == pytest.approx(case[metric][average], abs=1e-12), (metric, average)
        ours = [found[metric, name, "macro", "value"] for name in NAMES]
        assert ours == pytest.approx(case[metric]["none"], abs=1e-12)
    # Its MulticlassJaccardIndex divides in single precision.
    ious = [found["iou", name, None, "value"] for name in NAMES]
    assert ious == pytest.approx(case["iou"]["none"], rel=0, abs=1e-7)
    for metric, average in (("mean_iou", "macro"), ("frequency_weighted_iou", "weighted")):
        value = found[metric, None, None, "value"]
        assert value == pytest.approx(case["iou"][average], rel=0, abs=1e-7), metric


@pytest.mark.parametrize("ignored", [[4], [1, 4], [200, 4, 0]])
def test_ignored_values(tmp_path: Path, evaluate: Evaluate, ignored: list[int]) -> None:
    """True pixels of the values are in no number; predicted ones elsewhere are misses."""
    maps = seeded_maps(14, [0, 1, 2, 3, 4])
    folders(tmp_path, maps)
    labels = [name for value, name in enumerate(NAMES) if value not in ignored]
    pictures = images(
        maps,
        lambda value: VOID if value in ignored else NAMES[value],
        lambda value: None if value in ignored else NAMES[value],
    )
    given = ignored[0] if len(ignored) == 1 else ignored
    run = evaluate({**DATA_BLOCK, "ignore_index": given}, metrics=METRICS)
    same(run.numbers(), all_numbers([*pictures.values()], labels))
    table = run.table()
    cells = counted(pictures.values())
    assert table["labels"] == labels
    assert table["unmatched_ground_truths"] == [cells[name, None] for name in labels]
    assert sum(table["unmatched_ground_truths"]) > 0
    assert table["unmatched_predictions"] == [0] * len(labels)


@pytest.mark.parametrize("background", ["sky", 0])
def test_background(tmp_path: Path, evaluate: Evaluate, background: str | int) -> None:
    maps = seeded_maps(15, [0, 1, 2, 3, 9], [0, 1, 2, 3])
    maps = {name: (one, np.where(two == 9, 1, two)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    data = {**DATA_BLOCK, "background": background, "ignore_index": 9}
    names = {0: None, 9: VOID, 1: "road", 2: "car", 3: "tree"}
    pictures = images(maps, names.__getitem__)
    run = evaluate(data, metrics=METRICS)
    same(run.numbers(), all_numbers([*pictures.values()], NAMES[1:]))
    cells = counted(pictures.values())
    assert run.table()["unmatched_predictions"] == [cells[None, name] for name in NAMES[1:]]
    assert cells[None, None] > 0
    assert (
        run.numbers()
        == evaluate(
            {**data, "labels": {1: "road", 2: "car", 3: "tree", 4: "sea"}, "background": 0},
            metrics=METRICS,
        ).numbers()
    )


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
    run = evaluate({**data, "background": "sky", "ignore_index": 7}, metrics=METRICS)
    # Of 4 judged pixels one is background without a label, one is road predicted as road.
    assert run.numbers()["pixel_accuracy", None, None, "value"] == 2 / 4
    assert run.numbers()["image_scores", None, None, "pixel_accuracy"] == 2 / 4
    assert run.numbers()["mean_accuracy", None, None, "value"] == 1 / 2
    assert run.numbers()["iou", "road", None, "value"] == 1 / 2
    assert run.numbers()["boundary_iou", "road", None, "value"] == 1 / 2


def reduced(truth: np.ndarray, ignored: int = 255) -> np.ndarray:
    """What mean_iou of Hugging Face evaluate (and mmsegmentation) does to a true label map."""
    label = truth.copy()
    label[label == 0] = 255
    label = label - 1
    label[label == 254] = 255
    assert ignored == 255
    return label


def test_reduce_labels(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(16, [0, 1, 2, 3, 4, 5, 255], [0, 1, 2, 3, 4])
    maps = {name: (one, np.minimum(two, 4)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    run = evaluate({**DATA_BLOCK, "reduce_labels": True, "ignore_index": 255}, metrics=METRICS)
    shifted = {name: (reduced(one), two) for name, (one, two) in maps.items()}
    pictures = images(shifted, lambda value: VOID if value == 255 else NAMES[value])
    same(run.numbers(), all_numbers([*pictures.values()], NAMES))
    # Its intersect_and_union: predictions and truth where the truth is not ignored, in histograms.
    keep = [(one[one != 255], two[one != 255]) for one, two in shifted.values()]
    truth, found = (np.concatenate(side) for side in zip(*keep, strict=True))
    both = np.histogram(found[found == truth], bins=5, range=(0, 4))[0]
    areas = [np.histogram(side, bins=5, range=(0, 4))[0] for side in (truth, found)]
    ious = both / (areas[0] + areas[1] - both)
    numbers = run.numbers()
    assert numbers["mean_iou", None, None, "value"] == pytest.approx(np.nanmean(ious), abs=1e-12)
    accuracy = both.sum() / areas[0].sum()
    assert numbers["pixel_accuracy", None, None, "value"] == pytest.approx(accuracy, abs=1e-12)
    assert numbers["mean_accuracy", None, None, "value"] == pytest.approx((both / areas[0]).mean())


def test_reduce_labels_beyond_255(tmp_path: Path, evaluate: Evaluate) -> None:
    """With 300 labels in 16 bits the values 255 and 256 are two labels, one less than that."""
    names = [f"label {at}" for at in range(300)]
    maps = {"a": (np.array([[1, 255, 256, 257]]), np.array([[0, 254, 255, 256]]))}
    folders(tmp_path, maps, depth=16)
    run = evaluate({**DATA_BLOCK, "labels": names, "reduce_labels": True, "ignore_index": 65_535})
    assert run.numbers()["pixel_accuracy", None, None, "value"] == 1


MERGED = {
    "two into one": ({"car": "thing", "tree": "thing"}, None),
    "onto a label": ({"car": "road"}, None),
    "onto the background": ({"car": "sky", "tree": "sky"}, "sky"),
    "the background renamed": ({"sky": "nothing", "sea": "nothing"}, "sky"),
    "by its new name": ({"sky": "nothing", "sea": "nothing"}, "nothing"),
    "swapped": ({"car": "road", "road": "car"}, None),
}


@pytest.mark.parametrize("case", MERGED)
def test_label_map(tmp_path: Path, evaluate: Evaluate, case: str) -> None:
    label_map, background = MERGED[case]
    maps = seeded_maps(17, range(5))
    folders(tmp_path, maps)
    data = DATA_BLOCK if background is None else {**DATA_BLOCK, "background": background}
    mapped = [label_map.get(name, name) for name in NAMES]
    none = None if background is None else label_map.get(background, background)
    pictures = images(maps, lambda value: None if mapped[value] == none else mapped[value])
    labels = [name for name in dict.fromkeys(mapped) if name != none]
    run = evaluate(data, metrics=METRICS, label_map=label_map)
    same(run.numbers(), all_numbers([*pictures.values()], labels))


def test_filter_by_label(tmp_path: Path, evaluate: Evaluate) -> None:
    """Ground truth of other labels is ignored; predictions stay, and may be wrong."""
    maps = seeded_maps(18, range(5))
    folders(tmp_path, maps)
    run = evaluate(DATA_BLOCK, metrics=METRICS, filter={"label": ["car", "sea"]})
    kept = {2, 4}
    pictures = images(maps, lambda value: NAMES[value] if value in kept else VOID, of(NAMES))
    same(run.numbers(), all_numbers([*pictures.values()], NAMES))


def manifest(at: Path, maps: Maps, metadata: Mapping[str, Mapping[str, Any]], name: str) -> None:
    """Both sides and a line for each pair."""
    folders(at, maps)
    rows = [
        {"ground_truth": f"gt/{one}.png", "prediction": f"dt/{one}.png", **metadata[one]}
        for one in maps
    ]
    if name.endswith(".jsonl"):
        (at / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(map(str, row.values())) for row in rows]
        (at / name).write_text("\n".join([",".join(rows[0]), *lines]) + "\n")


WEATHER = {
    f"image-{at}": {"sample_id": f"s{at}", "weather": "rain" if at % 3 else "sun", "hour": at % 2}
    for at in range(5)
}


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv"])
def test_slices_and_filters_are_the_subset_alone(
    tmp_path: Path, evaluate: Evaluate, name: str
) -> None:
    maps = seeded_maps(19, range(4), range(5), images=5)
    manifest(tmp_path, maps, WEATHER, name)
    data = {"ground_truth": name, "labels": list(NAMES)}
    sliced = evaluate(data, metrics=METRICS, slices=["metadata.weather", "metadata.hour"])
    pictures = images(maps, of(NAMES))
    same(sliced.numbers("model"), all_numbers([*pictures.values()], NAMES))
    for key, value in (("weather", "rain"), ("weather", "sun"), ("hour", 0), ("hour", 1)):
        subset = [pictures[one] for one, row in WEATHER.items() if row[key] == value]
        expected = all_numbers(subset, NAMES)
        same(sliced.numbers("model", f"metadata.{key}={value}"), expected)
        alone = evaluate(data, metrics=METRICS, filter={f"metadata.{key}": value})
        same(alone.numbers(), expected)
    one = evaluate(data, filter={"sample_id": ["s1", "s4"]})
    same(one.numbers(), all_numbers([pictures["image-1"], pictures["image-4"]], NAMES))


def test_sparse_values(tmp_path: Path, evaluate: Evaluate) -> None:
    """Labels of {7: road, 11: sidewalk} are those of {0: road, 1: sidewalk}."""
    maps = seeded_maps(20, [7, 11, 300])
    folders(tmp_path, maps, depth=16)
    names = {7: "road", 11: "sidewalk", 300: "sign"}
    (tmp_path / "classes.json").write_text(json.dumps(names))
    expected = all_numbers([*images(maps, names.__getitem__).values()], list(names.values()))
    for labels in (names, "classes.json"):
        run = evaluate({**DATA_BLOCK, "labels": labels})
        same(run.numbers(), expected)
        assert run.table()["labels"] == ["road", "sidewalk", "sign"]


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
    run = evaluate({"ground_truth": "gt.json", "predictions": "dt.json"}, metrics=METRICS)
    pictures = images(
        maps,
        lambda value: names[value * 10] if value else VOID,
        lambda value: names[value * 10] if value else None,
    )
    same(run.numbers(), all_numbers([*pictures.values()], list(names.values())))
    # The same predictions as label maps of category ids, 0 for none.
    for name, (_, found) in maps.items():
        write(tmp_path / "png" / f"{name}.png", label_map(found * 10))
    again = evaluate(
        {"ground_truth": "gt.json", "predictions": "png", "ignore_index": 0}, metrics=METRICS
    )
    assert again.numbers() == run.numbers()


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
    run, limited = evaluate(data), evaluate(data, "--limit", 2)
    for model, maps in sets.items():
        own = {name: (truths[name], two) for name, (_, two) in maps.items()}
        pictures = [*images(own, of(NAMES)).values()]
        same(run.numbers(model), all_numbers(pictures, NAMES))
        same(limited.numbers(model), all_numbers(pictures[:2], NAMES))
        alone = evaluate({**data, "predictions": {model: model}})
        assert alone.numbers(model) == run.numbers(model)
        assert alone.table(model) == run.table(model)


def test_the_confusion_matrix(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(23, [0, 1, 2, 3, 4, 255], [0, 1, 2, 4])
    maps = {name: (one, np.where(two == 3, 2, two)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    run = evaluate({**DATA_BLOCK, "ignore_index": 255, "background": "sky"})
    names = dict(enumerate(NAMES)) | {0: None}
    cells = counted(
        images(
            maps,
            lambda value: VOID if value == 255 else names[value],
            lambda value: None if value == 255 else names[value],
        ).values()
    )
    labels, table = NAMES[1:], run.table()
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
    pixels = [row["n"] for row in run.results["metrics"] if row["metric"] == "pixel_accuracy"]
    assert pixels == [cells.total()]
    support = {row["label"]: row["n"] for row in run.results["metrics"] if row["metric"] == "iou"}
    assert support == truths


def test_each_image_as_if_alone(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(24, [0, 1, 2, 3, 255], [0, 1, 2, 3, 4], images=5)
    maps["void"] = np.full((4, 6), 255), np.zeros((4, 6), np.int64)
    folders(tmp_path, maps)
    data = {**DATA_BLOCK, "ignore_index": 255}
    run = evaluate(data)
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
        assert entry["value"] == pytest.approx(expected["mean_iou"], abs=1e-12)
        outputs = entry["outputs"]
        assert outputs["pixel_accuracy"] == pytest.approx(expected["pixel_accuracy"], abs=1e-12)
        assert outputs["pixels"] == cells.total()
        right = sum(n for (truth, found), n in cells.items() if truth == found)
        assert outputs["errors"] == cells.total() - right
        if line["sample_id"] == "void":
            assert entry["value"] is None
            assert entry["reason"]
            continue
        alone = evaluate(data, filter={"sample_id": line["sample_id"]}).numbers()
        assert alone["mean_iou", None, None, "value"] == pytest.approx(entry["value"], abs=1e-12)
        accuracy = alone["pixel_accuracy", None, None, "value"]
        assert accuracy == pytest.approx(outputs["pixel_accuracy"], abs=1e-12)


def test_the_worst_images(tmp_path: Path, evaluate: Evaluate) -> None:
    maps = seeded_maps(25, range(4), images=6)
    maps["right"] = maps["image-0"][0], maps["image-0"][0]
    folders(tmp_path, maps)
    run = evaluate(DATA_BLOCK, metrics=[{"image_scores": {"worst": 3}}])
    scores = {
        name: float(image_scores(one, NAMES)["mean_iou"] or 0)
        for name, one in images(maps, of(NAMES)).items()
    }
    worst = sorted(scores, key=lambda name: scores[name])[:3]
    assert [one["sample_id"] for one in run.results["examples"]] == worst
    values = [one["value"] for one in run.results["examples"]]
    assert values == pytest.approx([scores[name] for name in worst], abs=1e-12)
    (curve,) = run.results["curves"]
    expected = np.quantile([*scores.values()], curve["points"]["quantile"])
    assert curve["points"]["mean_iou"] == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize("ratio", [0.0001, 0.02, 0.07, 0.15, 0.6])
def test_boundary_iou(tmp_path: Path, evaluate: Evaluate, ratio: float) -> None:
    maps = seeded_maps(26, [0, 1, 2, 255], [0, 1, 2], images=2, noise=0.01)
    maps = {name: (one, np.where(two == 255, 2, two)) for name, (one, two) in maps.items()}
    folders(tmp_path, maps)
    run = evaluate(
        {**DATA_BLOCK, "labels": ["sky", "road", "car"], "ignore_index": 255},
        metrics=[{"boundary_iou": {"dilation_ratio": ratio}}],
    )
    pictures = images(maps, lambda value: VOID if value == 255 else NAMES[value])
    expected = all_numbers([*pictures.values()], NAMES[:3], ratio=ratio)
    same(run.numbers(), {key: one for key, one in expected.items() if key[0] == "boundary_iou"})


def test_boundary_iou_of_thin_and_tiny_images(tmp_path: Path, evaluate: Evaluate) -> None:
    """An image narrower than its boundary is all boundary: boundary IoU is IoU there."""
    rng = np.random.default_rng(27)
    shapes = {"row": (1, 40), "column": (40, 1), "dot": (1, 1), "pair": (2, 30)}
    maps = {
        name: (rng.integers(0, 2, shape), rng.integers(0, 2, shape))
        for name, shape in shapes.items()
    }
    folders(tmp_path, maps)
    numbers = evaluate(DATA_BLOCK, metrics=["boundary_iou", "iou"]).numbers()
    for name in ("sky", "road"):
        assert numbers["boundary_iou", name, None, "value"] == numbers["iou", name, None, "value"]


def test_intervals(tmp_path: Path, evaluate: Evaluate) -> None:
    """Percentiles of the values of resamples, each of them evaluated as a data set of its own."""
    maps = seeded_maps(28, range(3), images=6, noise=0.3)
    folders(tmp_path, maps)
    names = NAMES[:3]
    run = evaluate(
        {**DATA_BLOCK, "labels": list(names)},
        metrics=METRICS,
        interval={"method": "bootstrap", "resamples": 40, "level": 0.8, "seed": 5},
    )
    pictures = [*images(maps, of(NAMES)).values()]
    drawn = [np.random.default_rng([5, at]).integers(0, 6, 6).tolist() for at in range(40)]
    wanted = ("mean_iou", "pixel_accuracy", "frequency_weighted_iou", "iou", "f1", "image_scores")
    values: dict[Key, list[float]] = {}
    for sample in drawn:
        chosen = [pictures[one] for one in sample]
        for key, value in all_numbers(chosen, names, ratio=1e-9).items():
            if key[0] in wanted:
                values.setdefault(key, []).append(float(value or 0))
    for row in run.results["metrics"]:
        average = row["parameters"].get("average")
        key = (row["metric"], row["label"], average, row["output"])
        if key in values:
            expected = np.quantile(values[key], [0.1, 0.9]).tolist()
            assert row["interval"] == pytest.approx(expected, abs=1e-12), key
        low, high = row["interval"]
        assert low <= high


def bytes_of(folder: Path) -> tuple[dict[str, Any], str]:
    """results.json without the block that says when it ran, and samples.jsonl."""
    results = json.loads((folder / "results.json").read_text())
    del results["run"]
    return results, (folder / "samples.jsonl").read_text()


def test_runs_are_the_same(tmp_path: Path, valor: Valor) -> None:
    """Twice, with two processes, and with names that come in another order."""
    maps = seeded_maps(29, range(4), images=7)
    folders(tmp_path / "one", maps)
    turned = {f"z{9 - at}": maps[name] for at, name in enumerate(sorted(maps))}
    folders(tmp_path / "two", turned)
    config = {
        "task": "semantic_segmentation",
        "data": DATA_BLOCK,
        "metrics": METRICS,
        "interval": {"resamples": 60},
    }
    for folder in ("one", "two"):
        (tmp_path / folder / "run.yaml").write_text(json.dumps(config))
    for folder, out, *more in (
        ("one", "a"),
        ("one", "b"),
        ("one", "c", "--jobs", "2"),
        ("two", "d"),
    ):
        path = tmp_path / folder / "run.yaml"
        # One of them in a process in which sets have another order.
        seed = {"PYTHONHASHSEED": "1"} if out == "b" else {}
        done = valor("evaluate", path, "--out", tmp_path / out, "--format", "json", *more, **seed)
        assert done.returncode == 0, done.stderr
    first = bytes_of(tmp_path / "a")
    assert bytes_of(tmp_path / "b") == first
    assert bytes_of(tmp_path / "c") == first
    other, _ = bytes_of(tmp_path / "d")
    for row, again in zip(first[0]["metrics"], other["metrics"], strict=True):
        exact = row["metric"] != "image_scores"
        assert row["value"] == (again["value"] if exact else pytest.approx(again["value"]))
    assert first[0]["tables"] == other["tables"]


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
    run = evaluate(data if real.ignored is None else {**data, "ignore_index": real.ignored})
    expected = json.loads((DATA / name / "expected.json").read_text())["semantic"]
    numbers, table = run.numbers(), run.table()
    assert table["matrix"] == expected["confusion_matrix_rows_gt_cols_pred"]
    for key, own in (
        ("iou", "iou"),
        ("f1", "dice_f1"),
        ("precision", "precision"),
        ("recall", "recall"),
    ):
        average = None if key == "iou" else "macro"
        for label in table["labels"]:
            value = numbers[key, label, average, "value"]
            there = expected["per_class"].get(label)
            assert value == (None if there is None else pytest.approx(there[own], abs=1e-12))
    assert set(expected["per_class"]) <= set(table["labels"])
    for key, own in (
        ("mean_iou", real.mean_iou),
        ("mean_accuracy", real.mean_accuracy),
        ("pixel_accuracy", "pixel_accuracy"),
        ("frequency_weighted_iou", "frequency_weighted_IoU"),
    ):
        assert numbers[key, None, None, "value"] == pytest.approx(expected[own], abs=1e-12), key
    pixels = sum(map(sum, table["matrix"]))
    assert pixels == expected.get("pixels_counted", pixels)
    rows = dict(zip(table["labels"], table["matrix"], strict=True))
    for label, there in expected["per_class"].items():
        assert there.get("gt_pixels", sum(rows[label])) == sum(rows[label])
        column = table["labels"].index(label)
        predicted = sum(row[column] for row in table["matrix"])
        assert there.get("pred_pixels", predicted) == predicted
