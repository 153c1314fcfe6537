"""Every run whose results are kept: shipped configs, and each task in each format it can have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from tests.same_bytes import layouts
from tests.same_bytes.layouts import DATA, ROOT, SAMPLES, TABLES
from valor_cli import catalogue


class Way(NamedTuple):
    """How a run is carried out; none of it may change what it says."""

    kernel: str = "compiled"
    jobs: int = 1
    pieces: bool = False

    def __str__(self) -> str:
        parts = [self.kernel, f"{self.jobs} jobs" * (self.jobs > 1), "pieces" * self.pieces]
        return " ".join(filter(None, parts))


ONE_PROCESS = (Way(), Way(pieces=True), Way("numpy", pieces=True))
EVERY_WAY = tuple(
    Way(kernel, jobs, pieces)
    for jobs in (1, 2)
    for kernel in ("compiled", "numpy")
    for pieces in (False, True)
)


@dataclass(frozen=True)
class Run:
    """A config and its inputs.

    Attributes:
        config: Path of a shipped one, or YAML that names inputs as `data/…`.
        lay_out: Writes them.
        ways: In which it is carried out.
        baseline: YAML of a run before, that this one is compared with.
    """

    config: str
    lay_out: Callable[[], Any] | None = None
    ways: Sequence[Way] = ONE_PROCESS
    baseline: str = ""


@dataclass(frozen=True)
class Case:
    """Runs that say the same.

    Attributes:
        name: Names the file of what they say too.
        runs: By name, mostly that of a format.
        ids: Whether ids of shown objects are compared; predictions have none in files, and are told
            by their position in the file in some formats, in the image in others.
    """

    name: str
    runs: Mapping[str, Run]
    ids: bool = True

    @property
    def digits(self) -> int | None:
        """To how many numbers are rounded; None: to none, they are compared as written."""
        return _digits(self.name)


@cache
def corpus() -> Mapping[str, Case]:
    """All cases by name."""
    parts = (shipped, classification, detection, instances, segmentation, texts)
    found = [case for part in parts for case in part()]
    return {case.name: case for case in sorted(found, key=lambda case: case.name)}


MODELS_WITHIN = 5
"""Digits of numbers that rest on a model of this machine: its kernels differ between processors."""

LOGARITHMS_WITHIN = 12
"""Digits of classification: NumPy's logarithm, and so log loss, differs by a bit between processors
with AVX-512 and without. Other tasks keep their bits."""


def _digits(name: str) -> int | None:
    """To how many digits the numbers of a case are compared."""
    if name == "configs/text_generation_models":
        return MODELS_WITHIN
    task = name.removeprefix("configs/")
    return LOGARITHMS_WITHIN if task.startswith("classification") else None


def shipped() -> Iterator[Case]:
    """Every config that is shipped, whole in one process, and otherwise."""
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        run = Run(f"configs/{path.name}", ways=(Way(), Way("numpy", pieces=True)))
        yield Case(f"configs/{path.stem}", {"shipped": run})


INTERVAL = "interval: {resamples: 20, level: 0.9}\n"


def _runs(
    config: str, lay_outs: Mapping[str, Callable[[], Any]], often: Sequence[str] = ()
) -> dict[str, Run]:
    """A run of inputs in each form; of some in all ways."""
    return {
        name: Run(config, lay_out, EVERY_WAY if name in often else ONE_PROCESS)
        for name, lay_out in lay_outs.items()
    }


def _faulty(
    task: str, metrics: str, data: str, name: str, lay_out: Callable[[], Any]
) -> Iterator[Case]:
    """Rows at fault, which are left out or refused."""
    for rule in ("skip", "error"):
        config = f"task: {task}\nmetrics: [{metrics}]\ndata: {{{data}, on_invalid: {rule}}}\n"
        plain = name.replace(" ", "_")
        yield Case(f"{task}/invalid_{rule}_{plain}", {name: Run(config, lay_out)})


def _metrics(task: str, leave: Sequence[str] = (), given: Mapping[str, str] | None = None) -> str:
    """All metrics of a task that need no model, less some, some of them with parameters."""
    given = given or {}
    found = catalogue.task(task)
    names = [
        one.name
        for one in found.metrics
        if one.name not in leave and found.lacks.keys().isdisjoint(one.needs)
    ]
    return f"metrics: [{', '.join(given.get(name, name) for name in names)}]\n"


# Classification

CLASSES = [f"d{at}" for at in range(10)]
CLASSIFIED = _metrics(
    "classification",
    given={
        "top_k_accuracy": "{top_k_accuracy: {k: 3}}",
        "f1": "{f1: {average: weighted}}",
        **{
            name: f"{{{name}: {{normalize: true}}}}"
            for name in ("log_loss", "brier_score", "expected_calibration_error")
        },
    },
)
CLASSIFIED_GATES = """gates:
  - {metric: accuracy, min: 0.9}
  - {metric: recall, model: forest, label: d8, min: 0.99}
  - {metric: accuracy, slice: metadata.half=upper, min: 0.1}
