"""What the columns of a table mean, and what is said where that cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli.data.inputs.scores import open_score_rows
from valor_cli.data.shapes.scores.layout import ScoreLayout, layout_of
from valor_cli.data.shapes.scores.schema import ALIASES
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

MAP = "Map other names under `data: columns:`, as {label: my_column}."
NAMES = "The first line must name the columns. "
CLASSES = "Name the columns that are classes under `data: classes:`."
IDS = "(or id, uid, idx, index, image_id, image, file_name, filename, name, path)"
LABELS = "(or ground_truth, target, true_label, y_true, gt, true, actual, class, labels)"
FORMS = (
    "there are no predictions: expected a column 'prediction' (or predicted, pred, y_pred, "
    "predicted_label, predicted_class), pairs of columns (prediction_1, score_1, …) or one column "
    "for each class; there is: "
)


def layout(line: str, side: Side, first: str = "a,b,c", **options: object) -> ScoreLayout:
    path = Path("a.csv")
    path.write_text(f"{line}\n{first}\n")
    reading = ScoreReading(**options)  # type: ignore[arg-type]
    return layout_of(open_score_rows("a.csv", reading, "csv"), side, reading)


@pytest.mark.parametrize("standard", ["sample_id", "label", "prediction", "score", "label_key"])
def test_every_name_of_a_column(standard: str) -> None:
    names = ["sample_id", "label", "prediction", "score", "label_key"]
    at = names.index(standard)
    for name in (standard, *ALIASES[standard]):
        line = ",".join([*names[:at], name.upper(), *names[at + 1 :]])
        found = layout(line, "samples")
        own = line.split(",")
        assert [found.name(one) for one in ("sample_id", "label", "label_key")] == [
            own[0],
            own[1],
            own[4],
        ]
        assert (found.pairs, found.classes) == ((((own[2],), (own[3],)),), ())


def test_the_standard_name_goes_first() -> None:
    found = layout("name,id,sample_id,class,label", "ground_truth")
    assert (found.name("sample_id"), found.name("label")) == ("sample_id", "label")


def test_what_is_asked_for_as_metadata_has_no_other_meaning() -> None:
    found = layout("id,label,task", "ground_truth", metadata=["task"])
    assert (found.name("label_key"), found.metadata) == ("", ["task"])
    assert layout("id,label,task", "ground_truth").name("label_key") == "task"


def test_predictions_have_no_metadata() -> None:
    found = layout("id,site,cat,dog", "predictions", metadata=["site", "camera"])
    assert (found.metadata, found.classes) == ([], ("cat", "dog"))


def test_named_classes_go_before_a_prediction() -> None:
    line = "id,prediction,cat,dog"
    alone = ((("prediction",), ()),)
    assert layout(line, "predictions").pairs == alone
    assert layout(line, "predictions", classes=["dog", "cat"]).classes == ("dog", "cat")
    # Names of labels give an order to files of any form.
    assert layout("id,prediction", "predictions", classes=["dog", "cat"]).pairs == alone


def test_columns_that_are_numbered_like_pairs_may_be_classes() -> None:
    assert layout("id,class_0,class_1", "predictions").classes == ("class_0", "class_1")


@pytest.mark.parametrize(
    ("line", "side", "expected"),
    [
        (
            "id:label",
            "ground_truth",
            "expected fields between commas, semicolons, tabs or bars (|), found one: id:label\n"
            + NAMES
            + MAP,
        ),
        (
            "00001,cat",
            "ground_truth",
            (
                f"the columns 'sample_id' {IDS} and 'label' {LABELS} are missing (the first line "
                f"names these: 00001, cat)\n{NAMES}{MAP}"
            ),
        ),
        (
            "id,kind",
            "ground_truth",
            f"the column 'label' {LABELS} is missing (the first line names these: id, kind)\n{MAP}",
        ),
        ("id,label,label", "ground_truth", "duplicate column 'label' (columns 2 and 3)"),
        (
            "id,label",
            "predictions",
            (
                f"{FORMS}id, label; if label is what the model says, write `columns: {{prediction: "
                f"label}}` under `data:`\n{CLASSES}"
            ),
        ),
        ("id,label,site", "samples", f"{FORMS}id, label, site\n{CLASSES}"),
        (
            "id,cat,dog,confidence",
            "predictions",
            (
                f"{FORMS}id, cat, dog, confidence; confidence is a class, or the score of a label "
                f"that no column names\n{CLASSES}"
            ),
        ),
        (
            "id,pred0,score0,pred1",
            "predictions",
            "there is no score for pred1; there is: id, pred0, score0, pred1",
        ),
        (
            "id,pred0,score0,score1",
            "predictions",
            "there is no predicted label for score1; there is: id, pred0, score0, score1",
        ),
    ],
)
def test_faults(line: str, side: Side, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        layout(line, side)
    assert str(caught.value) == f"a.csv:1: {expected}"
