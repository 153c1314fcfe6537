"""Where the fields of a shape are: names, aliases, and paths into objects and lists."""

from __future__ import annotations

import pytest

from valor_cli.data.json_records import parsed
from valor_cli.data.schema import Field, Path, Schema, column_at, dotted, path_of, value_at
from valor_cli.data.tape import tape_of

SCHEMA = Schema(
    Field("response", aliases=("answer", "actual_output"), single=True),
    Field("references", "texts", ("ground_truth", "__expected"), single=True),
    Field("duration_s", "amount"),
)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", ("a",)),
        ("vars.question", ("vars", "question")),
        ("choices[0].message.content", ("choices", 0, "message", "content")),
        ("m[0][12]", ("m", 0, 12)),
        ("[0]", ("[0]",)),
        ("a[x]", ("a[x]",)),
        ("", ("",)),
    ],
)
def test_paths(name: str, path: Path) -> None:
    assert path_of(name) == path
    if path != ("",):
        assert dotted(path) == name


VALUE = '{"a": {"b": [{"c": 1.50}, null]}, "b": "x"}'


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b[0].c", "1.50"), ("b", "x"), ("a.b[7].c", ""), ("b[0]", ""), ("b.c", ""), ("c", "")],
)
def test_values_at_paths(path: str, found: str) -> None:
    record = parsed(VALUE.encode())
    assert column_at(tape_of([record]), path_of(path)).texts() == [found]
    value = value_at(record, path_of(path))
    assert (getattr(value, "text", value) or "") == found


@pytest.mark.parametrize(
    ("names", "columns", "layout"),
    [
        (["answer", "response"], {}, {"response": ("response",)}),
        (["actualOutput"], {}, {"response": ("actualOutput",)}),
        (["Actual Output", "answer"], {}, {"response": ("answer",)}),
        (["expected"], {}, {}),
        (["__expected"], {}, {"references": ("__expected",)}),
        (["answer", "x"], {"response": "x"}, {"response": ("x",)}),
        (["answer", "x"], {"response": "x.y[0]"}, {"response": ("x", "y", 0)}),
        (["x", "x.y"], {"response": "x.y"}, {"response": ("x.y",)}),
        (["answer"], {"response": "y"}, {}),
        (["answer"], {"references": "answer"}, {"references": ("answer",)}),
        (["answer", "ground_truth"], {"duration_s": "answer.s"}, {
            "references": ("ground_truth",), "duration_s": ("answer", "s"),
        }),
    ],
)  # fmt: skip
def test_the_way_to_each_field(
    names: list[str], columns: dict[str, str], layout: dict[str, Path]
) -> None:
    assert SCHEMA.layout(names, columns) == layout


def test_several_ways_are_in_the_order_of_looking() -> None:
    names = ["ANSWER", "actual_output", "answer", "Response"]
    ways = SCHEMA.candidates(names, {})["response"]
    assert ways == [("Response",), ("answer",), ("ANSWER",), ("actual_output",)]
    assert SCHEMA.ambiguous(["actual_output", "answer"], {}) == {
        "response": ["answer", "actual_output"]
    }
    assert SCHEMA.ambiguous(names, {}) == {}
    assert SCHEMA.ambiguous(["actual_output", "answer"], {"response": "answer"}) == {}
