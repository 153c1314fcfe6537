"""Columns that parts of the data are looked for by."""

from __future__ import annotations

from valor_cli.pipeline.slices.columns import slice_columns


def test_all_columns_by_name_but_that_of_the_clusters() -> None:
    metadata = {"m": {"b": ["x"], "a": ["y"], "patient": ["p"]}}
    assert [one.key for one in slice_columns(metadata, None, "metadata.patient")] == [
        "metadata.a",
        "metadata.b",
    ]
    (only,) = slice_columns(metadata, ["metadata.b"])
    assert only.key == "metadata.b"


def test_what_reads_the_same_is_one_condition() -> None:
    values = [1, "1", True, "true", None, 1.0, "x"]
    (column,) = slice_columns({"m": {"a": values}}, None)
    assert [one.name for one in column.conditions] == [
        "metadata.a=1",
        "metadata.a=true",
        "metadata.a=1.0",
        "metadata.a=x",
    ] or len(column.conditions) == 4
    codes = column.codes({"a": values}).tolist()
    names = [None if code < 0 else column.conditions[code].name for code in codes]
    assert names == [
        "metadata.a=1",
        "metadata.a=1",
        "metadata.a=true",
        "metadata.a=true",
        None,
        "metadata.a=1.0",
        "metadata.a=x",
    ]
    # Conditions hold of the same units that their codes name.
    for at, one in enumerate(column.conditions):
        assert one.units({"a": values}).tolist() == [code == at for code in codes]


def test_many_numbers_are_cut_at_their_quartiles() -> None:
    values = [*map(str, range(1, 201)), None]
    (column,) = slice_columns({"m": {"age": values}}, None)
    assert [one.name for one in column.conditions] == [
        "metadata.age=[1, 50)",
        "metadata.age=[50, 100)",
        "metadata.age=[100, 150)",
        "metadata.age=[150, 200]",
    ]
    codes = column.codes({"age": values})
    assert (codes[0], codes[48], codes[49], codes[199], codes[200]) == (0, 0, 1, 3, -1)
    for at, one in enumerate(column.conditions):
        assert one.units({"age": values}).tolist() == (codes == at).tolist()


def test_many_texts_and_long_ones_are_left_out() -> None:
    metadata = {"id": [f"n{at}" for at in range(101)], "text": ["a" * 201] * 101}
    metadata["few"] = ["x"] * 101
    assert [one.key for one in slice_columns({"m": metadata}, None)] == ["metadata.few"]


def test_models_share_their_columns() -> None:
    metadata = {"m": {"a": ["x", "y"]}, "n": {"a": ["z", "x"]}}
    (column,) = slice_columns(metadata, None)
    assert [one.value for one in column.conditions] == ["x", "y", "z"]
    assert column.codes(metadata["n"]).tolist() == [2, 0]
