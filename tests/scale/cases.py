"""Seeds in; small data sets in every format that can stand in several files, with configs, out.

What could make an order matter is in all of them: ties of scores, samples of one content, ids that
sort otherwise as numbers than as text, ids that are not ASCII, labels that few files have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracles.problems import coco_files, random_dataset
from tests.oracles.text_problems import random_texts
from tests.same_bytes import Case, Cut, layouts
from tests.same_bytes.layouts import as_object, by_class, by_line
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


def flat(parts: Sequence[Any]) -> list[Row]:
    """Rows, of which some stay together in lists."""
    return [row for part in parts for row in (part if isinstance(part, list) else [part])]


def cut(stem: str, extension: str, rows: Sequence[Any], **more: bool) -> Cut:
    """An input of rows, and of lists of rows that stay together."""
    columns = layouts.columns_of(flat(rows))
    write = {
        ".jsonl": layouts.as_jsonl,
        ".csv": partial(layouts.as_csv, columns=columns),
        ".json": layouts.as_json,
    }[extension]
    return Cut(stem, extension, rows, lambda some: write(flat(some)).decode(), **more)


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


EACH = "{samples: {good: data/good*, bad: data/bad*}}"
"""Both sides in one file, in one file for each of two models, and each side in files of its own."""


def _classification(data: str, metrics: Sequence[str], more: str = "") -> str:
    return f"task: classification\ndata: {data}\nmetrics: [{', '.join(metrics)}]\n{more}{OUT}"


def bare(facts: Row, scores: Mapping[str, float]) -> layouts.Rows:
    """The label alone, without its score."""
    return [{**facts, "prediction": max(scores, key=scores.__getitem__)}]


def classes(
    seed: int,
    form: Callable[[Row, Mapping[str, float]], layouts.Rows],
    extension: str,
    data: str = BOTH,
    metrics: Sequence[str] = CLASSIFIED,
    more: str = SLICES + INTERVAL,
    *,
    sparse: bool = False,
) -> Case:
    """Samples in some form; what is said of one stays together."""
    found = Scores(seed, sparse=sparse)
    facts = [found.facts(at) for at in range(SAMPLES)]
    models = ["both"] if data == BOTH else list(found.said)
    known = [{"sample_id": one["sample_id"]} for one in facts] if data == APART else facts
    truth = [cut("truth", extension, facts)] if data == APART else []
    return Case(
        _classification(data, metrics, more),
        (
            *truth,
            *(
                cut(
                    model,
                    extension,
                    [
                        list(form(one, scores))
                        for one, scores in zip(
                            known, found.said["good" if model == "both" else model], strict=True
                        )
                    ],
                )
                for model in models
            ),
        ),
    )


def classes_keys(metrics: Sequence[str] = BRIEF, more: str = SLICES + INTERVAL) -> Case:
    """Two label keys of each sample, as nested objects, in JSONL."""
    found, other = Scores(7), Scores(8)
    rows = [
        {
            **found.facts(at),
            "label": {"kind": found.truth[at], "色": other.truth[at]},
            "predictions": {"kind": found.said["good"][at], "色": other.said["bad"][at]},
        }
        for at in range(SAMPLES)
    ]
    return Case(_classification(BOTH, metrics, more), (cut("both", ".jsonl", rows),))


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
        weather = ("sun", "rain", "föhn")[at % 3]
        image |= {"width": 640, "height": 480, "metadata": {"weather": weather}}
    _distinct_scores(results)
    said = {"large": results, "small": [dict(one) for one in results[::2]]}
    return truth, said


def _coco(truth: Mapping[str, Any]) -> Cut:
    """The images of a COCO ground truth with what stands in them."""
    rows = [
        (image, [one for one in truth["annotations"] if one["image_id"] == image["id"]])
        for image in truth["images"]
    ]

    def text(some: Sequence[Any]) -> str:
        images = [image for image, _ in some]
        annotations = [one for _, own in some for one in own]
        whole = {"images": images, "annotations": annotations, "categories": truth["categories"]}
        return json.dumps(whole, ensure_ascii=False)

    return Cut("truth", ".json", rows, text)


def _by_image(rows: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for one in rows:
        found.setdefault(one["image_id"], []).append(one)
    return list(found.values())


def _detection(
    inputs: Sequence[Cut],
    metrics: str = DETECTED,
    more: str = AREAS + INTERVAL,
    task: str = "object_detection",
) -> Case:
    """Of a ground truth and the models that follow it."""
    models = ", ".join(f"{one.stem}: data/{one.stem}*" for one in inputs[1:])
    data = f"{{ground_truth: data/truth*, predictions: {{{models}}}}}"
    return Case(f"task: {task}\ndata: {data}\n{metrics}{more}{OUT}", (*inputs,), numbered=True)


def boxes_coco() -> Case:
    """COCO, all of it cut by image."""
    truth, said = _scenes(11)
    models = [cut(model, ".json", _by_image(own)) for model, own in said.items()]
    return _detection([_coco(truth), *models])


def boxes_coco_anywhere() -> Case:
    """COCO, a detection of any image in any file."""
    truth, said = _scenes(12)
    return _detection([_coco(truth), *(cut(model, ".json", own) for model, own in said.items())])


def _sides(seed: int) -> dict[str, layouts.Objects]:
    """The ground truth and two models as COCO files whose images have names."""
    truth, said = _scenes(seed)
    for one in (*truth["images"], *truth["annotations"], *said["large"], *said["small"]):
        name = "image_id" if "image_id" in one else "id"
        one[name] = f"bild-{one[name]}"
    models = {name: layouts.dictionary(truth, own) for name, own in said.items()}
    return {"truth": truth, **models}


def boxes_jsonl() -> Case:
    """JSONL, an image a line."""
    sides = _sides(13)
    return _detection(
        [cut(name, ".jsonl", layouts.object_lines(own)) for name, own in sides.items()]
    )


def boxes_csv() -> Case:
    """CSV, a box a line; the boxes of an image of the ground truth stay together."""
    sides = {name: layouts.object_rows(own) for name, own in _sides(14).items()}
    every = DETECTED.replace("pr_curve", "pr_curve, detailed_pr_curve")
    models = [cut(name, ".csv", flat(sides[name])) for name in ("large", "small")]
    return _detection([cut("truth", ".csv", sides["truth"]), *models], every, AREAS)


def masks_coco() -> Case:
    """Instances as run-length encoded masks, of which no two of an image overlap."""
    truth, said = layouts.rectangles(20)
    models = [cut(name, ".json", own["annotations"]) for name, own in said.items()]
    every = DETECTED.replace("[coco,", "[coco, panoptic_quality,")
    return _detection([_coco(truth), *models], every, AREAS, "instance_segmentation")


MEASURED = (
    "metrics: [rouge_l, rouge_1, rouge_lsum, bleu_1, bleu, corpus_bleu, chrf, ter, exact_match, "
    "token_f1, edit_similarity, self_consistency, text_matching, pii_leakage, "
    "sensitive_data_leakage, encoding_guardrail, language_consistency, looping]\n"
)


def _answers(seed: int, said: int, questions: int) -> list[dict[str, Any]]:
    """Samples of one seed, answered as those of another are."""
    found, answered = (random_texts(one, questions=questions) for one in (seed, said))
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
    answers = zip(_answers(16, 16, 5), _answers(16, 17, 5), strict=True)
    rows = [[good | {"model": "good"}, bad | {"model": "bad"}] for good, bad in answers]
    config = f"task: text_generation\ndata: {{samples: data/both*}}\n{MEASURED}"
    slices = "slices: [metadata.weather]\n"
    return Case(
        f"{config}{slices}{INTERVAL}{OUT}",
        (cut("both", ".jsonl", rows),),
        ordered=True,
    )


def texts_jsonl_alone() -> Case:
    """The same, less the metric that compares samples with each other and has to see all."""
    case = texts_jsonl()
    return replace(case, config=case.config.replace("self_consistency, ", ""))


def texts_csv() -> Case:
    """Answers of two models as CSV, joined by sample."""
    rows = {
        model: [
            {
                "id": row["sample_id"],
                "question": row["user_input"],
                "answer": row["response"],
                "reference": next(iter(row["references"]), None),
                "weather": row["weather"],
            }
            for row in _answers(18, seed, 7)
        ]
        for model, seed in (("good", 18), ("bad", 19))
    }
    metrics = "metrics: [rouge_l, exact_match, token_f1, looping, pii_leakage]\n"
    config = f"task: text_generation\ndata: {EACH}\n{metrics}slices: [metadata.weather]\n{OUT}"
    return Case(config, tuple(cut(model, ".csv", own) for model, own in rows.items()), ordered=True)


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
    return Case(config, (cut("pairs", ".jsonl", rows, whole=True),))


CASES: Mapping[str, Callable[[], Case]] = {
    "classes_jsonl": partial(classes, 1, as_object, ".jsonl"),
    "classes_jsonl_apart": partial(classes, 2, as_object, ".jsonl", APART, BRIEF, sparse=True),
    "classes_jsonl_long": partial(classes, 3, by_line, ".jsonl", more=SLICES, sparse=True),
    "classes_csv_long": partial(classes, 4, by_line, ".csv", more=SLICES, sparse=True),
    "classes_csv_wide": partial(classes, 5, by_class, ".csv", APART, BRIEF),
    "classes_csv_bare": partial(classes, 6, bare, ".csv", EACH, BARE, SLICES),
    "classes_keys": classes_keys,
    # Nothing that needs single samples.
    "classes_jsonl_sums": partial(classes, 1, as_object, ".jsonl", BOTH, SUMS, ""),
    "classes_csv_sums": partial(classes, 5, by_class, ".csv", APART, SUMS, ""),
    "classes_keys_sums": partial(classes_keys, SUMS, ""),
    **{
        one.__name__: one
        for one in (
            *(boxes_coco, boxes_coco_anywhere, boxes_jsonl, boxes_csv, masks_coco),
            *(texts_jsonl, texts_jsonl_alone, texts_csv, label_maps, label_map_folders),
        )
    },
}
