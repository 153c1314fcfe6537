"""Arrow files, folders of shards and class ids, as the package `datasets` saves them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.scored import said, table_error
from valor_cli.data.formats.parquet.class_labels import class_names
from valor_cli.data.formats.parquet.table import TypedFile
from valor_cli.data.formats.parquet.tape import tape_of_arrow
from valor_cli.data.inputs.objects import read_objects
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import cut
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

TABLE = pa.table(
    {
        "id": [f"s{number}" for number in range(50)],
        "label": ["cat", "dog"] * 25,
        "prediction": ["cat"] * 50,
        "metadata": [{"site": "north"}] * 50,
    }
)
READING = ScoreReading(metadata=["site"])


def write(path: str, table: pa.Table = TABLE) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".parquet"):
        pq.write_table(table, path)
        return path
    kind = pa.ipc.new_file if path.endswith(".feather") else pa.ipc.new_stream
    with pa.OSFile(path, "wb") as sink, kind(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return path


@pytest.mark.parametrize("name", ["a.arrow", "a.feather"])
def test_arrow_is_read_as_parquet(name: str) -> None:
    expected = said(read_scores(write("a.parquet"), "samples", READING))
    assert said(read_scores(write(name), "samples", READING)) == expected
    (block, *_) = TypedFile(name).blocks()
    assert len(block.batches[0]) == 7


@pytest.mark.parametrize("size", [100, 1000])
def test_pieces_are_the_file(size: int) -> None:
    path = write("a.arrow")
    whole = said(read_scores(path, "samples", READING))
    parts = [read_score_piece(piece, "samples", READING) for piece in cut(path, size)]
    assert len(parts) > 1
    assert [row for part in parts for row in said(part.file)] == whole


def test_a_folder_of_shards_is_one_input() -> None:
    for shard in range(3):
        rows = TABLE.slice(20 * shard, 20)
        write(f"data/train-{shard:05}-of-00003.parquet", rows)
        write(f"saved/train/data-{shard:05}-of-00003.arrow", rows)
    expected = said(read_scores(write("a.parquet"), "samples", READING))
    for folder in ("data", "saved/train"):
        assert said(read_scores(folder, "samples", READING)) == expected


def test_a_folder_of_several_splits() -> None:
    for split in ("train", "test"):
        write(f"data/{split}-00000-of-00001.parquet")
    with pytest.raises(DataError) as caught:
        read_scores("data", "samples", READING)
    lines = str(caught.value).split("\n")
    assert lines == [
        "data: this folder has the splits test, train",
        "Name the files of one, such as data/test-*",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"id,label\n", "a.arrow: not an Arrow file"),
        (b"ARROW1\0\0 cut off", "a.arrow: the Arrow file cannot be read"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "a.arrow: the Arrow file cannot be read"),
        (b"", "a.arrow: "),
    ],
)
def test_what_is_no_arrow_file(content: bytes, expected: str) -> None:
    Path("a.arrow").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_scores("a.arrow", "samples", READING)
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["a.arrow", "a.feather"])
def test_any_damage_is_said_or_does_no_harm(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    views = pa.array(["a text that is longer than a view"] * 50, pa.string_view())
    content = np.frombuffer(
        Path(write(name, TABLE.append_column("note", views))).read_bytes(), "u1"
    )
    for _ in range(25):
        damaged = content.copy()
        at = rng.integers(8, len(content), int(rng.integers(1, 4)))
        damaged[at] = rng.integers(0, 256, len(at))
        Path(name).write_bytes(damaged.tobytes())
        with suppress(DataError):
            list(TypedFile(name).blocks())


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
