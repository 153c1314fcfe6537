"""Class ids whose names the package `datasets` keeps in the schema."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.formats.parquet.test_arrow import write
from tests.data.parquet_tables import table_error
from valor_cli.data.formats.parquet.class_labels import class_names
from valor_cli.data.formats.parquet.tape import tape_of_arrow
from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

NAMES = ["cat", "dog", "bird"]
LABEL = {"names": NAMES, "_type": "ClassLabel"}
TEXT = {"dtype": "string", "_type": "Value"}
NUMBER = {"dtype": "float32", "_type": "Value"}
BOX = {"feature": NUMBER, "length": 4, "_type": "Sequence"}
OBJECTS = [
    {"bbox": [[1.0, 2.0, 30.0, 40.0], [5.0, 5.0, 9.0, 9.0]], "category": [0, 2]},
    {"bbox": [], "category": []},
    {"bbox": [[1.0, 2.0, 30.0, 40.0]], "category": [1]},
]


def table(columns: dict[str, Any], features: Any) -> pa.Table:
    """A table with the schema that `datasets` gives it."""
    said = json.dumps({"info": {"features": features}})
    return pa.table(columns).replace_schema_metadata({"huggingface": said})


def labels(path: str) -> list[str]:
    found = read_scores(path, "ground_truth", ScoreReading())
    return [found.labels[code] for code in found.samples["truth"].tolist()]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
def test_labels_are_named(name: str) -> None:
    ids = [f"s{number:02}" for number in range(30)]
    columns = {"id": ids, "label": [number % 3 for number in range(30)]}
    path = write(name, table(columns, {"id": TEXT, "label": LABEL}))
    assert labels(path) == NAMES * 10


@pytest.mark.parametrize(
    "features",
    [
        {"label": {"num_classes": 3, "names_file": "names.txt", "_type": "ClassLabel"}},
        {"label": {"names": [1, 2, 3], "_type": "ClassLabel"}},
        {"label": {"dtype": "int64", "_type": "Value"}},
        [LABEL],
        None,
    ],
)
def test_without_names_ids_are_labels(features: Any) -> None:
    columns = {"id": ["a", "b"], "label": [2, 0]}
    assert labels(write("a.parquet", table(columns, features))) == ["2", "0"]


@pytest.mark.parametrize("said", [b"\xff", b"[", b"[]", b"{}", b'{"info": null}'])
def test_what_is_no_description_names_nothing(said: bytes) -> None:
    assert class_names(pa.schema([], metadata={"huggingface": said})) == {}


def test_an_id_without_a_class_is_said_with_its_row() -> None:
    columns = {"id": ["a", "b", "c"], "label": [2, 3, 0]}
    assert table_error(table(columns, {"label": LABEL}), "ground_truth")[0] == (
        "a.parquet: row 2: label: no class has the id 3: the schema names 3"
    )


def test_minus_one_is_no_label() -> None:
    columns = {"id": ["a", "b"], "label": [0, -1]}
    assert table_error(table(columns, {"label": LABEL}), "ground_truth")[0].startswith(
        "a.parquet: row 2"
    )


@pytest.mark.parametrize("kind", ["Sequence", "List", "list"])
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_objects_are_named(name: str, kind: str) -> None:
    feature = {"bbox": BOX, "category": LABEL}
    side_by_side = kind == "Sequence"
    objects: Any = OBJECTS
    if not side_by_side:
        pairs = [zip(one["bbox"], one["category"], strict=True) for one in OBJECTS]
        objects = [[{"bbox": box, "category": at} for box, at in one] for one in pairs]
    columns = {"image_id": [1, 2, 3], "width": [99] * 3, "height": [99] * 3, "objects": objects}
    features = {"objects": [feature] if kind == "list" else {"feature": feature, "_type": kind}}
    path = write(name, table(columns, features))
    found = read_objects(path, "ground_truth", Reading())
    assert found.categories is not None
    names = dict(zip(found.categories["id"].tolist(), found.categories["name"], strict=True))
    labels = [names[one] for one in found.objects["category_id"].tolist()]
    assert labels == ["cat", "bird", "dog"]


def lists(inner: Any) -> Any:
    return st.lists(st.none() | inner, max_size=3)


@given(
    lists(lists(st.integers(-1, 2))), st.integers(0, 3), st.sampled_from([pa.list_, pa.large_list])
)
def test_nested_ids_are_what_each_value_says(rows: Any, skipped: int, kind: Any) -> None:
    one = pa.struct([("classes", kind(pa.int8())), ("count", pa.int8())])
    values = [None if row is None else {"classes": row, "count": 1} for row in rows]
    array = pa.array(values, one).slice(skipped)
    (found,) = tape_of_arrow([array], [{"classes": NAMES}])
    known: dict[int | None, str | None] = {None: None, -1: None, **dict(enumerate(NAMES))}
    assert found.values() == [
        None if row is None else {"classes": [known[at] for at in row], "count": 1}
        for row in rows[skipped:]
    ]


def test_names_of_fields_are_none_of_the_column_itself() -> None:
    columns = {"id": ["a", "b"], "label": [2, 0]}
    assert labels(write("a.parquet", table(columns, {"label": {"kind": LABEL}}))) == ["2", "0"]


def test_an_id_in_a_list_is_said_with_its_row() -> None:
    objects = [[{"bbox": [1.0, 2.0, 3.0, 4.0], "category": at}] for at in (0, 7)]
    columns = {"image_id": [1, 2], "width": [99] * 2, "height": [99] * 2, "objects": objects}
    features = {"objects": [{"bbox": BOX, "category": LABEL}]}
    with pytest.raises(DataError) as caught:
        read_objects(write("a.parquet", table(columns, features)), "ground_truth", Reading())
    assert str(caught.value).startswith(
        "a.parquet: row 2: objects: no class has the id 7: the schema names 3"
    )