"""
SCORES: Mapping[str, tuple[str, Callable[..., layouts.Rows]]] = {
    "csv classes": ("csv", layouts.by_class),
    "csv pairs": ("csv", layouts.by_pair),
    "csv lines": ("csv", layouts.by_line),
    "jsonl objects": ("jsonl", layouts.as_object),
    "jsonl items": ("jsonl", layouts.as_items),
    "jsonl numbers": ("jsonl", layouts.as_numbers),
    "jsonl lines": ("jsonl", layouts.by_line),
    "json objects": ("json", layouts.as_object),
    "parquet classes": ("parquet", layouts.by_class),
    "parquet objects": ("parquet", layouts.as_object),
    "parquet lines": ("parquet", layouts.by_line),
}
"""By name, the format, and the rows of what a model says of a sample."""


def classification() -> Iterator[Case]:
    """Scores and bare labels, on both sides in one file or two; label keys."""
    slices = "slices: [metadata.half, metadata.tier]\n"
    apart = "{ground_truth: data/truth*, predictions: {forest: data/forest*, bayes: data/bayes*}"
    head = f"task: classification\n{CLASSIFIED}{slices}{INTERVAL}{CLASSIFIED_GATES}"
    yield Case(
        "classification/scores",
        {
            name: Run(
                f"{head}data: {apart}{_classes(name)}}}\n",
                partial(_scores_apart, extension, form),
                EVERY_WAY if name in ("csv classes", "jsonl objects") else ONE_PROCESS,
            )
            for name, (extension, form) in SCORES.items()
        },
    )
    both = "{samples: {forest: data/forest*, bayes: data/bayes*}, classes: [" + ", ".join(CLASSES)
    chosen = "label_map: {d7: d1}\nfilter: {metadata.half: upper, label: [d1, d3, d8]}\n"
    head = f"task: classification\n{CLASSIFIED}{chosen}{INTERVAL}slices: [metadata.tier]\n"
    yield Case(
        "classification/scores_chosen",
        {
            name: Run(f"{head}data: {both}]}}\n", partial(_scores_together, extension, form))
            for name, (extension, form) in SCORES.items()
            if name not in ("csv pairs", "csv lines", "jsonl lines", "parquet lines")
        },
    )
    bare = "accuracy, balanced_accuracy, f1, cohen_kappa, confusion_matrix, counts, sample_scores"
    config = f"""task: classification
data: {{samples: data/people*}}
metrics: [{bare}]
slices: [metadata.subject, auto]
interval: {{resamples: 20, group: metadata.subject}}
gates: [{{metric: accuracy, min: 0.5}}, {{metric: f1, label: cat, max: 0.2}}]
"""
    yield Case(
        "classification/labels",
        _runs(config, {name: partial(_people, name) for name in TABLES}, ["csv"]),
    )
    now, before = _scored_before(
        "{ground_truth: data/truth*, predictions: {model: data/bayes*}}",
        "{ground_truth: data/truth*, predictions: {model: data/forest*}}",
        "{metric: accuracy, max_drop: 0.01}, {metric: f1, not_worse: 0.05}",
        "classification",
    )
    run = Run(now, partial(_scores_apart, "csv", layouts.by_class), (Way(),), before)
    yield Case("classification/baseline", {"csv": run})
    keys = "{samples: {forest: data/forest*}}"
    config = f"task: classification\n{CLASSIFIED}{INTERVAL}data: {keys}\n"
    yield Case(
        "classification/label_keys",
        {
            **{name: Run(config, partial(_keys, name)) for name in ("jsonl", "json")},
            **{f"{name} lines": Run(config, partial(_keys_by_line, name)) for name in TABLES},
        },
    )
    sets = (
        "subset_accuracy, hamming_loss, jaccard, counts, precision, recall, {f1: {average: micro}}"
    )
    config = f"""task: classification
