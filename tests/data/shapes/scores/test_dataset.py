"""Classification data sets: shards, what examples show, labels in predicted texts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.data.scored import listed, read
from valor_cli.data.shapes.scores.dataset import ClassificationDataset, no_image
from valor_cli.data.shapes.scores.extract import Extract, with_extracted_labels
from valor_cli.errors import DataError
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores
from valor_cli.results import MetricExample, ObjectRef, Picture

pytestmark = pytest.mark.usefixtures("in_a_folder")

LABELS = ("cat", "dog", "owl")

DENSE = DenseScores(np.array([2, 0]), np.array([[0.5, 0.25], [1.0, 0.0], [0.125, 0.75]]))
SPARSE = SparseScores(
    np.array([0, 2, 3, 5]),
    np.array([2, 0, 2, 2, 0], np.int32),
    np.array([0.5, 0.25, 1.0, 0.125, 0.75]),
)


def dataset(scores: Scores) -> ClassificationDataset:
    """Sample a has two rows, b has one."""
    return ClassificationDataset(
        sample_ids=np.array([b"a", "ä".encode()]),
        labels=LABELS,
        keys=("first", "second"),
        labels_of=((0, 1, 2), (2,)),
        unit=np.array([0, 0, 1]),
        key=np.array([0, 1, 0]),
        truth=np.array([1, 2, 0]),
        scores=scores,
        number=np.arange(3),
        picture=lambda name: Picture(f"{name}.png", 4, 3) if name == "ä" else None,
    )


@pytest.mark.parametrize("scores", [DENSE, SPARSE])
def test_an_example_shows_labels_and_scores(scores: Scores) -> None:
    examples = [
        MetricExample(
            "misclassification",
            "a",
            objects=(
                ObjectRef("ground_truth", 0, "false_negative", "dog"),
                ObjectRef("prediction", 0, "false_positive", "owl", 0.5),
                ObjectRef("prediction", 0, "", "dog", 0.0),
            ),
        ),
        MetricExample("no_prediction", "b"),
        MetricExample("hit", "ä", objects=(ObjectRef("prediction", 2, "", "cat", 0.75),)),
    ]
    (none, shown, _), (_, nothing, _), (picture, hit, _) = dataset(scores).illustrate(examples)
    assert none is None
    assert [(one.role, one.id, one.label, one.score, one.outcome) for one in shown] == [
        ("ground_truth", None, "dog", None, "false_negative"),
        ("prediction", None, "owl", 0.5, "false_positive"),
        ("prediction", None, "dog", 0.0, ""),
    ]
    assert nothing == ()
    assert picture == Picture("ä.png", 4, 3)
    assert [(one.label, one.score, one.geometry) for one in hit] == [("cat", 0.75, None)]
    assert dataset(scores).illustrate([]) == []


def test_a_row_has_the_labels_of_its_key_to_list() -> None:
    found = dataset(SPARSE)
    assert found.choices.tolist() == [3, 1, 3]
    assert found.shard(np.array([False, True])).choices.tolist() == [3]


@pytest.mark.parametrize("scores", [DENSE, SPARSE])
def test_a_shard_keeps_numbers_and_knows_no_pictures(scores: Scores) -> None:
    part = dataset(scores).shard(np.array([False, True]))
    assert part.sample_ids.tolist() == ["ä".encode()]
    assert (part.unit.tolist(), part.key.tolist(), part.truth.tolist()) == ([0], [0], [0])
    assert part.number.tolist() == [2]
    assert part.scores.of(np.array([0])).tolist() == [0.75]
    assert part.unit_count == 1
    assert part.picture is no_image
    again = pickle.loads(pickle.dumps(part))  # noqa: S301 - our own
    assert again.picture("ä") is None


ANSWERS = Extract(pattern=r"Answer: ([A-D])")
COLOURS = Extract(classes=("red", "dark red", "Blue"))


@pytest.mark.parametrize(
    ("extract", "text", "expected"),
    [
        (ANSWERS, "So ... Answer: B. Or Answer: C", "B"),
        (Extract(pattern=r"Answer: ([A-D])", match="last"), "Answer: B. Or Answer: C", "C"),
        (ANSWERS, "answer: B", None),
        (Extract(pattern="(?i)yes|no"), "No!", "No"),
        (Extract(pattern="x(y)?z"), "xz", None),
        (Extract(pattern=" +"), "a b", None),
        (Extract(json="label"), '{"label": "cat"}', "cat"),
        (Extract(json="answer.labels[1]"), 'It is {"answer": {"labels": ["a", 2]}}', "2"),
        (Extract(json="label"), '```json\n{"label": "cat"}\n```', "cat"),
        (Extract(json="label"), '{"label": null}', None),
        (Extract(json="label"), '{"label": {"a": 1}}', None),
        (Extract(json="[3]"), "[1]", None),
        (Extract(json="label"), "cat", None),
        (COLOURS, "It is dark red, not blue", "dark red"),
        (Extract(classes=("red", "Blue"), match="last"), "red or BLUE", "red"),
        (Extract(classes=("red", "Blue"), match="last"), "reddish BLUE", "Blue"),
        (Extract(classes=("A", "I")), "I say A", "I"),
        (Extract(classes=("A", "B")), "it is a b", None),
        (Extract(classes=("c++", "c")), "in c++ or c", "c++"),
    ],
)
def test_the_label_of_a_text(extract: Extract, text: str, expected: str | None) -> None:
    assert extract.label_of()(text) == expected


def test_predictions_by_the_labels_found() -> None:
    text = (
        "id,label,prediction\n"
        '1,A,Answer: A\n2,B,Answer: A\n3,A,well\n4,Answer: A,"Answer: A, then Answer: B"\n'
    )
    file = with_extracted_labels(read(text, "samples"), ANSWERS)
    assert listed(file) == [[("A", 1.0)], [("A", 1.0)], [], [("A", 1.0)]]
    # True labels are taken as they are.
    assert [file.labels[code] for code in file.samples["truth"]] == ["A", "B", "A", "Answer: A"]
    assert file.warnings == ["a.csv: no label in 1 of the predictions, such as: well"]


def test_no_label_in_any_text() -> None:
    file = read("id,prediction\n1,well\n2,no\x1b\n", "predictions")
    with pytest.raises(DataError, match=r"^a\.csv: extract: no label in any of"):
        with_extracted_labels(file, ANSWERS)


def test_scores_of_classes_are_no_texts() -> None:
    file = read("id,cat,dog\n1,0.5,0.5\n", "predictions")
    with pytest.raises(DataError, match="needs predicted labels as texts"):
        with_extracted_labels(file, ANSWERS)
