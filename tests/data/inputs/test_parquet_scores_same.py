"""The same rows as CSV, as JSONL and as Parquet: one reading of all, good rows and faulty ones."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.data.scored import said, written
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")
FOLDER = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

LABELS = ("cat", "dog", "eel", "älg", "a,b", "x" * 70)
SCORES = (0.0, 0.25, 1.0, 3.0, -0.5, 1e-300, float("nan"), float("inf"), None)
TEXTS = (
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
)

labels = st.sampled_from((*LABELS, *LABELS, None))
scores = st.sampled_from((*SCORES[:5], *SCORES[:5], *SCORES))
regions = st.sampled_from(("north", "south", None))


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    out = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    return text.getvalue()


def as_parquet(rows: list[dict[str, Any]], types: dict[str, Any], size: int) -> str:
    columns = {
        name: pa.array([row[name] for row in rows], types.get(name, pa.string()))
        for name in rows[0]
    }
    pq.write_table(pa.table(columns), "a.parquet", row_group_size=size)
    return "a.parquet"


def outcome(path: str, side: Side, reading: ScoreReading, *, ordered: bool = True) -> Any:
    """All that is read, or how much is wrong."""
    try:
        found = read_scores(path, side, reading)
    except DataError as error:
        return "error", error.total
    # Lines of JSON that look alike are read before others, and number their labels first.
    return facts(found), found.labels if ordered else frozenset(found.labels)


def facts(found: ScoreFile) -> Any:
    """All but the codes, and where the first row stands."""
    first = found.samples.rows.min() if found.samples.rows is not None else 0
    rows = (found.samples.rows - first).tolist() if found.samples.rows is not None else []
    files = [(one.rows, one.skipped) for one in found.files]
    return said(found), found.keys, found.classes, dict(found.metadata), rows, files


@st.composite
def wide(draw: Any) -> list[dict[str, Any]]:
    ids = draw(st.lists(st.sampled_from(("1", "22", "s-3", "é", "", "w" * 80)), max_size=12))
    names = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=4, unique=True))
    return [
        {
            "id": one or None,
            "label": draw(labels),
            "region": draw(regions),
            **{name: draw(scores) for name in names},
        }
        for one in ["0", *ids]
    ]


@seed(1)
@FOLDER
@given(
    rows=wide(),
    kinds=st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)),
    size=st.integers(1, 6),
    probable=st.booleans(),
    invalid=st.sampled_from(("error", "skip")),
    side=st.sampled_from(("samples", "predictions", "ground_truth")),
)
def test_a_column_for_each_class(
    rows: Any, kinds: Any, size: int, probable: bool, invalid: Any, side: Side
) -> None:
    names = [name for name in rows[0] if name not in ("id", "label", "region")]
    reading = ScoreReading(["region"], names, invalid=invalid, probabilities=probable)
    types = dict.fromkeys(names, pa.float64()) | {"id": kinds[0], "label": kinds[1]}
    expected = outcome(written(as_csv(rows), "a.csv"), side, reading)
    assert outcome(as_parquet(rows, types, size), side, reading) == expected


@st.composite
def pairs(draw: Any, count: int) -> list[dict[str, Any]]:
    """Rows of several labels with their scores, or of one: then a sample has several rows."""
    ids = draw(st.lists(st.sampled_from(range(9)), min_size=1, max_size=14))
    keyed = draw(st.booleans())
    rows = []
    for one in ids:
        row: dict[str, Any] = {
            "sample_id": one,
            "label": draw(st.sampled_from(("cat", "dog", None))),
        }
        if keyed:
            row["label_key"] = draw(st.sampled_from(("hue", "size", "size", "size", None)))
        for at in range(count):
            number = "" if count == 1 else str(at)
            row[f"pred{number}"] = draw(labels)
            row["score" + number] = draw(scores)
        rows.append(row)
    return rows


@seed(2)
@FOLDER
@given(
    rows=st.integers(1, 3).flatmap(pairs),
    kind=st.sampled_from(TEXTS),
    number=st.sampled_from((pa.int8(), pa.uint64(), pa.decimal128(5, 0))),
    size=st.integers(1, 6),
    invalid=st.sampled_from(("error", "skip")),
    side=st.sampled_from(("samples", "predictions")),
)
def test_labels_with_scores(
    rows: Any, kind: Any, number: Any, size: int, invalid: Any, side: Side
) -> None:
    types: dict[str, Any] = {"sample_id": number}
    for name in rows[0]:
        if name.startswith(("pred", "score")):
            types[name] = kind if name.startswith("pred") else pa.float64()
    reading = ScoreReading(invalid=invalid)
    expected = outcome(written(as_csv(rows), "a.csv"), side, reading)
    assert outcome(as_parquet(rows, types, size), side, reading) == expected


LISTS = {
    "structs": pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())])),
    "many": pa.large_list(pa.struct([("score", pa.float64()), ("class", pa.large_string())])),
    "map": pa.map_(pa.string(), pa.float64()),
    "numbers": pa.list_(pa.float64()),
    "fixed": pa.list_(pa.float64(), 3),
    "fields": pa.struct([(name, pa.float64()) for name in ("cat", "dog", "eel")]),
}


@st.composite
def listed(draw: Any, form: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows for Arrow, and lines of JSON that say the same."""
    rows, lines = [], []
    for at in range(draw(st.integers(1, 8))):
        row: dict[str, Any] = {"id": str(draw(st.sampled_from((at, at, at, 0))))}
        row["label"] = draw(labels)
        row["region"] = draw(regions)
        value: Any
        if form in ("numbers", "fixed"):
            count = 3 if form == "fixed" else draw(st.sampled_from((0, 2, 3, 3, 3)))
            value = [draw(scores) for _ in range(count)]
            text = json.dumps(value)
        elif form == "fields":
            value = {name: draw(scores) for name in ("cat", "dog", "eel")}
            text = json.dumps({name: one for name, one in value.items() if one is not None})
        else:
            names = [draw(labels) for _ in range(draw(st.integers(0, 3)))]
            entries = [(name or "" if form == "map" else name, draw(scores)) for name in names]
            if form == "map":
                value = entries
                text = "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in entries) + "}"
            else:
                keys = ("label", "score") if form == "structs" else ("class", "score")
                value = [dict(zip(keys, one, strict=True)) for one in entries]
                text = json.dumps(value)
        if draw(st.sampled_from((True, *[False] * 7))):
            value, text = None, "null"
        start = json.dumps(row)[:-1]
        rows.append({**row, "predictions": value})
        lines.append(f'{start}, "predictions": {text}}}')
    return rows, lines


@pytest.mark.parametrize("form", LISTS)
@seed(3)
@FOLDER
@given(
    data=st.data(),
    size=st.integers(1, 6),
    probable=st.booleans(),
    invalid=st.sampled_from(("error", "skip")),
    side=st.sampled_from(("samples", "predictions")),
)
def test_a_column_of_lists(
    form: str, data: Any, size: int, probable: bool, invalid: Any, side: Side
) -> None:
    rows, lines = data.draw(listed(form))
    classes = ["cat", "dog", "eel"] if form in ("numbers", "fixed") else []
    reading = ScoreReading([], classes, invalid=invalid, probabilities=probable)
    expected = outcome(written("\n".join(lines), "a.jsonl"), side, reading, ordered=False)
    path = as_parquet(rows, {"predictions": LISTS[form]}, size)
    assert outcome(path, side, reading, ordered=False) == expected