data: {{{apart[1:]}, multi_label: {{separator: "|"}}}}
metrics: [{sets}, roc_auc, mean_roc_auc, average_precision, pr_curve]
{slices}{INTERVAL}gates: [{{metric: hamming_loss, max: 0.1}}, {{metric: f1, label: d1, min: 0.2}}]
"""
    yield Case(
        "classification/label_sets",
        _runs(
            config,
            {
                name: partial(_label_sets, *SCORES[name])
                for name in ("csv classes", "jsonl objects", "json objects", "parquet objects")
            },
            ["csv classes", "jsonl objects"],
        ),
    )
    for name in TABLES:
        sides = f"ground_truth: data/truth.{name}, predictions: data/forest.{name}"
        metrics = "accuracy, f1, log_loss"
        yield from _faulty("classification", metrics, sides, name, partial(_faulty_scores, name))


def _scored_before(now: str, before: str, gates: str, task: str) -> tuple[str, str]:
    """A config with intervals and gates, and that of its baseline: other predictions."""
    config = f"task: {task}\n{INTERVAL}gates: [{gates}]\ndata: "
    return f"{config}{now}\n", f"{config}{before}\n"


def _classes(name: str) -> str:
    return f", classes: [{', '.join(CLASSES)}]" if name == "jsonl numbers" else ""


def _put(name: str, extension: str, rows: layouts.Rows) -> None:
    layouts.put(f"{name}.{extension}", TABLES[extension](rows))


def _sides(
    extension: str,
    form: Callable[..., layouts.Rows],
    facts: layouts.Rows,
    said: Mapping[str, Sequence[Mapping[str, float]]],
) -> None:
    """Ground truth, and what each model says of its samples."""
    _put("truth", extension, facts)
    for model, own in said.items():
        pairs = zip(facts, own, strict=True)
        rows = [form({"sample_id": fact["sample_id"]}, scores) for fact, scores in pairs]
        _put(model, extension, [row for part in rows for row in part])


def _scores_apart(extension: str, form: Callable[..., layouts.Rows]) -> None:
    _sides(extension, form, *layouts.scored(90))


def _label_sets(extension: str, form: Callable[..., layouts.Rows]) -> None:
    """Samples with the labels of two and of none, and the scores of the first."""
    facts, said = layouts.scored(90)
    truth = []
    for at, fact in enumerate(facts):
        labels = list(dict.fromkeys([fact["label"], facts[at - 7]["label"]] * (at % 9 > 0)))
        own = {name: one for name, one in fact.items() if name != "label"}
        truth.append({**own, "labels": "|".join(labels) if extension == "csv" else labels})
    _sides(extension, form, truth, said)


def _scores_together(extension: str, form: Callable[..., layouts.Rows]) -> None:
    facts, said = layouts.scored(90)
    for model, own in said.items():
        pairs = zip(facts, own, strict=True)
        _put(model, extension, [row for fact, scores in pairs for row in form(fact, scores)])


def _people(extension: str) -> None:
    rows = layouts.records(DATA / "classification" / "human-edge-16" / "labels.csv")
    names = ("id", "label", "prediction", "subject")
    _put("people", extension, [{name: row[name] for name in names} for row in rows[::8]])


def _keyed() -> Iterator[tuple[str, dict[str, str], dict[str, dict[str, float]]]]:
    """By sample, true labels and scores of two label keys."""
    facts, said = layouts.scored(60)
    own = said["forest"]
    for at, fact in enumerate(facts):
        truth = {"shape": fact["label"], "next": facts[at - 1]["label"]}
        yield fact["sample_id"], truth, {"shape": own[at], "next": own[at - 2]}


def _keys(extension: str) -> None:
    rows = [
        {"sample_id": name, "label": truth, "predictions": scores}
        for name, truth, scores in _keyed()
    ]
    _put("forest", extension, rows)


def _keys_by_line(extension: str) -> None:
    rows = [
        row
        for name, truth, scores in _keyed()
        for key, own in scores.items()
        for row in layouts.by_line({"sample_id": name, "label_key": key, "label": truth[key]}, own)
    ]
    _put("forest", extension, rows)


def _faulty_scores(extension: str) -> None:
    """Scores of which some are no scores, and a sample that is not known."""
    facts, said = layouts.scored(20)
    scores = [dict(one) for one in said["forest"]]
    scores[3]["d4"] = -0.5
    scores[7]["d0"] = 1.75
    form = layouts.as_object if extension in ("json", "jsonl") else layouts.by_class
    names = [{"sample_id": fact["sample_id"]} for fact in facts]
    rows = [form(*pair)[0] for pair in zip(names, scores, strict=True)]
    _put("truth", extension, facts)
    _put("forest", extension, [*rows, {**rows[1], "sample_id": "nobody"}])


# Detection

BOXES = (
    "metrics: [coco, {average_precision: {iou_thresholds: [0.5, 0.75]}}, mean_average_precision, "
    "average_precision_over_ious, mean_average_precision_over_ious, average_recall, "
    "mean_average_recall, {counts: {score_threshold: 0.3}}, precision, recall, f1, best_f1, "
    "pr_curve, detailed_pr_curve, confusion_matrix, error_breakdown, {image_scores: {worst: 2}}]\n"
)
OBJECT_DATA = "{ground_truth: data/truth*, predictions: {large: data/large*, small: data/small*}"
OBJECT_GATES = """gates:
  - {metric: mean_average_precision, model: large, min: 0.5}
  - {metric: recall, label: person, max: 0.5}
