"""CSV of labels and scores: each form, and what is said of rows that cannot be read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.scored import SKIP, error, listed, read, said
from valor_cli.data.formats.csv.scores import read_score_csv
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores

pytestmark = pytest.mark.usefixtures("in_a_folder")

DATA = Path(__file__).parents[3] / "real_data/classification"


def test_ground_truth() -> None:
    found = read("id,label,camera\nb,cat,north\na,dog,\n", "ground_truth", metadata=["camera"])
    assert said(found) == [("b", None, "cat", None, "north"), ("a", None, "dog", None, None)]
    assert found.scores is None
    assert found.classes == ()
    assert found.samples.place_of(1, "label") == "a.csv:3: label"
    assert (found.files[0].path, found.files[0].rows, found.files[0].skipped) == ("a.csv", 2, 0)


def test_one_label_a_sample() -> None:
    text = "sample_id,label,prediction\na,cat,dog\nb,dog,\nc,na,na\n"
    found = read(text, "samples")
    assert said(found) == [
        ("a", None, "cat", [("dog", 1)]),
        ("b", None, "dog", []),
        ("c", None, "na", [("na", 1)]),
    ]
    assert listed(read(text, "predictions")) == [[("dog", 1)], [], [("na", 1)]]


def test_one_label_a_row() -> None:
    """Rows of a sample need not stand together, and may say its true label once."""
    text = (
        "id,label,prediction,score,site\n"
        "a,cat,dog,0.25,x\nb,dog,dog,0.5,\na,,cat,0.75,\nc,cat,,,y\nb,dog,cat,1e-3,z\n"
    )
    found = read(text, "samples", metadata=["site"])
    assert said(found) == [
        ("a", None, "cat", [("dog", 0.25), ("cat", 0.75)], "x"),
        ("b", None, "dog", [("dog", 0.5), ("cat", 0.001)], "z"),
        ("c", None, "cat", [], "y"),
    ]
    assert found.samples.rows is not None
    assert found.samples.rows.tolist() == [2, 3, 5]
    assert found.files[0].rows == 5


def test_label_keys() -> None:
    text = (
        "id,key,label,prediction,score\n"
        "a,shape,box,box,0.5\na,colour,red,blue,0.25\nb,colour,red,red,1\na,colour,red,red,0.75\n"
    )
    assert said(read(text, "samples")) == [
        ("a", "shape", "box", [("box", 0.5)]),
        ("a", "colour", "red", [("blue", 0.25), ("red", 0.75)]),
        ("b", "colour", "red", [("red", 1)]),
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("pred0", "score0", "pred1", "score1"),
        ("prediction_1", "score_1", "prediction_2", "score_2"),
        ("label_1", "confidence_1", "label_2", "confidence_2"),
        ("top1", "prob1", "top2", "prob2"),
        ("class 1", "prob 1", "class 2", "prob 2"),
    ],
)
def test_pairs(names: tuple[str, ...]) -> None:
    text = f"id,label,{','.join(names)}\na,cat,cat,0.5,dog,0.25\nb,dog,cat,1,,\nc,cat,,,,\n"
    found = read(text, "samples")
    assert listed(found) == [[("cat", 0.5), ("dog", 0.25)], [("cat", 1)], []]
    assert isinstance(found.scores, SparseScores)
    assert found.scores.label.dtype == np.int32


def test_pairs_stand_in_the_order_of_their_numbers() -> None:
    text = "id,score2,pred10,pred2,score10\na,0.25,dog,cat,0.5\n"
    assert listed(read(text, "predictions")) == [[("cat", 0.25), ("dog", 0.5)]]


def test_one_column_a_class() -> None:
    text = "id,dog,cat\na,0.25,0.75\nb,1e-3,-0\nc,,\n"
    found = read(text, "predictions")
    assert found.classes == found.labels == ("dog", "cat")
    assert isinstance(found.scores, DenseScores)
    assert found.scores.label.tolist() == [0, 1]
    # A row without any score is one without a prediction.
    assert found.scores.score.tolist() == [[0.25, 0.75], [0.001, 0], [0, 0]]


def test_classes_of_a_file_that_holds_both_sides() -> None:
    text = "id,label,site,dog,weight,cat\na,cat,x,0.25,7,0.75\nb,dog,3,0.5,8,0.5\n"
    found = read(text, "samples", metadata=["weight"])
    assert found.classes == ("dog", "cat")
    assert said(found) == [
        ("a", None, "cat", [("dog", 0.25), ("cat", 0.75)], "7"),
        ("b", None, "dog", [("dog", 0.5), ("cat", 0.5)], "8"),
    ]
    named = read(text, "samples", classes=["cat", "dog"])
    assert named.labels[:2] == named.classes == ("cat", "dog")
    assert listed(named)[0] == [("cat", 0.75), ("dog", 0.25)]


def test_a_number_that_is_no_class() -> None:
    text = "id,label,brightness,cat,dog\na,cat,0.3,0.5,0.5\nb,dog,0.4,1,0\n"
    assert error(text, "samples") == (
        "a.csv:1: brightness: read as a class because its values are numbers, and no sample has "
        "that label\nName the columns that are classes under `data: classes:`."
    )
    assert read(text, "samples", classes=["cat", "dog"]).classes == ("cat", "dog")
    assert read(text, "samples", metadata=["brightness"]).classes == ("cat", "dog")


def test_true_and_false_are_classes() -> None:
    assert read("id,true,false\na,0.25,0.75\n", "predictions").classes == ("true", "false")


def test_columns_without_a_name_are_nobodys() -> None:
    """What pandas writes for the numbers of its rows."""
    text = "Unnamed: 0,,id,cat,dog\n7,0,a,0.25,0.75\n"
    assert read(text, "predictions").classes == ("cat", "dog")


def test_the_true_label_in_a_file_of_predictions_is_not_read() -> None:
    text = "id,label,prediction,score\na,cat,dog,0.5\na,dog,cat,0.5\n"
    assert said(read(text, "predictions")) == [("a", None, None, [("dog", 0.5), ("cat", 0.5)])]


def test_columns_are_mapped() -> None:
    text = "key,label,what,sure,id\nk,cat,dog,0.5,a\n"
    columns = {"sample_id": "key", "prediction": "what", "score": "sure", "label_key": "id"}
    assert said(read(text, "samples", columns=columns)) == [("k", "a", "cat", [("dog", 0.5)])]
    text = "id,label,conf\na,cat,0.5\n"
    assert listed(read(text, "predictions", columns={"prediction": "label"})) == [[("cat", 0.5)]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", ", "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_delimiters_and_line_ends(end: str, delimiter: str, mark: str, last: bool) -> None:
    lines = ["id,label,prediction,score", "ä b,kät,dog,.5", "b,dog,kät,1e0"]
    text = mark + end.join(lines).replace(",", delimiter) + end * last
    found = read(text, "samples")
    assert said(found) == [
        ("ä b", None, "kät", [("dog", 0.5)]),
        ("b", None, "dog", [("kät", 1)]),
    ]
    assert [found.samples.place_of(row) for row in (0, 1)] == ["a.csv:2", "a.csv:3"]


def test_quoted_fields_may_hold_anything() -> None:
    text = (
        'id,label,prediction\na,"cat, ""big""",dog\n\n"b\nb","do\r\ng",cat\nc,back\\slash,5" disk\n'
    )
    found = read(text, "samples")
    assert said(found) == [
        ("a", None, 'cat, "big"', [("dog", 1)]),
        ("b\nb", None, "do\r\ng", [("cat", 1)]),
        ("c", None, "back\\slash", [('5" disk', 1)]),
    ]
    assert [found.samples.place_of(row) for row in range(3)] == ["a.csv:2", "a.csv:4", "a.csv:7"]


