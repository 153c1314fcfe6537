"""JSONL of labels and scores: each way to write them, and what is said of what cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.data.scored import SKIP, error, listed, read, said
from valor_cli.data.shapes.scores.score_file import ScoreFile, Side
from valor_cli.kernels.ranking.scores import DenseScores

pytestmark = pytest.mark.usefixtures("in_a_folder")


def lines(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def jsonl(text: str, side: Side, **options: Any) -> ScoreFile:
    return read(text, side, "a.jsonl", **options)


def fault(text: str, side: Side = "predictions", **options: Any) -> str:
    return error(text, side, "a.jsonl", **options)


def test_ground_truth() -> None:
    found = jsonl(lines({"sample_id": "b", "label": "cat"}, {"id": 17, "gt": 3}), "ground_truth")
    assert said(found) == [("b", None, "cat", None), ("17", None, "3", None)]
    assert found.samples.place_of(1, "label") == "a.jsonl:2: label"


@pytest.mark.parametrize(
    "predictions",
    [
        {"cat": 0.75, "dog": 0.25},
        [{"label": "cat", "score": 0.75}, {"label": "dog", "score": 0.25}],
        [{"class": "cat", "prob": 0.75, "rank": [1]}, {"confidence": 0.25, "prediction": "dog"}],
        [["cat", 0.75], ["dog", 0.25]],
        [0.75, 0.25],
    ],
)
@pytest.mark.parametrize("name", ["predictions", "scores", "probs"])
def test_the_ways_to_write_scores(name: str, predictions: Any) -> None:
    record = {"sample_id": "a", "label": "cat", name: predictions}
    found = jsonl(lines(record), "samples", classes=["cat", "dog"])
    assert said(found) == [("a", None, "cat", [("cat", 0.75), ("dog", 0.25)])]
    assert found.classes == ("cat", "dog")


def test_scores_by_class_are_dense() -> None:
    rows = [{"id": str(row), "scores": [row / 8, 0, 1]} for row in range(8)]
    found = jsonl(lines(*rows), "predictions", classes=["x", "y", "z"])
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score.tolist() == [[row / 8, 0, 1] for row in range(8)]
    # Lines with and without predictions, and of two ways to write them.
    mixed = lines(*rows[:2], {"id": "n", "scores": None}, {"id": "m", "scores": {"y": 1}})
    found = jsonl(mixed, "predictions", classes=["x", "y", "z"])
    assert listed(found)[1:] == [[("x", 0.125), ("y", 0), ("z", 1)], [], [("y", 1)]]


def test_single_labels() -> None:
    text = lines(
        {"id": "a", "label": True, "prediction": "dog", "score": 0.5},
        {"id": "b", "label": "dog", "prediction": 1.50},
        {"id": "c", "label": "dog", "prediction": None},
        {"id": "d", "label": "dog", "prediction": ""},
        {"id": "e", "label": "dog"},
    )
    assert said(jsonl(text, "samples")) == [
        ("a", None, "true", [("dog", 0.5)]),
        ("b", None, "dog", [("1.5", 1)]),
        ("c", None, "dog", []),
        ("d", None, "dog", []),
        ("e", None, "dog", []),
    ]


def test_numbers_are_taken_as_written() -> None:
    text = (
        '{"id":1.0,"label":1.50}\n{"id":-0,"label":1e2}\n{"id":123456789012345678901,"label":2}\n'
    )
    found = jsonl(text, "ground_truth")
    assert [row[:3:2] for row in said(found)] == [
        ("1.0", "1.50"),
        ("-0", "1e2"),
        ("123456789012345678901", "2"),
    ]


def test_one_label_a_line() -> None:
    text = lines(
        {"id": "a", "label": "cat", "prediction": "dog", "score": 0.25},
        {"id": "b", "label": "dog", "prediction": "dog", "score": 1},
        {"id": "a", "prediction": "cat", "score": 0.75},
    )
    assert said(jsonl(text, "samples")) == [
        ("a", None, "cat", [("dog", 0.25), ("cat", 0.75)]),
        ("b", None, "dog", [("dog", 1)]),
    ]


KEYED = [
    ("a", "colour", "red", [("red", 0.5), ("blue", 0.25)]),
    ("a", "shape", "box", [("box", 1)]),
    ("b", "shape", "ball", []),
]


def test_label_keys_as_objects() -> None:
    text = lines(
        {
            "id": "a",
            "label": {"colour": "red", "shape": "box"},
            "predictions": {"shape": [["box", 1]], "colour": {"red": 0.5, "blue": 0.25}},
        },
        {"id": "b", "label": {"shape": "ball"}},
    )
    assert said(jsonl(text, "samples")) == KEYED
    assert [row[1:4:2] for row in said(jsonl(text, "predictions", invalid="skip"))] == [
        ("shape", [("box", 1)]),
        ("colour", [("red", 0.5), ("blue", 0.25)]),
    ]


def test_label_keys_as_a_field() -> None:
    text = lines(
        {
            "id": "a",
            "label_key": "colour",
            "label": "red",
            "predictions": {"red": 0.5, "blue": 0.25},
        },
        {"id": "a", "label_key": "shape", "label": "box", "predictions": [["box", 1]]},
        {"id": "b", "label_key": "shape", "label": "ball"},
    )
    assert said(jsonl(text, "samples")) == KEYED


def test_label_keys_of_single_labels() -> None:
    record = {
        "id": "a",
        "label": {"colour": "red", "shape": "box"},
        "prediction": {"colour": "blue", "shape": None},
        "score": {"colour": 0.5},
    }
    assert said(jsonl(lines(record), "samples")) == [
        ("a", "colour", "red", [("blue", 0.5)]),
        ("a", "shape", "box", []),
    ]


def test_lines_without_predictions_need_no_label_key() -> None:
    text = lines({"id": "a", "predictions": {}}, {"id": "b", "predictions": {"k": {"cat": 1}}})
    found = jsonl(text, "predictions")
    assert said(found) == [("b", "k", None, [("cat", 1)])]
    assert (found.files[0].rows, found.files[0].skipped) == (2, 0)


def test_metadata() -> None:
    text = lines(
        {"id": "a", "label": "cat", "site": "x", "metadata": {"year": 2020, "night": True}},
        {"id": "b", "label": "cat", "metadata": {"year": 1.5, "site": "y"}},
    )
    found = jsonl(text, "ground_truth", metadata=["site", "year", "night"])
    assert said(found) == [
        ("a", None, "cat", None, "x", 2020, True),
        ("b", None, "cat", None, "y", 1.5, None),
    ]
    assert [type(value) for value in found.metadata["year"]] == [int, float]


def test_faulty_metadata() -> None:
    text = lines({"id": "a", "label": "cat", "site": [1], "metadata": {"year": {}}})
    assert fault(text, "ground_truth", metadata=["site", "year"]) == (
        "a.jsonl:1: site: expected a single value, found a list\n"
        f"a.jsonl:1: metadata.year: expected a single value, found an object\n{SKIP}"
    )
    text = '{"id": "a", "label": "cat", "site": NaN}'
    assert fault(text, "ground_truth", metadata=["site"]) == (
        f"a.jsonl:1: site: expected a finite number, found NaN\n{SKIP}"
    )
    text = lines({"id": "a", "label": "cat", "site": "x", "metadata": {"year": 1}})
    assert fault(text, "ground_truth", metadata=["years"]) == (
        "a.jsonl: no sample has the metadata 'years' (did you mean 'year'?); "
        "there is: id, label, site, year"
    )


def test_columns_are_mapped() -> None:
    text = lines({"key": "a", "is": "cat", "says": {"dog": 1}, "label": "x"})
    columns = {"sample_id": "key", "label": "is", "predictions": "says"}
    found = jsonl(text, "samples", columns=columns)
    assert said(found) == [("a", None, "cat", [("dog", 1)])]
    assert "there is no 'labels' (did you mean 'label'?)" in fault(text, columns={"labels": "x"})


def test_bom_crlf_and_blank_lines() -> None:
    text = '\ufeff{"id":"ä","label":"kät"}\r\n\r\n \n{"id":"b","label":"x"}'
    found = jsonl(text, "ground_truth")
    assert said(found) == [("ä", None, "kät", None), ("b", None, "x", None)]
    assert found.samples.place_of(1) == "a.jsonl:4"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[1]", "expected an object with a sample_id, found a list"),
        ("{", ("not JSON (Expecting property name enclosed in double quotes, column 2); each line "
         "is one JSON object")),
        ("[" * 100_000, "the JSON is nested too deeply to be read"),
        ('{"predictions":{}}', '"sample_id" is missing (there is: predictions)'),
        ('{"id":"a"}', '"predictions" or "prediction" is missing (there is: id)'),
        ('{"id":"a","id":"b","predictions":{}}', "id: duplicate key in this object"),
        ('{"id":"","predictions":{}}', "id: expected the id of a sample, found nothing"),
        ('{"id":null,"predictions":{}}', "id: expected a string or a number, found null"),
        ('{"id":true,"predictions":{}}', "id: expected a string or a number, found true"),
        ('{"id":"a\\u0000","predictions":{}}', ("id: expected the id of a sample, found one with a "
         "NUL character")),
        ('{"id":"\\ud800","predictions":{}}', ('id: expected a string or a number, found the '
         'string "\\ud800"')),
        ('{"id":"a","predictions":{"cat":"0.9"}}', ("predictions.cat: expected a number, found the "
         'string "0.9"')),
        ('{"id":"a","predictions":{"cat":NaN}}', ("predictions.cat: expected a finite number, "
         "found NaN")),
        ('{"id":"a","predictions":{"cat":-Infinity}}', ("predictions.cat: expected a finite "
         "number, found -Infinity")),
        ('{"id":"a","predictions":{"cat":1e999}}', ("predictions.cat: expected a finite number, "
         "found 1e999")),
        ('{"id":"a","predictions":{"cat":true}}', "predictions.cat: expected a number, found true"),
        ('{"id":"a","predictions":{"cat":null}}', "predictions.cat: expected a number, found null"),
        ('{"id":"a","predictions":{"cat":1,"cat":0}}', ("predictions.cat: duplicate key in this "
         "object")),
        ('{"id":"a","predictions":{"":1}}', "predictions: expected a label, found an empty text"),
        ('{"id":"a","predictions":"cat"}', ('predictions: expected an object {"label": score}, or '
         'a list of {"label": …, "score": …} or of [label, score]; found the string "cat"')),
        ('{"id":"a","predictions":["cat"]}', ('predictions[0]: expected {"label": …, "score": …} '
         'or [label, score], found the string "cat"')),
        ('{"id":"a","predictions":[{"label":"cat"}]}', ('predictions[0]: "score" is missing (there '
         "is: label)")),
        ('{"id":"a","predictions":[["cat",1],["cat",0]]}', ("predictions[1][0]: the label 'cat' is "
         "listed twice")),
        ('{"id":"a","predictions":[["",1]]}', "predictions[0][0]: expected a label, found nothing"),
        ('{"id":"a","predictions":[1]}', ("predictions: a list of numbers needs the names of its "
         "classes, in their order: `classes:` under `data:`")),
        ('{"id":"a","predictions":{"k":{"cat":1},"l":2}}', ("predictions.l: expected an object "
         '{"label": score}, or a list of {"label": …, "score": …} or of [label, score]; found 2')),
        ('{"id":"a","prediction":{"cat":0.5}}', ('prediction: expected a label, found scores: '
         'write them under "predictions"')),
        ('{"id":"a","prediction":["cat"]}', "prediction: expected a label, found a list"),
        ('{"id":"a","prediction":null,"score":0.5}', ("prediction: expected a label for the score "
         "0.5, found nothing")),
        ('{"id":"a","prediction":"cat","score":"high"}', ('score: expected a number, found the '
         'string "high"')),
        ('{"id":"a","key":"k","predictions":{"k":{"cat":1}}}', ("key: expected no label keys "
         "elsewhere in the line, found an object of them")),
    ],
)  # fmt: skip
def test_faulty_predictions(line: str, expected: str) -> None:
    good = '{"id":"first","predictions":{"cat":1}}'
    assert fault(f"{good}\n{line}\n") == f"a.jsonl:2: {expected}\n{SKIP}"
    found = jsonl(f"{good}\n{line}\n", "predictions", invalid="skip")
    assert said(found) == [("first", None, None, [("cat", 1)])]
    assert (found.files[0].rows, found.files[0].skipped) == (2, 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"id":"a"}', '"label" is missing (there is: id)'),
        ('{"id":"a","label":null}', ("label: expected the true label of the sample 'a', found "
         "nothing")),
        ('{"id":"a","label":""}', ("label: expected the true label of the sample 'a', found "
         "nothing")),
        ('{"id":"a","label":["cat"]}', "label: expected a label, found a list"),
        ('{"id":"a","label":{}}', ("label: expected a label for each label key, found an empty "
         "object")),
        ('{"id":"a","label":{"k":[]}}', "label.k: expected a label, found an empty list"),
        ('{"id":"a","label":{"":"x"}}', "label: expected a label key, found an empty text"),
        ('{"id":"a","label":{"k":"x","k":"y"}}', "label.k: duplicate key in this object"),
        ('{"id":"a","label":NaN}', "label: expected a label, found NaN"),
        ('{"id":"a","label":"\\udc00"}', 'label: expected a label, found the string "\\udc00"'),
    ],
)  # fmt: skip
def test_faulty_ground_truth(line: str, expected: str) -> None:
    assert fault(f"{line}\n", "ground_truth") == f"a.jsonl:1: {expected}\n{SKIP}"


def test_classes_that_are_not_as_many_as_scores() -> None:
    message = "a.jsonl:1: predictions: expected 3 scores, one for each of `classes`, found 2"
    text = lines({"id": "a", "predictions": [0.5, 0.5]})
    assert fault(text, classes=["x", "y", "z"]) == f"{message}\n{SKIP}"


def test_probabilities() -> None:
    text = lines({"id": "a", "predictions": {"cat": 0.5}}, {"id": "b", "predictions": {"cat": 1.5}})
    assert listed(jsonl(text, "predictions")) == [[("cat", 0.5)], [("cat", 1.5)]]
    message = "a.jsonl:2: predictions.cat: expected a probability from 0 to 1, found 1.5"
    assert fault(text, probabilities=True) == f"{message}\n{SKIP}"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (
            [{"id": "a", "label": {"k": "x"}}, {"id": "b", "label": "x"}],
            "a.jsonl:2: label_key: expected a label key as on line 1, found none",
        ),
        (
            [{"id": "a", "label": {"k": "x"}, "predictions": {"x": 1}}],
            "a.jsonl:1: labels have label keys, but predictions do not",
        ),
        (
            [{"id": "a", "label": "x", "predictions": {"k": {"x": 1}}}],
            "a.jsonl:1: predictions have label keys, but labels do not",
        ),
        (
            [{"id": "a", "label": {"k": "x"}, "predictions": {"l": {"x": 1}}}],
            (
                "a.jsonl:1: label: expected the true label of the sample 'a' (label key 'l'), "
                "found nothing"
            ),
        ),
        (
            [{"id": "a", "label": "x", "predictions": {"x": 1}}] * 2,
            "a.jsonl:2: the sample 'a' is also on line 1",
        ),
        (
            [{"id": "a", "label": "x", "prediction": "x"}] * 2,
            "a.jsonl:2: the sample 'a' has the label 'x' on line 1 too",
        ),
    ],
)
def test_lines_that_do_not_agree(records: Any, expected: str) -> None:
    assert fault(lines(*records), "samples") == f"{expected}\n{SKIP}"


def test_no_samples() -> None:
    assert fault("\n \n") == "a.jsonl: there are no samples; at least one is needed"
    assert fault("") == "a.jsonl: the file is empty"


def test_a_json_list_of_such_objects() -> None:
    records = [
        {"id": "a", "label": "cat", "predictions": {"cat": 0.5}},
        {"id": "b\n", "label": "dog", "predictions": {"dog": 1}},
    ]
    for text in (json.dumps(records), json.dumps(records, indent=2).replace("\n", "\r\n")):
        found = read(text, "samples", "a.json")
        assert said(found) == [
            ("a", None, "cat", [("cat", 0.5)]),
            ("b\n", None, "dog", [("dog", 1)]),
        ]
        assert found.samples.place_of(1, "label") == "a.json: [1].label"
        assert found.files[0].rows == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "a.json: there are no samples; at least one is needed"),
        ('{"id": "a"}', "a.json: expected a list of objects, one a sample, found an object"),
        ("[{]", ("a.json: not JSON (Expecting property name enclosed in double quotes, line 1, "
         "column 3)")),
        ('[{"id":"a","label":"x"},{"id":"a","label":"x"}]',
         f"a.json: [1]: the sample 'a' is also on [0]\n{SKIP}"),
        ('[{"id":"a","label":"x"},{"id":"b","label":NaN}]',
         f"a.json: [1].label: expected a label, found NaN\n{SKIP}"),
    ],
)  # fmt: skip
def test_faulty_json_lists(text: str, expected: str) -> None:
    assert error(text, "ground_truth", "a.json") == expected


def test_long_files_of_single_labels_are_told_by_their_first_prediction() -> None:
    text = lines({"id": "x", "label": "cat"}) + lines(
        *({"id": "a", "label": "cat", "prediction": name} for name in ("cat", "dog"))
    )
    assert listed(jsonl(text, "samples")) == [[], [("cat", 1), ("dog", 1)]]