"""
BOX_FORMATS: Mapping[str, Callable[[layouts.Objects, str], None]] = {
    "coco": layouts.coco_results,
    "coco dictionary": layouts.coco,
    "jsonl": layouts.objects_jsonl,
    "csv": layouts.objects_csv,
    "parquet": layouts.objects_parquet,
}
NAMED_FORMATS = {**BOX_FORMATS, "yolo": layouts.yolo, "voc": layouts.voc}
"""With those that name images by their files, and have no metadata, crowds and ids of objects."""


def detection() -> Iterator[Case]:
    """Boxes, crowd regions, rotated boxes."""
    slices = "slices: [metadata.weather, {area: [small, large]}]\n"
    head = f"task: object_detection\n{BOXES}{INTERVAL}{OBJECT_GATES}"
    yield Case(
        "object_detection/boxes",
        _runs(
            f"{head}{slices}data: {OBJECT_DATA}}}\n",
            {name: partial(_boxes, write, 40) for name, write in BOX_FORMATS.items()},
            ["coco", "csv"],
        ),
        ids=False,
    )
    now, before = _scored_before(
        "{ground_truth: data/truth*, predictions: {model: data/small*}}",
        "{ground_truth: data/truth*, predictions: {model: data/large*}}",
        "{metric: coco, output: AP, max_drop: 0.1}, {metric: coco, output: AP50, not_worse: 0.05}",
        "object_detection",
    )
    run = Run(now, partial(_boxes, layouts.coco_results, 40), (Way(),), before)
    yield Case("object_detection/baseline", {"coco": run})
    chosen = "label_map: {person: body}\nfilter: {label: [body, chair, dog]}\nmatching: valor\n"
    head = f"task: object_detection\n{BOXES}{INTERVAL}{chosen}"
    for name, write in NAMED_FORMATS.items():
        # What they say of images and objects differs: ids, sizes, areas, fractions in YOLO.
        run = Run(f"{head}data: {_object_data(name)}}}\n", partial(_named_boxes, write, 30))
        yield Case(f"object_detection/by_name_{name.replace(' ', '_')}", {name: run})
    head = f"task: object_detection\nmetrics: [coco, counts, error_breakdown]\n{INTERVAL}"
    yield Case(
        "object_detection/crowds",
        _runs(
            f"{head}data: {{ground_truth: data/truth*, predictions: data/large*}}\n",
            {name: partial(_crowds, write) for name, write in BOX_FORMATS.items()},
        ),
        ids=False,
    )
    head = f"task: object_detection\ngeometry: rotated_box\n{BOXES}{INTERVAL}{slices}"
    turned = {
        "jsonl": partial(layouts.objects_jsonl, shape=_turned_list),
        "csv": partial(layouts.objects_csv, shape=_turned_columns),
    }
    yield Case(
        "object_detection/rotated_boxes",
        {
            name: Run(f"{head}data: {OBJECT_DATA}}}\n", partial(_boxes, write, 12))
            for name, write in turned.items()
        },
        ids=False,
    )
    for name, write in NAMED_FORMATS.items():
        lay_out, data = partial(_faulty_boxes, write), _object_data(name).removeprefix("{")
        yield from _faulty("object_detection", "coco, counts", data, name, lay_out)


def _object_data(name: str) -> str:
    """YOLO and VOC are folders, others files of any extension."""
    if name not in ("yolo", "voc"):
        return OBJECT_DATA
    plain = OBJECT_DATA.replace("*", "")
    return f"{plain}, images: data/pictures" if name == "yolo" else plain


@cache
def _voc2012(images: int) -> tuple[layouts.Objects, Mapping[str, layouts.Objects]]:
    folder = SAMPLES / "object_detection"
    truth, number = layouts.coco_of(_json(folder / "ground_truth.json"), images)
    models = {}
    for name in ("large", "small"):
        results = layouts.results_of(truth, number, _json(folder / f"{name}.json"))
        models[name] = layouts.dictionary(truth, results)
    return truth, models


def _json(path: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _boxes(write: Callable[[layouts.Objects, str], None], images: int) -> None:
    """Images without names of files, which CSV does not have."""
    truth, models = _voc2012(images)
    _write_objects(write, *(_nameless(one) for one in (truth, models)))


def _named_boxes(write: Callable[[layouts.Objects, str], None], images: int) -> None:
    _write_objects(write, *_voc2012(images))


def _nameless(value: Any) -> Any:
    """The same without names of files."""
    if isinstance(value, list):
        return [_nameless(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _nameless(one) for key, one in value.items() if key != "file_name"}


def _write_objects(
    write: Callable[[layouts.Objects, str], None],
    truth: layouts.Objects,
    models: Mapping[str, layouts.Objects],
) -> None:
    write(truth, "truth")
    for name, own in models.items():
        write(own, name)
    if write is layouts.yolo:
        for image in truth["images"]:
            pixels = np.zeros((image["height"], image["width"]), np.uint8)
            layouts.put(f"pictures/{image['file_name']}", layouts.picture(pixels))


def _crowds(write: Callable[[layouts.Objects, str], None]) -> None:
    """Real images with crowd regions, their areas those of masks."""
    folder = DATA / "detection" / "coco-val2014-100"
    truth = _json(folder / "groundtruth.coco.json")
    crowded = {one["image_id"] for one in truth["annotations"] if one["iscrowd"]}
    first = sorted(truth["images"], key=lambda image: image["id"] not in crowded)
    kept, number = layouts.coco_of({**truth, "images": first}, 24)
    results = layouts.results_of(kept, number, _json(folder / "predictions.bbox.json"))
    boxes = layouts.as_boxes(kept)
    large = layouts.dictionary(boxes, results)
    _write_objects(write, _nameless(boxes), {"large": _nameless(large)})


def _turned(one: layouts.Row) -> list[float]:
    x, y, width, height = one["bbox"]
    angle = 15.0 + sum(map(ord, str(one["category_id"]))) % 40
    return [x + width / 2, y + height / 2, width, height, angle]


def _turned_list(one: layouts.Row) -> layouts.Row:
    return {"rotated_box": _turned(one)}


def _turned_columns(one: layouts.Row) -> layouts.Row:
    return dict(zip(("cx", "cy", "width", "height", "angle"), _turned(one), strict=True))


def _faulty_boxes(write: Callable[[layouts.Objects, str], None]) -> None:
    """A negative width, a score that is too high and none at all, an unknown image."""
    truth, models = _voc2012(8)
    wrong = [dict(one) for one in truth["annotations"]]
    wrong[2] = {**wrong[2], "bbox": [10.0, 10.0, -5.0, 20.0]}
    said = [dict(one) for one in models["large"]["annotations"]]
    said[1] = {**said[1], "score": float("nan")}
    said[4] = {**said[4], "bbox": [1.0, 2.0, 3.0, -4.0]}
    own = {**models["large"], "annotations": said}
    _write_objects(write, {**truth, "annotations": wrong}, {"large": own, "small": models["small"]})


def instances() -> Iterator[Case]:
    """Masks, rings, panoptic files."""
    slices = "slices: [metadata.weather, {area: [small, large]}]\n"
    data = "{ground_truth: data/truth*, predictions: {near: data/near*, far: data/far*}"
    every = BOXES.replace("[coco,", "[coco, panoptic_quality,")
    gates = "gates: [{metric: panoptic_quality, output: sq, min: 0.5}]\n"
    head = f"task: instance_segmentation\n{every}{slices}{INTERVAL}{gates}data: {data}}}\n"
    whole = head
    as_masks: Mapping[str, Callable[[layouts.Objects, str], None]] = {
        "coco": layouts.coco_results,
        "coco dictionary": layouts.coco,
        "jsonl": partial(layouts.objects_jsonl, shape=_mask),
        "jsonl pictures": _picture_masks,
    }
    yield Case(
        "instance_segmentation/masks",
        _runs(
            head,
            {name: partial(_rectangles, write, False) for name, write in as_masks.items()},
            ["coco"],
        ),
        ids=False,
    )
    head = head.replace(gates, "").replace("panoptic_quality, ", "")
    rings: Mapping[str, Callable[[layouts.Objects, str], None]] = {
        "coco": layouts.coco_results,
        "coco dictionary": layouts.coco,
        "jsonl": partial(layouts.objects_jsonl, shape=_polygon),
    }
    yield Case(
        "instance_segmentation/polygons",
        _runs(head, {name: partial(_rectangles, write, True) for name, write in rings.items()}),
        ids=False,
    )
    chosen = "label_map: {long: bar}\nfilter: {label: [bar], metadata.weather: [sun, rain]}\n"
    yield Case(
        "instance_segmentation/chosen",
        _runs(
            f"{head}{chosen}",
            {name: partial(_rectangles, as_masks[name], False) for name in ("coco", "jsonl")},
        ),
        ids=False,
    )
    for name in ("coco", "jsonl"):
        lay_out, sides = partial(_faulty_masks, as_masks[name]), data.removeprefix("{")
        yield from _faulty("instance_segmentation", "coco, counts", sides, name, lay_out)
    plain = head.replace(slices, "slices: [{area: [small, large]}]\n").replace("*", "")
    for name, write in (("yolo", layouts.yolo), ("voc", layouts.voc)):
        images = ", images: data/pictures" * (name == "yolo")
        config = plain.removesuffix("}\n") + f"{images}}}\n"
        run = Run(config, partial(_rectangles, write, True))
        yield Case(f"instance_segmentation/polygons_{name}", {name: run})
    config = whole.replace("data/truth*", "data/truth.json").replace("data/near*", "data/near.json")
    config = config.replace("data/far*", "data/far.json")
    run = Run(config, partial(_rectangles, layouts.panoptic, False))
    yield Case("instance_segmentation/panoptic", {"coco_panoptic": run})


def _rectangles(write: Callable[[layouts.Objects, str], None], rings: bool) -> None:
    truth, models = layouts.rectangles(14)
    if rings:
        truth = layouts.as_rings(truth)
        models = {name: layouts.as_rings(own) for name, own in models.items()}
    _write_objects(write, truth, models)


def _faulty_masks(write: Callable[[layouts.Objects, str], None]) -> None:
    """Run lengths that are too long, a mask of another size than its image, a score of NaN."""
    truth, models = layouts.rectangles(6)
    wrong = [dict(one) for one in truth["annotations"]]
    wrong[1] = {**wrong[1], "segmentation": {"size": [32, 48], "counts": [10, 5000]}}
    wrong[4] = {**wrong[4], "segmentation": {"size": [8, 8], "counts": [60, 4]}}
    said = [dict(one) for one in models["near"]["annotations"]]
    said[3] = {**said[3], "score": float("nan")}
    near = {**models["near"], "annotations": said}
    _write_objects(write, {**truth, "annotations": wrong}, {**models, "near": near})


def _mask(one: layouts.Row) -> layouts.Row:
    return {"mask": one["segmentation"]}


def _polygon(one: layouts.Row) -> layouts.Row:
    return {"polygon": one["segmentation"]}


def _picture_masks(objects: layouts.Objects, path: str) -> None:
    """Masks as PNGs, a file each."""

    def shape(one: layouts.Row) -> layouts.Row:
        at = objects["annotations"].index(one)
        pixels = layouts.bitmap(one["segmentation"]).astype("uint8")
        layouts.put(f"masks/{path}/{at}.png", layouts.picture(pixels))
        return {"mask": {"png": f"masks/{path}/{at}.png", "value": 1}}

    layouts.objects_jsonl(objects, path, shape)


# Label maps

MAP_LABELS = ("background", "inside", "boundary")
"""Of the values 0, 1 and 2."""


CITYSCAPES = {
    "cityscapes": (("labelIds", "_instanceIds"), (7, 8, 11)),
    "cityscapes_train_ids": (("labelTrainIds", "_color"), (0, 1, 2)),
}
"""By format, how names of label maps end and of files that are none; values of three classes."""


def segmentation() -> Iterator[Case]:
    """Folders, manifests, panoptic files."""
    every = _metrics("semantic_segmentation")
    gates = "gates: [{metric: mean_iou, min: 0.5}, {metric: iou, label: inside, max: 0.2}]\n"
    head = f"task: semantic_segmentation\n{every}{INTERVAL}{gates}"
    labels = f"labels: [{', '.join(MAP_LABELS)}]"
    sides = "ground_truth: data/ground_truth, predictions: {forest: data/random_forest, "
    folders = f"{{{sides}shifted: data/shifted}}"
    run = Run(f"{head}data: {folders}, {labels}}}\n", _maps_as_folders, EVERY_WAY)
    yield Case("semantic_segmentation/png", {"png": run})
    chosen = "label_map: {boundary: inside}\n"
    for name, more in (
        ("ignored", "ignore_index: 2"),
        ("background", "background: background"),
        ("reduced", "reduce_labels: true"),
    ):
        config = f"{head}data: {folders}, {labels}, {more}}}\n"
        yield Case(f"semantic_segmentation/{name}", {"png": Run(config, _maps_as_folders)})
    config = f"{head}{chosen}filter: {{label: [inside]}}\ndata: {folders}, {labels}}}\n"
    run = Run(f"{head}data: {folders}, format: masks}}\n", _maps_as_masks)
    yield Case("semantic_segmentation/masks", {"masks": run})
    yield Case("semantic_segmentation/chosen", {"png": Run(config, _maps_as_folders)})
    yield Case(
        "semantic_segmentation/manifests",
        {
            f"manifest {extension}": Run(
                f"{head}slices: [metadata.weather]\n"
                f"data: {{ground_truth: data/random_forest.{extension}, {labels}}}\n",
                partial(_maps_as_manifests, extension),
            )
            for extension in ("jsonl", "csv")
        },
    )
    panoptic = folders.replace("ground_truth,", "ground_truth.json,").replace(
        "random_forest,", "random_forest.json,"
    )
    panoptic = panoptic.replace("shifted}", "shifted.json}")
    run = Run(f"{head}data: {panoptic}}}\n", _maps_as_panoptic)
    yield Case("semantic_segmentation/panoptic", {"coco_panoptic": run})
    named = head.replace("label: inside", "label: sidewalk")
    yield Case(
        "semantic_segmentation/cityscapes",
        {
            name: Run(f"{named}data: {folders}, format: {name}}}\n", partial(_cityscapes, values))
            for name, values in CITYSCAPES.items()
        },
    )
    for rule in ("skip", "error"):
        config = f"{head}data: {folders}, {labels}, on_invalid: {rule}}}\n"
        yield Case(f"semantic_segmentation/invalid_{rule}", {"png": Run(config, _faulty_maps)})
    data = "{ground_truth: data/groundtruth, predictions: data/predictions, "
    head = head.replace(", {metric: iou, label: inside, max: 0.2}", "")
    config = f"{head}data: {data}labels: data/classes.json, ignore_index: 255}}\n"
    yield Case("semantic_segmentation/deeplab", {"png": Run(config, _deeplab)})


def _maps_as_folders() -> None:
    layouts.png_folders(layouts.label_maps()[1])


def _maps_as_manifests(extension: str) -> None:
    layouts.manifests(layouts.label_maps()[1], extension, TABLES[extension])


def _maps_as_masks() -> None:
    layouts.mask_folders(layouts.label_maps()[1], MAP_LABELS)


def _maps_as_panoptic() -> None:
    layouts.panoptic_maps(layouts.label_maps()[1], MAP_LABELS)


def _cityscapes(written: tuple[tuple[str, str], tuple[int, ...]]) -> None:
    """Ground truth in folders of cities, predictions in a folder."""
    (ending, other), values = written
    for side, maps in layouts.label_maps()[1].items():
        for at, pixels in enumerate(maps.values()):
            image = f"{'bonn' if at % 2 else 'ulm'}_{at:06}_000019"
            picture = layouts.picture(np.array(values, np.uint8)[pixels])
            if side != "ground_truth":
                layouts.put(f"{side}/{image}_leftImg8bit.png", picture)
                continue
            start = f"{side}/{image.split('_')[0]}/{image}_gtFine"
            layouts.put(f"{start}_{ending}.png", picture)
            layouts.put(f"{start}{other}.png", b"no label map")


def _faulty_maps() -> None:
    """A file that is cut off, one of another size, one that is missing."""
    names, sides = layouts.label_maps()
    del sides["shifted"][names[1]]
    sides["random_forest"][names[2]] = sides["random_forest"][names[2]][:50]
    layouts.png_folders(sides)
    whole = layouts.picture(sides["shifted"][names[4]])
    layouts.put(f"shifted/{names[4]}.png", whole[: len(whole) // 2])


def _deeplab() -> None:
    """Real label maps with an ignored value."""
    folder = DATA / "segmentation" / "coco-panoptic-deeplab"
    for path in sorted(folder.rglob("*.png")):
        layouts.put(str(path.relative_to(folder)), path.read_bytes())
    layouts.put("classes.json", (folder / "classes.json").read_bytes())


# Texts

MEASURED = (
    "rouge_1, rouge_2, rouge_l, rouge_lsum, bleu, bleu_1, corpus_bleu, chrf, ter, exact_match, "
    "token_f1, edit_similarity, text_matching, pii_leakage, sensitive_data_leakage, "
    "encoding_guardrail, language_consistency, looping, llm_classification"
)
TEXT_GATES = """gates:
  - {metric: exact_match, min: 0.3}
  - {metric: pii_leakage, output: pass, min: 1.0}
  - {coverage: 0.95}
