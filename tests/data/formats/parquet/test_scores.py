"""Parquet files of labels and scores: what columns may hold, and what is said of others."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.data.joined_parts import joined_parts
from tests.data.parquet_tables import read_table, saved, table_error
from tests.data.scored import SKIP, said, written
from valor_cli.data.formats.parquet.scores import read_parquet_part
from valor_cli.data.inputs.score_metadata import score_metadata
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import cut, seamless
from valor_cli.data.shapes.scores.parts import ScorePart
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError
from valor_cli.kernels.ranking.scores import DenseScores

pytestmark = pytest.mark.usefixtures("in_a_folder")
WIDE: dict[str, list[Any]] = {
    "id": ["a", "b"],
    "label": ["cat", "dog"],
    "cat": [0.9, 0.2],
    "dog": [0.1, 0.8],
}


def test_a_column_for_each_class() -> None:
    found = read_table(WIDE, "samples")
    assert said(found) == [
        ("a", None, "cat", [("cat", 0.9), ("dog", 0.1)]),
        ("b", None, "dog", [("cat", 0.2), ("dog", 0.8)]),
    ]
    assert found.classes == ("cat", "dog")
    assert isinstance(found.scores, DenseScores)
    assert found.samples.place_of(1) == "a.parquet: row 2"
    assert found.samples.place_of(1, "label") == "a.parquet: row 2: label"
    assert (found.files[0].rows, found.files[0].skipped, len(found.files[0].sha256 or "")) == (
        2,
        0,
        64,
    )


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int16(), [3, 2], [3.0, 2.0]),
        # The nearest float64 of 2**53 + 1 and of 2**64 - 1.
        (pa.uint64(), [2**53 + 1, 2**64 - 1], [2.0**53, 2.0**64]),
        (pa.float16(), [0.5, 0.25], [0.5, 0.25]),
        # A number of 32 bits is what it is, and not what it was written from.
        (pa.float32(), [0.1, 0.5], [0.10000000149011612, 0.5]),
        (pa.decimal128(7, 6), [Decimal("0.306317"), Decimal("1")], [0.306317, 1.0]),
        (pa.decimal256(40, 3), [Decimal("0.1"), Decimal("1")], [0.1, 1.0]),
        (pa.dictionary(pa.int8(), pa.float64()), [0.1, 0.1], [0.1, 0.1]),
    ],
)
def test_types_of_scores(kind: Any, values: Any, expected: list[float]) -> None:
    plain = pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind)
    column = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain
    found = read_table({"id": ["a", "b"], "cat": column}, "predictions")
    assert found.scores is not None
    assert found.scores.score.ravel().tolist() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([17, -1]), ["17", "-1"]),
        (pa.array([b"a", "é".encode()]), ["a", "é"]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
        (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"]),
        (pa.array([Decimal(17), Decimal(3)], pa.decimal128(5, 0)), ["17", "3"]),
        (pa.array(["x" * 600, "y"]), ["x" * 600, "y"]),
    ],
)
def test_types_of_ids_and_labels(values: Any, expected: list[str]) -> None:
    found = read_table({"sample_id": values, "label": values}, "ground_truth")
    assert [one[0] for one in said(found)] == expected
    assert [one[2] for one in said(found)] == expected


def test_true_and_false_are_labels_as_in_json() -> None:
    found = read_table({"id": [1, 2], "label": [True, False]}, "ground_truth")
    assert found.labels == ("true", "false")


def test_types_that_no_column_can_have() -> None:
    when = pa.array([datetime.datetime(2026, 1, 31)], pa.timestamp("us"))
    columns = {"id": [1.0], "label": [2.0], "pred": ["cat"], "score": ["0.5"], "when": when}
    assert table_error(columns, "samples", metadata=["when"])[:-1] == [
        (
            "a.parquet: when: expected a column of texts, numbers, true and false, or dates, "
            "found one of timestamp[us]"
        ),
        "a.parquet: label: expected a column of texts or whole numbers, found one of double",
        "a.parquet: score: expected a column of numbers, found one of string",
        "a.parquet: id: expected a column of texts or whole numbers, found one of double",
    ]
    told = table_error({"id": [True], "cat": [True]}, "predictions")
    assert [line.rpartition(" ")[2] for line in told[:2]] == ["bool", "bool"]


def test_nulls_and_scores_that_are_no_numbers() -> None:
    columns = {
        "id": ["a", None, "c", "d", "e"],
        "label": ["cat", "cat", None, "cat", "cat"],
        "cat": [0.5, 0.5, 0.5, None, None],
        "dog": [0.5, 0.5, 0.5, float("nan"), None],
    }
    assert table_error(columns, "samples", classes=["cat", "dog"]) == [
        "a.parquet: row 2: id: expected the id of a sample, found nothing",
        "a.parquet: row 4: cat: expected a number, found nothing",
        "a.parquet: row 4: dog: expected a finite number, found nan",
        "a.parquet: row 3: label: expected the true label of the sample 'c', found nothing",
        SKIP,
    ]
    found = read_table(columns, "samples", classes=["cat", "dog"], invalid="skip")
    # All classes without a score is no prediction.
    assert [(one[0], one[3]) for one in said(found)] == [
        ("a", [("cat", 0.5), ("dog", 0.5)]),
        ("e", [("cat", 0.0), ("dog", 0.0)]),
    ]
    assert (found.files[0].rows, found.files[0].skipped) == (5, 3)


def test_probabilities() -> None:
    columns = {"id": ["a", "b"], "pred": ["cat", None], "score": [1.5, None]}
    told = table_error(columns, "predictions", probabilities=True)
    assert told[0] == "a.parquet: row 1: score: expected a probability from 0 to 1, found 1.5"


def test_a_label_a_row() -> None:
    columns = {
        "id": ["a", "a", "b"],
        "label": ["cat", None, "dog"],
        "pred": ["cat", "dog", None],
        "score": [0.75, 0.25, None],
    }
    rows = [("a", None, "cat", [("cat", 0.75), ("dog", 0.25)]), ("b", None, "dog", [])]
    assert said(read_table(columns, "samples")) == rows
    columns["score"] = [0.75, None, 0.5]
    assert table_error(columns, "samples")[:2] == [
        "a.parquet: row 2: score: expected a number, found nothing",
        "a.parquet: row 3: pred: expected a label for the score 0.5, found nothing",
    ]
    columns = {"id": ["a", "a"], "label": ["cat", "dog"], "pred": ["cat", "dog"]}
    expected = "a.parquet: row 2: label: expected 'cat' for the sample 'a' as on row 1, found 'dog'"
    assert table_error(columns, "samples")[0] == expected


def test_metadata() -> None:
    columns = {
        **WIDE,
        "city": ["Bonn", ""],
        "age": [17, None],
        "share": [0.5, None],
        "new": [True, None],
        "day": [datetime.date(2026, 1, 31), None],
        "metadata": [{"weight": 2}, None],
    }
    names = ["city", "age", "share", "new", "day", "weight"]
    found = read_table(columns, "samples", metadata=names, classes=["cat", "dog"])
    values = ["Bonn", 17, 0.5, True, "2026-01-31", 2]
    assert found.metadata == {one: [value, None] for one, value in zip(names, values, strict=True)}
    told = table_error(columns, "samples", metadata=["wieght"], classes=["cat", "dog"])
    assert told[0].startswith("a.parquet: there is no column 'wieght' for this metadata")
    columns["share"] = [float("inf"), None]
    told = table_error(columns, "samples", metadata=names, classes=["cat", "dog"])
    assert told[0] == "a.parquet: row 1: share: expected a finite number, found inf"
    found_names = score_metadata("a.parquet", "samples", ScoreReading(classes=["cat", "dog"]))
    assert found_names == ("age", "city", "day", "new", "weight")


def test_what_is_a_class() -> None:
    # A column of numbers is one although its first row says nothing; in CSV the row decides.
    columns = {"id": ["a", "b"], "label": ["cat", "cat"], "cat": [None, 0.5], "age": [None, 4]}
    assert table_error(columns, "samples") == [
        (
            "a.parquet: age: read as a class because its values are numbers, "
            "and no sample has that label"
        ),
        "Name the columns that are classes under `data: classes:`.",
    ]
    del columns["age"]
    # Numbers of rows, as pandas writes them, are no class.
    columns["__index_level_0__"] = [0, 1]
    assert read_table(columns, "samples").classes == ("cat",)
    mapped = {"sample_id": "__index_level_0__"}
    found = read_table(columns, "samples", columns=mapped, classes=["cat"])
    assert [one[0] for one in said(found)] == ["0", "1"]
    found = read_table(WIDE, "samples", classes=["cat"])
    expected = "a.parquet: columns that are not among `classes` are not read: dog"
    assert found.warnings == [expected]


def test_columns_that_are_missing() -> None:
    assert table_error({"label": ["cat"], "pred": ["cat"]}, "samples") == [
        (
            "a.parquet: the column 'sample_id' (or id, uid, image_id, image, file_name, filename, "
            "name, path) is missing (there is: label, pred)"
        ),
        "Map other names under `data: columns:`, as {label: my_column}.",
    ]
    told = table_error(WIDE, "samples", columns={"predictions": "scroes"})[0]
    assert told == (
        "a.parquet: there is no column 'scroes' for predictions; there is: id, label, cat, dog"
    )
    told = table_error({"id": ["a"], "label": ["cat"], "note": ["x"]}, "samples")[0]
    assert told.startswith("a.parquet: there are no predictions: expected a column 'prediction'")


ITEMS = pa.list_(
    pa.struct([("class", pa.string()), ("conf", pa.float32()), ("box", pa.list_(pa.int8()))])
)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ITEMS, [{"class": "cat", "conf": 0.75}, {"class": "dog", "conf": 0.25, "box": [1]}]),
        (pa.map_(pa.string(), pa.float64()), [("cat", 0.75), ("dog", 0.25)]),
        (pa.map_(pa.dictionary(pa.int8(), pa.string()), pa.int8()), [("cat", 0), ("dog", 1)]),
        (pa.list_(pa.float64(), 2), [0.75, 0.25]),
        (pa.large_list(pa.float64()), [0.75, 0.25]),
        (pa.list_view(pa.float64()), [0.75, 0.25]),
        (
            pa.struct([(one, pa.float64()) for one in ("cat", "dog", "eel")]),
            {"cat": 0.75, "dog": 0.25},
        ),
    ],
)
def test_a_column_of_lists(kind: Any, value: Any) -> None:
    lists = pa.array([value, None, value], kind)
    columns = {"id": ["a", "b", "c"], "label": ["cat"] * 3, "probs": lists}
    numbers = not pa.types.is_map(kind) and not pa.types.is_struct(kind) and kind != ITEMS
    found = read_table(columns, "samples", classes=["cat", "dog"] if numbers else [])
    scores = (0.0, 1.0) if pa.types.is_map(kind) and kind.item_type == pa.int8() else (0.75, 0.25)
    expected = [("cat", scores[0]), ("dog", scores[1])]
    assert [one[3] for one in said(found)] == [expected, [], expected]


def test_lists_that_are_wrong() -> None:
    ids = {"id": ["a", "b", "c"], "label": ["cat"] * 3}
    maps = pa.array(
        [[("cat", 1.0), ("cat", 0.5)], [("", 1.0)], None], pa.map_(pa.string(), pa.float64())
    )
    assert table_error({**ids, "predictions": maps}, "samples") == [
        "a.parquet: row 1: predictions.cat: duplicate key in this object",
        "a.parquet: row 2: predictions: expected a label, found an empty text",
        SKIP,
    ]
    items: list[Any] = [
        [{"label": "cat", "score": None}],
        [{"label": "cat", "score": 1.0}, {"label": "cat", "score": 0.5}],
        [{"label": None, "score": float("inf")}],
    ]
    assert table_error({**ids, "predictions": items}, "samples")[:4] == [
        "a.parquet: row 1: predictions[0].score: expected a number, found null",
        "a.parquet: row 2: predictions[1].label: the label 'cat' is listed twice",
        "a.parquet: row 3: predictions[0].score: expected a finite number, found Infinity",
        "a.parquet: row 3: predictions[0].label: expected a label, found nothing",
    ]
    numbers = {**ids, "predictions": [[0.5, 0.5], [0.5], [0.5, 0.5, 0.5]]}
    told = table_error(numbers, "samples", classes=["cat", "dog"])
    expected = "expected 2 scores, one for each of `classes`, found"
    assert told[:2] == [
        f"a.parquet: row 2: predictions: {expected} 1",
        f"a.parquet: row 3: predictions: {expected} 3",
    ]
    (only,) = table_error(numbers, "samples")
    assert only == (
        "a.parquet: predictions: a list of numbers needs the names of its classes, in their order: "
        "`classes:` under `data:`"
    )
    first = table_error({**ids, "predictions": [["cat"], ["dog"], []]}, "samples")[0]
    assert first == (
        "a.parquet: predictions: expected a list of structs of a label and a score, a map or a "
        "struct of scores by label, or a list of scores beside `classes:`; found "
        "list<element: string>"
    )


def test_a_label_key_beside_lists() -> None:
    columns = {
        "id": ["a", "a", "b"],
        "key": ["hue", "size", None],
        "label": ["red", "big", None],
        "predictions": [[{"label": "red", "score": 0.5}], [{"label": "big", "score": 0.5}], None],
    }
    found = read_table(columns, "samples")
    assert [one[:3] for one in said(found)] == [("a", "hue", "red"), ("a", "size", "big")]


def parts_of(path: str, size: int) -> list[ScorePart | None]:
    """What is read of the pieces of a file."""
    return [read_parquet_part(piece, "samples", ScoreReading()) for piece in cut(path, size)]


def check_joined(path: str, parts: list[ScorePart | None]) -> None:
    """See that parts are the file."""
    whole = read_scores(path, "samples", ScoreReading())
    good = [one for one in parts if one]
    assert len(good) == len(parts)
    spans = [one.facts.span for one in good if one.facts.span]
    assert seamless(spans, Path(path).stat().st_size)
    joined = joined_parts(path, "samples", good, whole.files[0].sha256 or "")
    assert joined is not None
    assert said(joined) == said(whole)
    assert list(joined.files) == list(whole.files)
    assert joined.samples.rows is not None
    assert whole.samples.rows is not None
    assert joined.samples.rows.tolist() == whole.samples.rows.tolist()


@pytest.mark.parametrize("size", [1, 50, 100, 500])
def test_the_parts_of_a_file_are_the_file(size: int) -> None:
    columns: dict[str, Any] = {name: one * 3 for name, one in WIDE.items()}
    columns["id"] = list("abcdef")
    path = saved(columns, row_group_size=2)
    parts = parts_of(path, size)
    check_joined(path, parts)
    files = [one.file for one in parts if one]
    assert {file.files[0].sha256 for file in files} == {""}
    places = [file.samples.place_of(0) for file in files if len(file.samples)]
    assert places[0] == "a.parquet: row 1"
    assert size > 100 or places[1:] == ["a.parquet: row 3", "a.parquet: row 5"]


@pytest.mark.parametrize("size", [20, 50, 200, 1000])
@pytest.mark.parametrize("group", [1, 2, 3, 4])
def test_a_sample_of_several_rows_is_in_one_part(group: int, size: int) -> None:
    """Row groups end inside of samples, one of which is larger than a group."""
    samples = ["a"] * 2 + ["b"] * 7 + ["c"] + ["d"] * 3
    columns = {
        "id": samples,
        "label": ["cat" if one != other else None for one, other in pairwise(["", *samples])],
        "prediction": [f"p{at}" for at in range(len(samples))],
        "score": np.arange(len(samples)) / 16,
    }
    path = saved(columns, row_group_size=group)
    check_joined(path, parts_of(path, size))


def test_a_part_that_needs_the_others() -> None:
    # The true label of a row of one label each may stand in another row group.
    columns = {"id": ["a", "b", "a"], "label": ["cat", "cat", None], "pred": ["cat", "cat", "dog"]}
    path = saved({**columns, "score": [0.5] * 3}, row_group_size=1)
    assert None in parts_of(path, 20)


def test_shards_of_several_formats() -> None:
    saved(WIDE, "s1.parquet")
    written("id,label,cat,dog\nc,cat,1,0\n", "s2.csv")
    found = read_scores("s*", "samples", ScoreReading())
    assert [one[0] for one in said(found)] == ["a", "b", "c"]
    places = [found.samples.place_of(at) for at in range(3)]
    assert places == ["s1.parquet: row 1", "s1.parquet: row 2", "s2.csv:2"]
    saved({**WIDE, "id": ["x", "c"]}, "s3.parquet")
    with pytest.raises(DataError, match=r"s3.parquet: row 2: the sample 'c' is also in s2.csv:2"):
        read_scores("s*", "samples", ScoreReading())


def test_no_rows() -> None:
    columns = {"id": pa.array([], pa.string()), "cat": pa.array([], pa.float64())}
    expected = "a.parquet: there are no samples; at least one is needed"
    assert table_error(columns, "predictions") == [expected]
