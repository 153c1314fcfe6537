"""Seeds in; small data sets in every format that can stand in several files, with configs, out.

What could make an order matter is in all of them: ties of scores, samples of one content, ids that
sort otherwise as numbers than as text, ids that are not ASCII, labels that few files have.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracles.problems import coco_files, random_dataset
from tests.oracles.text_problems import random_texts
from tests.same_bytes import Case, Cut
from valor_cli import catalogue

LABELS = ("cat", "dog", "Eule", "żaba", "10", "9")
SAMPLES = 120
INTERVAL = "interval: {resamples: 8, level: 0.9}\n"
OUT = "report: {formats: [json]}\n"

Row = Mapping[str, Any]


def ids(count: int) -> list[str]:
    """Names of samples that numbers, text and Unicode sort each in its own way."""
    forms: Sequence[Callable[[int], str]] = (
        str,
        lambda at: f"{at:05}",
        lambda at: f"foto-{at}",
        lambda at: f"写真 {at}",
        lambda at: f"É{at}",
        lambda at: f"1e{at}",
    )
    return [forms[at % len(forms)](at) for at in range(count)]


def lines(rows: Sequence[Any]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(columns: Sequence[str]) -> Callable[[Sequence[Any]], str]:
    """What writes rows, or lists of rows, as CSV with these columns."""

    def text(rows: Sequence[Any]) -> str:
        file = io.StringIO()
        writer = csv.DictWriter(file, columns, lineterminator="\n", restval="")
        writer.writeheader()
        for row in rows:
            writer.writerows(row if isinstance(row, list) else [row])
        return file.getvalue()

    return text


def flat(text: Callable[[Sequence[Any]], str]) -> Callable[[Sequence[Any]], str]:
    """The same, of lists of rows that stay together."""
    return lambda rows: text([one for part in rows for one in part])


class Scores:
    """Samples with true labels, metadata, and what two models say of them."""

    def __init__(self, seed: int, *, sparse: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.ids = ids(SAMPLES)
        self.truth = rng.choice(LABELS, SAMPLES, p=[0.4, 0.3, 0.15, 0.05, 0.05, 0.05]).tolist()
        self.weather = rng.choice(["sun", "rain", "föhn"], SAMPLES).tolist()
        self.tier = rng.integers(0, 3, SAMPLES).tolist()
        self.said = {
            "good": self._said(rng, 2.0, sparse=sparse),
            "bad": self._said(rng, 0.4, sparse=sparse),
        }

    def _said(
        self, rng: np.random.Generator, skill: float, *, sparse: bool
    ) -> list[dict[str, float]]:
        """By sample, scores of labels; of many samples the same, with ties."""
        found: list[dict[str, float]] = []
        for at, truth in enumerate(self.truth):
            if found and rng.random() < 0.15:
                found.append(dict(found[rng.integers(len(found))]))
                continue
            # Of one decimal for half of the samples: ties within samples and between them.
            own = rng.dirichlet(np.full(len(LABELS), 0.6))
            own[LABELS.index(truth)] += skill * rng.random()
            own = (own / own.sum()).round(1 if at % 2 else 6)
            listed = list(range(len(LABELS)))
            if sparse:
                listed = rng.permutation(len(LABELS))[: rng.integers(1, 5)].tolist()
            found.append({LABELS[label]: float(own[label]) for label in listed})
        return found

    def facts(self, at: int) -> dict[str, Any]:
        """What is known of a sample beside what models say."""
        own = {"sample_id": self.ids[at], "label": self.truth[at]}
        return own | {"weather": self.weather[at], "tier": self.tier[at]}


PROBABILITIES = ("log_loss", "brier_score", "expected_calibration_error")
CLASSIFIED = [
    "{top_k_accuracy: {k: 2}}",
    "{f1: {average: weighted}}",
    *(
        f"{{{one.name}: {{normalize: true}}}}" if one.name in PROBABILITIES else one.name
        for one in catalogue.task("classification").metrics
        if one.name
        not in ("top_k_accuracy", "f1", "subset_accuracy", "hamming_loss", "label_set_scores")
    ),
]
BRIEF = [one for one in CLASSIFIED if one != "detailed_pr_curve"]
"""All but the one whose examples are most of the report."""

BARE = ["accuracy", "f1", "confusion_matrix", "counts", "roc_auc", "sample_scores"]
SUMS = [
    one
    for one in CLASSIFIED
    if catalogue.metric("classification", one.strip("{").partition(":")[0]).condensed
]
"""What is streamed without keeping samples."""

SLICES = "slices: [metadata.weather, metadata.tier]\n"
BOTH = "{samples: {good: data/both*}}"
APART = "{ground_truth: data/truth*, predictions: {good: data/good*, bad: data/bad*}}"


def _classification(data: str, metrics: Sequence[str], more: str = "") -> str:
    return f"task: classification\ndata: {data}\nmetrics: [{', '.join(metrics)}]\n{more}{OUT}"


def classes_jsonl() -> Case:
    """Both sides in one JSONL, scores as objects; slices and intervals."""
    found = Scores(1)
    rows = [found.facts(at) | {"predictions": found.said["good"][at]} for at in range(SAMPLES)]
    config = _classification(BOTH, CLASSIFIED, SLICES + INTERVAL)
    return Case(config, (Cut("both", ".jsonl", rows, lines),))


def classes_jsonl_sums() -> Case:
    """Both sides in one JSONL; nothing that needs single samples."""
    return replace(classes_jsonl(), config=_classification(BOTH, SUMS))


def classes_csv_sums() -> Case:
    """Ground truth and two models as CSV, likewise."""
    return replace(classes_csv_wide(), config=_classification(APART, SUMS))


def classes_keys_sums() -> Case:
    """Two label keys, likewise."""
    return replace(classes_keys(), config=_classification(BOTH, SUMS))


def classes_jsonl_apart() -> Case:
    """Ground truth and two models, of few labels each, in JSONL."""
    found = Scores(2, sparse=True)
    truth = [found.facts(at) for at in range(SAMPLES)]
    said = {
        model: [{"sample_id": found.ids[at], "predictions": own[at]} for at in range(SAMPLES)]
        for model, own in found.said.items()
    }
    return Case(
        _classification(APART, BRIEF, SLICES + INTERVAL),
        (
            Cut("truth", ".jsonl", truth, lines),
            *(Cut(model, ".jsonl", own, lines) for model, own in said.items()),
        ),
    )


def classes_jsonl_long() -> Case:
    """A line for each label that is scored; the lines of a sample stand together."""
    found = Scores(3, sparse=True)
    rows = [
        [
            found.facts(at) | {"prediction": label, "score": score}
            for label, score in found.said["good"][at].items()
        ]
        for at in range(SAMPLES)
    ]
    config = _classification(BOTH, CLASSIFIED, SLICES)
    return Case(config, (Cut("both", ".jsonl", rows, flat(lines)),))


def classes_csv_long() -> Case:
    """The same as CSV."""
    found = Scores(4, sparse=True)
    rows = [
        [
            found.facts(at) | {"prediction": label, "score": repr(score)}
            for label, score in found.said["good"][at].items()
        ]
        for at in range(SAMPLES)
    ]
    text = table(["sample_id", "label", "weather", "tier", "prediction", "score"])
    config = _classification(BOTH, CLASSIFIED, SLICES)
    return Case(config, (Cut("both", ".csv", rows, text),))


def classes_csv_wide() -> Case:
    """Ground truth and two models as CSV, a column for each class."""
    found = Scores(5)
    truth = [found.facts(at) for at in range(SAMPLES)]
    return Case(
        _classification(APART, BRIEF, SLICES + INTERVAL),
        (
            Cut("truth", ".csv", truth, table(list(truth[0]))),
            *(
                Cut(
                    model,
                    ".csv",
                    [{"id": found.ids[at], **own[at]} for at in range(SAMPLES)],
                    table(["id", *LABELS]),
                )
                for model, own in found.said.items()
            ),
        ),
    )


def classes_csv_bare() -> Case:
    """Bare labels without scores, both sides in one CSV for each of two models."""
    found = Scores(6)
    rows = {
        model: [
            found.facts(at) | {"prediction": max(own[at], key=own[at].__getitem__)}
            for at in range(SAMPLES)
        ]
        for model, own in found.said.items()
    }
    config = _classification("{samples: {good: data/good*, bad: data/bad*}}", BARE, SLICES)
    text = table(["sample_id", "label", "weather", "tier", "prediction"])
    return Case(config, tuple(Cut(model, ".csv", own, text) for model, own in rows.items()))


def classes_keys() -> Case:
    """Two label keys of each sample, as nested objects, in JSONL."""
    found, other = Scores(7), Scores(8)
    rows = [
        {
            "sample_id": found.ids[at],
            "weather": found.weather[at],
            "tier": found.tier[at],
            "label": {"kind": found.truth[at], "色": other.truth[at]},
            "predictions": {"kind": found.said["good"][at], "色": other.said["bad"][at]},
        }
        for at in range(SAMPLES)
    ]
    config = _classification(BOTH, BRIEF, SLICES + INTERVAL)
    return Case(config, (Cut("both", ".jsonl", rows, lines),))


DETECTED = (
    "metrics: [coco, {average_precision: {iou_thresholds: [0.5, 0.75]}}, average_recall, counts, "
    "precision, recall, f1, best_f1, pr_curve, confusion_matrix, error_breakdown, image_scores]\n"
)
AREAS = "slices: [metadata.weather, {area: [small, large]}]\n"


def _distinct_scores(results: list[dict[str, Any]]) -> None:
    """Scores that are tied between images and labels, and within neither.

    Detections of one image, label and score rank as they stand in the file, as in pycocotools.
    """
    seen: dict[Any, set[float]] = {}
    for one in results:
        own = seen.setdefault((one["image_id"]), set())
        while one["score"] in own:
            one["score"] = round(one["score"] + 0.001, 3)
        own.add(one["score"])


def _scenes(seed: int) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """COCO ground truth with metadata, and the results of two models."""
    found = random_dataset(seed, images=15, labels=4, digits=1, per_image=9)
    truth, results = coco_files(found)
    for at, image in enumerate(truth["images"]):
        image["metadata"] = {"weather": ("sun", "rain", "föhn")[at % 3]}
    _distinct_scores(results)
    said = {"large": results, "small": [dict(one) for one in results[::2]]}
    return truth, said


def _coco(truth: dict[str, Any]) -> tuple[list[Any], Callable[[Sequence[Any]], str]]:
    """The images of a COCO ground truth with what stands in them; and what writes some of them."""
    rows = [
        (image, [one for one in truth["annotations"] if one["image_id"] == image["id"]])
        for image in truth["images"]
    ]

    def text(some: Sequence[Any]) -> str:
        images = [image for image, _ in some]
        annotations = [one for _, own in some for one in own]
        whole = {"images": images, "annotations": annotations, "categories": truth["categories"]}
        return json.dumps(whole, ensure_ascii=False)

    return rows, text


def _by_image(rows: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for one in rows:
        found.setdefault(one["image_id"], []).append(one)
    return list(found.values())


def _json(rows: Sequence[Any]) -> str:
    return json.dumps(rows)


def _detection(task: str, metrics: str, more: str) -> str:
    data = "{ground_truth: data/truth*, predictions: {large: data/large*, small: data/small*}}"
    return f"task: {task}\ndata: {data}\n{metrics}{more}{OUT}"


def boxes_coco(*, by_image: bool = True, seed: int = 11) -> Case:
    """COCO, the ground truth cut by image, the results by image or anywhere."""
    truth, said = _scenes(seed)
    rows, text = _coco(truth)
    return Case(
        _detection("object_detection", DETECTED, AREAS + INTERVAL),
        (
            Cut("truth", ".json", rows, text),
            *(
                Cut(model, ".json", _by_image(own), flat(_json))
                if by_image
                else Cut(model, ".json", own, _json)
                for model, own in said.items()
            ),
        ),
        numbered=True,
    )


def boxes_coco_anywhere() -> Case:
    """COCO, a detection of any image in any file."""
    return boxes_coco(by_image=False, seed=12)


def _objects(
    truth: dict[str, Any], rows: Iterable[dict[str, Any]], **more: str
) -> list[dict[str, Any]]:
    """Images with their objects, as JSONL has them."""
    names = {one["id"]: one["name"] for one in truth["categories"]}
    own: dict[Any, list[dict[str, Any]]] = {}
    for number, one in enumerate(rows):
        found: dict[str, Any] = {"label": names[one["category_id"]], "box": one["bbox"]}
        found["id"] = f"{number:x}"
        found |= {key: one[key] for key in ("score",) if key in one}
        if one.get("iscrowd"):
            found["crowd"] = True
        own.setdefault(one["image_id"], []).append(found)
    return [
        {
            "image_id": f"bild-{image['id']}.jpg",
            "width": 640,
            "height": 480,
            **({} if not more else {"metadata": image["metadata"]}),
            "objects": own.get(image["id"], []),
        }
        for image in truth["images"]
    ]


def boxes_jsonl() -> Case:
    """JSONL, an image a line."""
    truth, said = _scenes(13)
    return Case(
        _detection("object_detection", DETECTED, AREAS + INTERVAL),
        (
            Cut("truth", ".jsonl", _objects(truth, truth["annotations"], metadata="yes"), lines),
            *(Cut(name, ".jsonl", _objects(truth, own), lines) for name, own in said.items()),
        ),
        numbered=True,
    )


def _box_rows(truth: dict[str, Any], rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {one["id"]: one["name"] for one in truth["categories"]}
    weather = {one["id"]: one["metadata"]["weather"] for one in truth["images"]}
    found = []
    for one in rows:
        x, y, width, height = map(repr, one["bbox"])
        row = {"image_id": f"bild-{one['image_id']}", "label": names[one["category_id"]]}
        row |= {"x": x, "y": y, "width": width, "height": height}
        if "score" in one:
            row["score"] = repr(one["score"])
        else:
            row |= {"crowd": str(one["iscrowd"]), "weather": weather[one["image_id"]]}
        found.append(row)
    return found


def boxes_csv() -> Case:
    """CSV, a box a line; the boxes of an image of the ground truth stay together."""
    truth, said = _scenes(14)
    there = {one["image_id"] for one in truth["annotations"]}
    said = {model: [one for one in own if one["image_id"] in there] for model, own in said.items()}
    boxes = ["image_id", "label", "x", "y", "width", "height"]
    every = DETECTED.replace("pr_curve", "pr_curve, detailed_pr_curve")
    return Case(
        _detection("object_detection", every, AREAS),
        (
            Cut(
                "truth",
                ".csv",
                _by_image(_box_rows(truth, truth["annotations"])),
                table([*boxes, "crowd", "weather"]),
            ),
            *(
                Cut(name, ".csv", _box_rows(truth, own), table([*boxes, "score"]))
                for name, own in said.items()
            ),
        ),
        numbered=True,
    )


def _rle(bitmap: np.ndarray) -> dict[str, Any]:
    """Run lengths as COCO counts them, down the columns, what is not set first."""
    flat_pixels = np.concatenate([[False], bitmap.T.ravel()])
    edges = np.flatnonzero(np.diff(flat_pixels.astype(int)))
    counts = np.diff([0, *edges, flat_pixels.size - 1]).tolist()
    return {"size": list(bitmap.shape), "counts": counts}


def masks_coco() -> Case:
    """Instances as run-length encoded masks, of which no two of an image overlap."""
    rng = np.random.default_rng(15)
    truth: dict[str, Any] = {
        "images": [],
        "annotations": [],
        "categories": [{"id": at + 1, "name": name} for at, name in enumerate(LABELS[:3])],
    }
    said: dict[str, list[dict[str, Any]]] = {"large": [], "small": []}
    for image in rng.permutation(np.arange(1, 21) * 7).tolist():
        truth["images"].append(
            {"id": image, "width": 48, "height": 32, "metadata": {"weather": f"w{image % 3}"}}
        )
        for slot in range(6):
            top, left = divmod(slot, 3)
            label = int(rng.integers(1, 4))
            bitmap = np.zeros((32, 48), bool)
            height, width = rng.integers(4, 14, 2).tolist()
            bitmap[top * 16 :, left * 16 :][:height, :width] = True
            if rng.random() < 0.8:
                truth["annotations"].append(
                    {
                        "id": len(truth["annotations"]) + 1,
                        "image_id": image,
                        "category_id": label,
                        "segmentation": _rle(bitmap),
                        "area": int(bitmap.sum()),
                        "bbox": [left * 16, top * 16, width, height],
                        "iscrowd": 0,
                    }
                )
            for model, chance in (("large", 0.9), ("small", 0.5)):
                if rng.random() < chance:
                    moved = np.zeros_like(bitmap)
                    there = (slice(top * 16, top * 16 + 16), slice(left * 16, left * 16 + 16))
                    moved[there] = np.roll(bitmap[there], rng.integers(0, 3, 2).tolist(), (0, 1))
                    said[model].append(
                        {
                            "image_id": image,
                            "category_id": label,
                            "segmentation": _rle(moved),
                            "score": round(float(rng.random()), 1),
                        }
                    )
    for own in said.values():
        _distinct_scores(own)
    rows, text = _coco(truth)
    return Case(
        _detection(
            "instance_segmentation", DETECTED.replace("[coco,", "[coco, panoptic_quality,"), AREAS
        ),
        (
            Cut("truth", ".json", rows, text),
            *(Cut(model, ".json", own, _json) for model, own in said.items()),
        ),
        numbered=True,
    )


MEASURED = (
    "metrics: [rouge_l, rouge_1, rouge_lsum, bleu_1, bleu, corpus_bleu, chrf, ter, exact_match, "
    "token_f1, edit_similarity, self_consistency, text_matching, pii_leakage, "
    "sensitive_data_leakage, encoding_guardrail, language_consistency, looping]\n"
)


def _answers(seed: int, said: int) -> list[dict[str, Any]]:
    """Samples of one seed, answered as those of another are."""
    found, answered = random_texts(seed, questions=7), random_texts(said, questions=7)
    names = ids(found.unit_count)
    return [
        {
            "sample_id": names[at],
            "user_input": found.user_input[at],
            "response": answered.response[at],
            "references": list(found.references[at]),
            "condition": found.condition[at],
            "group": found.group[at],
            "weather": ("sun", "rain", "föhn")[at % 3],
        }
        for at in range(found.unit_count)
    ]


def texts_jsonl() -> Case:
    """Answers of two models in one JSONL, told apart by a column; those to one question together.

    Models stand in the order in which rows first name them.
    """
    answers = zip(_answers(16, 16), _answers(16, 17), strict=True)
    rows = [[good | {"model": "good"}, bad | {"model": "bad"}] for good, bad in answers]
    config = f"task: text_generation\ndata: {{samples: data/both*}}\n{MEASURED}"
    slices = "slices: [metadata.weather]\n"
    return Case(
        f"{config}{slices}{INTERVAL}{OUT}",
        (Cut("both", ".jsonl", rows, flat(lines)),),
        ordered=True,
    )


def texts_jsonl_alone() -> Case:
    """The same, less the metric that compares samples with each other and has to see all."""
    case = texts_jsonl()
    return replace(case, config=case.config.replace("self_consistency, ", ""))


def texts_csv() -> Case:
    """Answers of two models as CSV, joined by sample."""
    columns = ["id", "question", "answer", "reference", "weather"]
    rows = {
        model: [
            {
                "id": row["sample_id"],
                "question": row["user_input"],
                "answer": row["response"],
                "reference": next(iter(row["references"]), None),
                "weather": row["weather"],
            }
            for row in _answers(18, seed)
        ]
        for model, seed in (("good", 18), ("bad", 19))
    }
    data = "{samples: {good: data/good*, bad: data/bad*}}"
    metrics = "metrics: [rouge_l, exact_match, token_f1, looping, pii_leakage]\n"
    config = f"task: text_generation\ndata: {data}\n{metrics}slices: [metadata.weather]\n{OUT}"
    return Case(
        config,
        tuple(Cut(model, ".csv", own, table(columns)) for model, own in rows.items()),
        ordered=True,
    )


MAPS = Path(__file__).parents[2] / "sample_data" / "semantic_segmentation"
SEGMENTED = (
    "metrics: [mean_iou, iou, f1, pixel_accuracy, boundary_iou, confusion_matrix, image_scores]\n"
)


def label_map_folders() -> Case:
    """Folders of label maps, which are no files to cut: of ground truth, and of two models."""
    models = ", ".join(f"{name}: {MAPS / name}" for name in ("random_forest", "shifted"))
    data = (
        f"{{ground_truth: {MAPS / 'ground_truth'}, predictions: {{{models}}}, "
        f"labels: {MAPS / 'classes.json'}}}"
    )
    config = f"task: semantic_segmentation\ndata: {data}\n{INTERVAL}{OUT}{SEGMENTED}"
    return Case(config, ())


def label_maps() -> Case:
    """Pairs of label maps in a manifest, some of them several times."""
    names = sorted(one.name for one in (MAPS / "ground_truth").iterdir())
    rows = [
        {
            "sample_id": name,
            "ground_truth": str(MAPS / "ground_truth" / names[at % len(names)]),
            "prediction": str(MAPS / "random_forest" / names[at % len(names)]),
            "weather": ("sun", "rain", "föhn")[at % 3],
        }
        for at, name in enumerate(ids(14))
    ]
    data = f"{{ground_truth: data/pairs.jsonl, labels: {MAPS / 'classes.json'}}}"
    slices = "slices: [metadata.weather]\n"
    config = f"task: semantic_segmentation\ndata: {data}\n{slices}{INTERVAL}{OUT}{SEGMENTED}"
    return Case(config, (Cut("pairs", ".jsonl", rows, lines, whole=True),))


CASES: Mapping[str, Callable[[], Case]] = {
    one.__name__: one
    for one in (
        classes_jsonl,
        classes_jsonl_sums,
        classes_csv_sums,
        classes_keys_sums,
        classes_jsonl_apart,
        classes_jsonl_long,
        classes_csv_long,
        classes_csv_wide,
        classes_csv_bare,
        classes_keys,
        boxes_coco,
        boxes_coco_anywhere,
        boxes_jsonl,
        boxes_csv,
        masks_coco,
        texts_jsonl,
        texts_jsonl_alone,
        texts_csv,
        label_maps,
        label_map_folders,
    )
}