"""


def texts() -> Iterator[Case]:
    """Answers, safety, contexts; the files of other tools."""
    slices = "slices: [metadata.kind, metadata.long]\n"
    head = f"task: text_generation\nmetrics: [{MEASURED}]\n{slices}{INTERVAL}{TEXT_GATES}"
    yield Case(
        "text_generation/answers",
        _runs(
            f"{head}data: {{samples: data/answers*}}\n",
            {name: partial(_answers, name) for name in TABLES},
            ["jsonl"],
        ),
    )
    data = "{samples: {fid: data/fid*, gpt4: data/gpt4*}}"
    head = "task: text_generation\nmetrics: [rouge_l, token_f1, self_consistency, looping]\n"
    chosen = "filter: {metadata.kind: [what, who]}\n"
    yield Case(
        "text_generation/answers_apart",
        _runs(
            f"{head}{chosen}{INTERVAL}data: {data}\n",
            {name: partial(_answers_apart, name) for name in TABLES},
        ),
    )
    now, before = _scored_before(
        "{samples: {model: data/fid*}}",
        "{samples: {model: data/gpt4*}}",
        "{metric: token_f1, max_drop: 0.1}, {metric: rouge_l, not_worse: 0.05}",
        "text_generation",
    )
    run = Run(now, partial(_answers_apart, "jsonl"), (Way(),), before)
    yield Case("text_generation/baseline", {"jsonl": run})
    for path in sorted((DATA / "text" / "peers").iterdir()):
        config = f"task: text_generation\ndata: {{samples: data/{path.name}}}\n"
        name = path.name.replace(".", "_")
        yield Case(f"text_generation/peer_{name}", {"whole": Run(config, partial(_copied, path))})
    for name in TABLES:
        lay_out, metrics = partial(_faulty_answers, name), "rouge_l, exact_match"
        yield from _faulty("text_generation", metrics, "samples: data/answers*", name, lay_out)


def _copied(path: Any) -> None:
    layouts.put(path.name, path.read_bytes())


def _rows_of_answers() -> list[dict[str, Any]]:
    rows = layouts.records(SAMPLES / "text_generation" / "answers.jsonl")
    names = ("sample_id", "model", "user_input", "response", "references", "condition")
    said = [
        {
            **{name: row[name] for name in names},
            "kind": row["user_input"].split()[0],
            "long": len(row["response"]) > 30,
        }
        for row in rows
    ]
    return sorted(said, key=lambda row: row["sample_id"])[:75]


def _answers(extension: str) -> None:
    _put("answers", extension, _rows_of_answers())


def _answers_apart(extension: str) -> None:
    for model in ("fid", "gpt4"):
        rows = [
            {key: value for key, value in row.items() if key != "model"}
            for row in _rows_of_answers()
            if row["model"] == model
        ]
        _put(model, extension, rows)


def _faulty_answers(extension: str) -> None:
    """A sample twice, and one without a response."""
    rows = [row for row in _rows_of_answers() if row["model"] == "fid"][:12]
    rows = [dict(row) for row in rows]
    rows[4]["response"] = None
    rows.append(dict(rows[2]))
    _put("answers", extension, rows)