def test_a_quoted_field_over_several_blocks() -> None:
    """Rows are read quickly again behind it, and keep their line numbers."""
    long = "x\n" * 200_000
    rows = "".join(f"{number},cat\n" for number in range(30_000))
    found = read(f'id,label\nfirst,"{long}"\n{rows}last,dog\n', "ground_truth")
    assert len(found.samples) == 30_002
    assert found.labels == (long, "cat", "dog")
    assert found.samples.place_of(30_001) == f"a.csv:{2 + 200_001 + 30_000}"


def test_blank_lines_above_the_rows() -> None:
    found = read("id,label\n" + "\n" * 300_000 + "a,cat\n", "ground_truth")
    assert found.samples.place_of(0) == "a.csv:300002"


@pytest.mark.parametrize("name", ["breastcancer-342-binary", "digits-899-randomforest"])
def test_real_tables_of_classes(name: str) -> None:
    path = DATA / name / "predictions.csv"
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file))
    found = read_scores(str(path), "predictions", ScoreReading(probabilities=True))
    assert found.classes == tuple(head[1:])
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score.tolist() == [[float(cell) for cell in row[1:]] for row in rows]
    assert [one[0] for one in said(found)] == [row[0] for row in rows]


def test_real_names_given_by_people() -> None:
    path = DATA / "human-edge-16/labels.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = read_scores(str(path), "samples", ScoreReading(metadata=["subject"]))
    assert said(found) == [
        (row["id"], None, row["label"], [(row["prediction"], 1)], row["subject"]) for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a,cat,1.2,3",
            (
                "a.csv:2: expected 3 fields as in the first line, found 4; a field that "
                "holds a comma must be in double quotes"
            ),
        ),
        ("a,cat", "a.csv:2: expected 3 fields as in the first line, found 2"),
        (",cat,1", "a.csv:2: id: expected the id of a sample, found nothing"),
        ("a\0,cat,1", "a.csv:2: id: expected the id of a sample, found one with a NUL character"),
        ("a,cat,", "a.csv:2: conf: expected a number, found nothing"),
        ("a,cat,x", 'a.csv:2: conf: expected a number, found the string "x"'),
        ("a,cat,1_0", 'a.csv:2: conf: expected a number, found the string "1_0"'),
        (
            'a,cat,"0,5"',
            (
                'a.csv:2: conf: expected a number, found the string "0,5"; write decimals '
                "with a point"
            ),
        ),
        ("a,cat,nan", 'a.csv:2: conf: expected a finite number, found the string "nan"'),
        ("a,cat,1e999", 'a.csv:2: conf: expected a finite number, found the string "1e999"'),
        ("a,,0.5", "a.csv:2: pred: expected a label for the score 0.5, found nothing"),
        ("a,cat,1\na,cat,1", "a.csv:3: the sample 'a' has the label 'cat' on line 2 too"),
        (
            "a,cat,1\nb,cat,1\na,dog,0\na,cat,0",
            "a.csv:5: the sample 'a' has the label 'cat' on line 2 too",
        ),
    ],
)
def test_faulty_rows(text: str, expected: str) -> None:
    assert error(f"id,pred,conf\n{text}\n", "predictions") == f"{expected}\n{SKIP}"


