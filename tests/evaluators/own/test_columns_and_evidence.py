"""Own metrics of columns and of counts, in every task, against the metrics of the catalogue."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.own.own_runs import config, content, function, values, write_rows
from valor_cli import ConfigError, EvidenceCounts, RunResult, column_metric, evaluate, sample_metric

ROOT = Path(__file__).parents[3] / "sample_data"

CLASSES = {
    "task": "classification",
    "data": {
        "ground_truth": str(ROOT / "classification/ground_truth.csv"),
        "predictions": {
            "forest": str(ROOT / "classification/random_forest.csv"),
            "bayes": str(ROOT / "classification/naive_bayes.csv"),
        },
    },
}
SETS = {
    "task": "classification",
    "data": {
        "ground_truth": str(ROOT / "classification/topics.csv"),
        "predictions": str(ROOT / "classification/topic_scores.csv"),
        "multi_label": {"separator": "|"},
    },
}
BOXES = {
    "task": "object_detection",
    "data": {
        "ground_truth": str(ROOT / "object_detection/ground_truth.json"),
        "predictions": str(ROOT / "object_detection/large.json"),
    },
}
MAPS = {
    "task": "semantic_segmentation",
    "data": {
        "ground_truth": str(ROOT / "semantic_segmentation/ground_truth"),
        "predictions": str(ROOT / "semantic_segmentation/random_forest"),
        "labels": str(ROOT / "semantic_segmentation/classes.json"),
    },
}

CODE = '''
import numpy as np
import valor_cli


@valor_cli.column_metric(bounds=(0, 1))
def accuracy(columns) -> float:
    """Share of the samples whose top label is right."""
    return (columns.ground_truth == columns.prediction).mean()


@valor_cli.column_metric(bounds=(0, 1), per_sample=True)
def right(columns):
    """Whether the top label is right."""
    return columns.ground_truth == columns.prediction


@valor_cli.column_metric(bounds=(0, 1))
def subset_accuracy(columns, *, least: float = 0.5) -> float:
    """Share of the samples with exactly the labels that are right."""
    return ((columns.scores >= least) == columns.ground_truth).all(axis=1).mean()


@valor_cli.column_metric(per_sample=True)
def detections(columns, *, least: float = 0.5):
    """Detections of an image."""
    found = columns.detections.image[columns.detections.score >= least]
    return np.bincount(found, minlength=len(columns.sample_ids))


def detections_in_all(columns, *, least: float = 0.5):
    """Detections an image."""
    assert (np.diff(columns.detections.image) >= 0).all()
    assert columns.detections.box.shape == (len(columns.detections.label), 4)
    return (columns.detections.score >= least).sum() / len(columns.sample_ids)


@valor_cli.evidence_metric(bounds=(0, 1))
def recall(evidence: valor_cli.EvidenceCounts) -> float | None:
    """Mean recall of the labels that there are."""
    there = evidence.tp + evidence.fn
    return (evidence.tp[there > 0] / there[there > 0]).mean() if there.any() else None


def diagonal(evidence) -> float:
    """Share of the samples, or pixels, on the diagonal."""
    return evidence.matrix.diagonal().sum() / (evidence.tp + evidence.fn).sum()
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("metrics.py").write_text(CODE, encoding="utf-8")
    return tmp_path


def own(name: str, **more: Any) -> dict[str, Any]:
    return {"python": f"metrics.py:{name}", **more}


def pair(result: RunResult, ours: str, theirs: str, **parameters: Any) -> list[Any]:
    """The value and the interval of two metrics, by model and slice, without those of labels."""
    found: list[Any] = []
    for name in (ours, theirs):
        found.append(
            {
                (row.model, row.slice): (row.value, row.interval)
                for row in result.metrics
                if row.metric == name
                and row.label is None
                and row.output in ("value", "correct")
                and parameters.items() <= row.parameters.items()
            }
        )
    assert found[0]
    return found


def nearly(one: Any) -> Any:
    return {
        key: (pytest.approx(value), pytest.approx(interval))
        for key, (value, interval) in one.items()
    }


@pytest.mark.parametrize(
    ("task", "ours", "theirs", "name"),
    [
        (CLASSES, own("accuracy"), "accuracy", "accuracy"),
        (
            SETS,
            own("subset_accuracy"),
            {"subset_accuracy": {"score_threshold": 0.5}},
            "subset_accuracy",
        ),
        (CLASSES, own("diagonal"), "accuracy", "accuracy"),
        (CLASSES, own("recall"), "balanced_accuracy", "balanced_accuracy"),
        (MAPS, own("recall"), "mean_accuracy", "mean_accuracy"),
        (MAPS, own("diagonal"), "pixel_accuracy", "pixel_accuracy"),
        (
            BOXES,
            own("recall", iou_threshold=0.75, score_threshold=0.3),
            {"recall": {"iou_threshold": 0.75, "score_threshold": 0.3}},
            "recall",
        ),
    ],
)
def test_values_and_intervals_are_those_of_the_catalogue(
    task: dict[str, Any], ours: dict[str, Any], theirs: Any, name: str
) -> None:
    asked = {**task, "metrics": [ours, theirs], "interval": {"resamples": 30}}
    result = evaluate(asked)
    first, second = pair(result, f"own.{ours['python'].split(':')[1]}", name)
    # Intervals of proportions are Wilson's there, those of means over labels have all labels.
    assert {key: pytest.approx(value) for key, (value, _) in second.items()} == {
        key: value for key, (value, _) in first.items()
    }
    for value, interval in first.values():
        assert interval is not None
        assert interval[0] <= value <= interval[1]
    assert content(evaluate(asked, jobs=2)) == content(result)


def test_values_of_rows_are_values_of_samples() -> None:
    made = {
        "composite": {"name": "sure", "all_of": ["own.right"], "when": {"own.certain": "passes"}}
    }
    Path("other.py").write_text(
        "import valor_cli\n"
        "@valor_cli.column_metric(per_sample=True, bounds=(0, 1))\n"
        "def certain(columns):\n    return columns.scores.max(axis=1)\n",
        encoding="utf-8",
    )
    asked = {
        **CLASSES,
        "metrics": [
            own("right", threshold=1),
            {"python": "other.py:certain", "threshold": 0.9},
            "sample_scores",
            made,
        ],
        "interval": {"resamples": 30},
    }
    result = evaluate(asked)
    ours, theirs = pair(result, "own.right", "sample_scores")
    assert {key: value for key, (value, _) in ours.items()} == {
        key: pytest.approx(value) for key, (value, _) in theirs.items()
    }
    tests = {one.metric: one.p for one in result.comparisons if one.output in ("value", "correct")}
    assert tests["own.right"] == pytest.approx(tests["sample_scores"])
    (certain,) = (
        one for one in result.samples if (one.metric, one.model) == ("own.certain", "forest")
    )
    (sure,) = (one for one in result.metrics if (one.metric, one.model) == ("own.sure", "forest"))
    assert sure.n == sum((value or 0) >= 0.9 for value in certain.columns["value"])


def test_objects_of_images() -> None:
    data = json.loads((ROOT / "object_detection/large.json").read_text())
    found = data if isinstance(data, list) else data["annotations"]
    images = json.loads((ROOT / "object_detection/ground_truth.json").read_text())["images"]
    count = sum(one["score"] >= 0.5 for one in found) / len(images)
    result = evaluate(
        {
            **BOXES,
            "metrics": [own("detections"), own("detections_in_all"), "image_scores"],
            "interval": {"resamples": 30},
        }
    )
    assert values(result)["own.detections", "value", None] == pytest.approx(count)
    assert values(result)["own.detections_in_all", "value", None] == pytest.approx(count)
    rows = {row.metric: row for row in result.metrics if row.metric.startswith("own.")}
    assert rows["own.detections"].interval == pytest.approx(rows["own.detections_in_all"].interval)
    (one,) = (one for one in result.samples if one.metric == "own.detections")
    assert len(one.sample_ids) == len(images)


def test_texts_in_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"sample_id": "a", "response": "one two", "references": ["x"], "part": "1"},
        {"sample_id": "b", "response": "one", "references": ["y", "z"], "part": "1"},
        {"sample_id": "c", "response": None, "user_input": "?", "part": "2"},
    ]
    write_rows("answers.jsonl", rows)
    entry = function(
        "import numpy as np\n"
        "import valor_cli\n"
        "@valor_cli.column_metric(per_sample=True)\n"
        "def f(columns):\n"
        "    return np.array([np.nan if one is None else len(one.split())\n"
        "                     for one in columns.response])\n"
        "def distinct(columns):\n"
        "    return len({one for one in columns.response if one})\n"
    )
    whole = {"python": entry["python"].replace(":f", ":distinct")}
    result = evaluate(config(entry, whole, slices=["part"], interval={"resamples": 20}))
    assert values(result) == {
        ("own.f", "value", None): 1.5,
        ("own.f", "value", "metadata.part=1"): 1.5,
        ("own.f", "value", "metadata.part=2"): None,
        ("own.distinct", "value", None): 2.0,
        ("own.distinct", "value", "metadata.part=1"): 2.0,
        ("own.distinct", "value", "metadata.part=2"): 0.0,
    }
    (samples,) = result.samples
    assert list(samples.undefined) == [None, None, "the function returned NaN"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return [1.0]", "the function returned 1 for 2 samples, not one of each"),
        ("return 1.0", "the function returned one number for 2 samples, not one of each"),
        ("return [1, -1]", "the function returned -1, but its bounds are 0 or more; declare"),
        ("return [1, float('inf')]", "the function returned infinity"),
        ("return ['a', 'b']", "ValueError: could not convert string to float: 'a'"),
        ("return [None, None]", "the function returned NaN"),
        ("1 / 0", "ZeroDivisionError: division by zero (FILE, line 4)"),
    ],
)
@pytest.mark.parametrize("per_sample", [True, False])
def test_what_is_no_value(body: str, reason: str, per_sample: bool) -> None:
    entry = function(
        f"import valor_cli\n@valor_cli.column_metric(per_sample={per_sample})\n"
        f"def f(columns):\n    {body}\n"
    )
    write_rows("answers.jsonl", [{"sample_id": one, "response": one} for one in "ab"])
    (row,) = evaluate(config(entry)).metrics
    if not per_sample and body == "return 1.0":
        assert row.value == 1.0
        return
    assert row.value is None
    if per_sample or "FILE" in reason:
        file = entry["python"].partition(":")[0]
        assert reason.replace("FILE", file) in (row.undefined or "")
    else:
        assert "not a number" in (row.undefined or "")


@pytest.mark.parametrize(
    ("task", "code", "message"),
    [
        (CLASSES, "def f(sample): ...", "is a sample metric, which classification does not have"),
        (MAPS, "def f(columns): ...", "is a column metric, which semantic_segmentation does not"),
        (
            BOXES,
            "def f(evidence, *, iou_threshold: float = 0.5): ...",
            "the parameter iou_threshold says how object_detection counts",
        ),
        (
            CLASSES,
            "async def f(columns): ...",
            "must not be async: only functions of samples are awaited",
        ),
        (
            CLASSES,
            "import valor_cli\n@valor_cli.column_metric(bounds=3)\ndef f(columns): ...",
            "bounds are (lowest, highest), or (lowest, None), not 3",
        ),
    ],
)
def test_what_is_said_of_mistakes(task: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate({**task, "metrics": [function(code)]})
    assert message in str(caught.value)


def test_parameters_of_counting_keep_their_bounds() -> None:
    entry = {**function("def f(evidence):\n    'F.'\n    return 0\n"), "iou_threshold": 1.5}
    with pytest.raises(ConfigError, match=r"iou_threshold: .*1\.5"):
        evaluate({**BOXES, "metrics": [entry]})


def test_when_is_for_single_samples() -> None:
    asked = {
        **CLASSES,
        "metrics": [own("right", threshold=1), own("accuracy", when={"own.right": "passes"})],
    }
    with pytest.raises(ConfigError, match=r"own\.accuracy has no values of single samples"):
        evaluate(asked)


ASYNC = '''
import asyncio
import valor_cli

running = most = 0


@valor_cli.sample_metric(concurrency=3)
async def f(sample, *, factor: int = 1) -> float:
    """Words, awaited."""
    global running, most
    running += 1
    most = max(most, running)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running -= 1
    if sample.response == "boom":
        raise ValueError("no")
    return factor * len(sample.response.split())


def at_once(sample) -> float:
    """How many samples were awaited at once."""
    return most
'''


def test_async_functions_are_awaited_a_few_at_a_time() -> None:
    rows = [{"sample_id": str(at), "response": "a " * (at % 3)} for at in range(20)]
    write_rows("answers.jsonl", [*rows, {"sample_id": "x", "response": "boom"}])
    entry = function(ASYNC)
    most = {"python": entry["python"].replace(":f", ":at_once")}

    async def inside() -> RunResult:
        return evaluate(config({**entry, "factor": 2}, most))

    for result in (evaluate(config({**entry, "factor": 2}, most)), asyncio.run(inside())):
        found = next(one for one in result.samples if one.metric == "own.f")
        assert list(found.columns["value"])[:4] == [0.0, 2.0, 4.0, 0.0]
        assert list(found.undefined)[-1].startswith("ValueError: no (own_")  # type: ignore[union-attr]
        assert values(result)["own.at_once", "value", None] == 3.0


def test_declarations_are_checked() -> None:
    with pytest.raises(ValueError, match="concurrency is a whole number from 1, not 0"):
        sample_metric(concurrency=0)
    with pytest.raises(ValueError, match="needs has 'scores'"):
        column_metric(needs=("scores",))


def test_the_counts_are_what_they_say() -> None:
    counts = EvidenceCounts(("a",), *(np.array([one]) for one in (1, 2, 3)))
    assert counts.matrix is None
