"""Labels in predicted texts."""

from __future__ import annotations

import pytest

from tests.data.scored import listed, read
from valor_cli.data.shapes.scores.extract import Extract, with_extracted_labels
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

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