@pytest.mark.parametrize("value", ["1.5", "-0.1", "1.00101"])
def test_probabilities(value: str) -> None:
    text = f"id,cat,dog\na,0,1\nb,0.5,{value}\n"
    assert listed(read(text, "predictions"))[1] == [("cat", 0.5), ("dog", float(value))]
    expected = f"a.csv:3: dog: expected a probability from 0 to 1, found {value}\n{SKIP}"
    assert error(text, "predictions", probabilities=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,\n", "a.csv:2: label: expected the true label of the sample 'a', found nothing"),
        ("a,cat\nb,dog\na,cat\n", "a.csv:4: the sample 'a' is also on line 2"),
        ("a,cat\na,dog\n", "a.csv:3: the sample 'a' is also on line 2"),
    ],
)
def test_faulty_ground_truth(text: str, expected: str) -> None:
    assert error(f"id,label\n{text}", "ground_truth") == f"{expected}\n{SKIP}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a,cat,cat,1\nb,dog,dog,1\na,dog,dog,0\n",
            "a.csv:4: label: expected 'cat' for the sample 'a' as on line 2, found 'dog'",
        ),
        (
            "a,,cat,1\nb,dog,dog,1\na,,dog,0\n",
            "a.csv:2: label: expected the true label of the sample 'a', found nothing",
        ),
    ],
)
def test_rows_that_contradict_each_other(text: str, expected: str) -> None:
    assert error(f"id,label,pred,conf\n{text}", "samples") == f"{expected}\n{SKIP}"


def test_metadata_that_contradicts_itself() -> None:
    text = "id,label,pred,conf,site\na,cat,cat,1,x\na,cat,dog,0,y\n"
    expected = (
        """a.csv:3: site: expected the string "x" for the sample 'a' as on line 2, """
        'found the string "y"'
    )
    assert error(text, "samples", metadata=["site"]) == f"{expected}\n{SKIP}"
    assert len(read(text, "samples").samples) == 1


