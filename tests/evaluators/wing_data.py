"""A wing of the catalogue comes in; small data sets that its evidence is made of go out.

Most of it is real; what no real file of the tests has (keypoints, what LVIS says, label keys, odd
texts) is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.evaluators.detection.asking import confused_dataset
from tests.oracles.classification_problems import random_samples
from tests.oracles.federations import with_federation
from tests.oracles.imagining import ImaginingJudge, ImaginingPanel
from tests.oracles.keypoints import with_keypoints
from tests.oracles.panoptic import dataset_of, random_scene
from tests.oracles.text_models import ScriptedModels, ScriptedSession
from tests.oracles.text_problems import random_texts
from valor_cli import catalogue
from valor_cli.evaluators.classification.evidence.scores import score_samples
from valor_cli.evaluators.detection.evidence.keypoint_matching import match_keypoints
from valor_cli.evaluators.detection.evidence.panoptic_segments import match_segments
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.lvis import match_federated
from valor_cli.evaluators.model_metrics import measured_evidence
from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.metric import Call, Metric, Selection, Wing

DATA = Path(__file__).parents[1] / "real_data"
SAMPLES = Path(__file__).parents[2] / "sample_data"

REQUIRED: dict[str, dict[str, Any]] = {
    "summac_conv": {"weights": str(DATA / "text" / "summac_conv.json")}
}
"""By metric, parameters without which it cannot be called."""

JUDGES = (ImaginingJudge(False, "strict"), ImaginingJudge(True, "kind", repeats=2))
"""Two who differ, one of them asked twice: their values become columns of their own."""


def calls_of(wing: Wing[Any, Any]) -> tuple[Call, ...]:
    """Every metric of a wing, with its defaults and what it requires."""
    return tuple(Call(one, _defaults(one) | REQUIRED.get(one.name, {})) for one in wing.metrics)


def _defaults(metric: Metric[Any]) -> dict[str, Any]:
    return {one.name: one.default for one in metric.parameters}


def evidence_of(wing: Wing[Any, Any], calls: Sequence[Call], data: Any) -> Any:
    """The evidence of a data set; models and judges are imagined."""
    slices = [f"{key}={value}" for key, (values, _) in wing.slices.items() for value in values]
    plan = wing.plan(calls, slices)
    if wing.gather is not None:
        judged = any("judge" in call.asks for call in calls)
        asked: Any = ImaginingPanel(JUDGES) if judged else ScriptedSession(ScriptedModels())
        plan = wing.gather({"model": data}, plan, asked)["model"]
    return wing.evidence(data, plan)


def data_names(task: str, wing: Wing[Any, Any]) -> Sequence[str]:
    """The names of the data sets for a wing of a task; a KeyError is a wing without any."""
    return list(_MADE[task, wing.evidence])


def data_set(task: str, wing: Wing[Any, Any], name: str) -> Any:
    """A data set for a wing, made once."""
    return _once(task, wing.evidence, name)


@cache
def _once(task: str, evidence: Any, name: str) -> Any:
    return _MADE[task, evidence][name]()


def _loaded(task: str, *, limit: int | None = None, **data: Path) -> Any:
    """The data of the first model that files of this repository hold."""
    found = catalogue.task(task)
    selection = Selection(limit=limit)
    inputs = found.inputs.model_validate({name: str(value) for name, value in data.items()})
    return next(iter(found.load(inputs, found.options(), selection).datasets.values()))


def _boxes() -> Any:
    return _real("object_detection", "detection/voc2012-100", ".coco.json", ".bbox.json")


def _polygons() -> Any:
    return _real(
        "instance_segmentation", "detection/coco-val2014-100", ".coco.json", ".segm.json", limit=24
    )


def _real(task: str, folder: str, truth: str = ".csv", found: str = ".csv", **more: Any) -> Any:
    """Ground truth and predictions in a folder of real data, by the ends of their names."""
    return _loaded(
        task,
        ground_truth=DATA / folder / f"groundtruth{truth}",
        predictions=DATA / folder / f"predictions{found}",
        **more,
    )


def _masks() -> Any:
    folder = SAMPLES / "instance_segmentation"
    return _loaded(
        "instance_segmentation",
        ground_truth=folder / "ground_truth.json",
        predictions=folder / "watershed.json",
    )


def _scenes() -> Any:
    return dataset_of([random_scene(seed) for seed in range(12)])


def _nuclei() -> Any:
    folder = SAMPLES / "semantic_segmentation"
    return _loaded(
        "semantic_segmentation",
        ground_truth=folder / "ground_truth",
        predictions=folder / "random_forest",
        labels=folder / "classes.json",
    )


def _voc_maps() -> Any:
    folder = "segmentation/coco-panoptic-deeplab"
    labels = DATA / folder / "classes.json"
    return _real("semantic_segmentation", folder, "", "", labels=labels)


def _texts(name: str) -> Any:
    return _loaded("text_generation", samples=SAMPLES / "text_generation" / name)


Made = Mapping[str, Callable[[], Any]]

_BOXES: Made = {
    "voc": _boxes,
    "coco": lambda: _real(
        "object_detection", "detection/valor-lite-coco-15", ".coco.json", ".bbox.json"
    ),
    "valor": lambda: confused_dataset(8, images=24, matching="valor"),
}
_MASKS: Made = {"nuclei": _masks, "coco": _polygons}
_TEXTS: Made = {
    "answers": lambda: _texts("answers.jsonl"),
    "odd": lambda: random_texts(8, questions=6),
}

_MADE: Mapping[tuple[str, Any], Made] = {
    ("classification", score_samples): {
        "digits": lambda: _real(
            "classification", "classification/digits-899-naivebayes-overconfident"
        ),
        "one file": lambda: _loaded(
            "classification", samples=DATA / "classification" / "valor-lite-60" / "samples.jsonl"
        ),
        "keys": lambda: random_samples(8, samples=40, keys=3),
    },
    ("object_detection", match_detections): _BOXES,
    ("object_detection", match_federated): {"voc": lambda: with_federation(_boxes(), 8)},
    ("object_detection", match_keypoints): {"voc": lambda: with_keypoints(_boxes(), 8)},
    ("instance_segmentation", match_detections): _MASKS,
    ("instance_segmentation", match_federated): {"coco": lambda: with_federation(_polygons(), 8)},
    ("instance_segmentation", match_segments): {"nuclei": _masks, "scenes": _scenes},
    ("semantic_segmentation", count_confusions): {"nuclei": _nuclei, "voc": _voc_maps},
    ("text_generation", measure_samples): _TEXTS,
    ("text_generation", measured_evidence): {
        "passages": lambda: _texts("rag.jsonl"),
        "odd": lambda: random_texts(8, questions=4),
    },
}
"""By task and how a wing makes evidence, the data sets for it."""


def shards_of(data: Any, rng: np.random.Generator, *, whole_groups: bool) -> list[Any]:
    """A data set cut into two to seven shards of uneven sizes, some of one unit, some empty.

    Args:
        data: What to cut.
        rng: Draws where.
        whole_groups: Whether answers to one question stay together.
    """
    count = int(rng.integers(2, 8))
    shares = rng.dirichlet(np.full(count, 0.4))
    at = rng.choice(count, data.unit_count, p=shares)
    # A shard of a single unit, wherever it came from.
    at[at == 0] = 1
    at[rng.integers(len(at))] = 0
    if whole_groups:
        first: dict[object, int] = {}
        for unit, question in enumerate(data.user_input):
            at[unit] = first.setdefault(question, int(at[unit]))
    return [data.shard(at == shard) for shard in range(count)]


def merged(wing: Wing[Any, Any], parts: Sequence[Any], rng: np.random.Generator) -> Any:
    """Parts merged in a random order and in a random tree: some of them, then what came of it."""
    left = [parts[at] for at in rng.permutation(len(parts)).tolist()]
    while len(left) > 1:
        count = int(rng.integers(2, min(4, len(left)) + 1))
        chosen = rng.choice(len(left), count, replace=False).tolist()
        one = wing.merge([left[at] for at in chosen])
        left = [part for at, part in enumerate(left) if at not in chosen]
        left.insert(int(rng.integers(len(left) + 1)), one)
    return wing.merge(left)