def test_label_keys_at_fault() -> None:
    head = "id,label_key,label\n"
    assert error(f"{head}a,,cat\n", "ground_truth") == (
        f"a.csv:2: label_key: expected a label key, found nothing\n{SKIP}"
    )
    assert error(f"{head}a,k,cat\na,l,cat\na,k,dog\n", "ground_truth") == (
        f"a.csv:4: the sample 'a' (label key 'k') is also on line 2\n{SKIP}"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,cat,dog\na,1,0\nb,1,0\na,1,0\n", "a.csv:4: the sample 'a' is also on line 2"),
        ("id,p0,s0,p1,s1\n", None),
        (
            "id,pred0,score0,pred1,score1\na,cat,1,cat,0\n",
            "a.csv:2: pred1: duplicate label 'cat', also under pred0",
        ),
        (
            "id,pred0,score0,pred1,score1\na,cat,1,,\na,dog,1,,\n",
            "a.csv:3: the sample 'a' is also on line 2",
        ),
        (
            "id,cat,dog\na,1,0\nb,,0\n",
            (
                "a.csv:3: cat: expected a number, found nothing; name the columns that are classes "
                "under `data: classes:`"
            ),
        ),
        (
            "id,cat,site\na,1,x\n",
            (
                'a.csv:2: site: expected a number, found the string "x"; name the columns that are '
                "classes under `data: classes:`"
            ),
        ),
    ],
)
def test_faulty_predictions(text: str, expected: str | None) -> None:
    if expected is None:
        assert "no rows below the first line" in error(text, "predictions")
    else:
        assert error(text, "predictions") == f"{expected}\n{SKIP}"


def test_faulty_rows_are_left_out_and_counted() -> None:
    text = (
        "id,label,pred,conf\n"
        "a,cat,cat,0.5\nb,cat,cat,x\na,dog,dog,0.5\nc,dog,dog\nd,,dog,1\ne,dog,dog,1\ne,dog,dog,0\n"
    )
    found = read(text, "samples", invalid="skip")
    assert said(found) == [
        ("a", None, "cat", [("cat", 0.5)]),
        ("e", None, "dog", [("dog", 1)]),
    ]
    assert (found.files[0].rows, found.files[0].skipped, found.samples.skipped) == (7, 5, 5)
    nothing = "a.csv: there are no samples; at least one is needed; 1 were left out"
    assert error("id,label\na,\n", "ground_truth", invalid="skip") == nothing


def test_twenty_problems_and_the_count() -> None:
    rows = "".join(f"{number},cat,x\n" for number in range(25))
    lines = error(f"id,pred,conf\n{rows}", "predictions").split("\n")
    assert len(lines) == 22
    assert lines[20:] == ["… and 5 more problems", SKIP]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", "a.csv: the file is empty"),
        (b"\n\r\n", "a.csv: the file is empty: it has only line breaks"),
        (b"id,label\n\n", "a.csv: there are no rows below the first line"),
        (
            "id,label\na,cat\n".encode("utf-16"),
            ("a.csv: this looks like UTF-16 or UTF-32; save it as UTF-8 text"),
        ),
        (b'id,label\na,"cat\n', "a.csv:2: a double quote opens a field here, and none closes it"),
        (
            b'id,label\na,"c"at\n',
            (
                "a.csv:2: not CSV (',' expected after '\"'); a double quote "
                "inside a field is written twice"
            ),
        ),
    ],
)
def test_faulty_files(text: bytes, expected: str) -> None:
    assert error(text, "ground_truth") == expected


def test_ids_that_are_long_here_and_there() -> None:
    """The column would be a gigabyte at the width of the longest."""
    rows = "".join(f"{number},cat\n" for number in range(10_000))
    long = "x" * 100_000
    found = read(f"id,label\n{rows}{long},dog\n", "ground_truth")
    ids: Any = found.samples["sample_id"]
    assert ids.dtype == object
    assert ids[-1] == long.encode()
    assert ids[7] == b"7"


def test_classes_that_the_config_leaves_out_are_told() -> None:
    Path("p.csv").write_text("id,label,cat,dog,note\na,cat,0.5,0.5,x\n")
    options = ScoreReading(classes=["cat"])
    told = "p.csv: columns that are not among `classes` are not read: "
    assert list(read_score_csv("p.csv", "predictions", options).warnings) == [told + "dog, note"]
    # Of samples, other columns are metadata, unless a sample has that label.
    assert list(read_score_csv("p.csv", "samples", options).warnings) == []
    Path("s.csv").write_text("id,label,cat,dog,note\na,dog,0.5,0.5,x\n")
    assert list(read_score_csv("s.csv", "samples", options).warnings) == [
        "s.csv: columns that are not among `classes` are not read: dog"
    ]
