"""What tells a measure from its siblings."""

from __future__ import annotations

from valor_cli.reports.naming import Names, frozen

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"b": {"enum": [1, [2, 3]]}}}


def test_parameters_that_differ_are_named() -> None:
    names = Names([("rouge", {"n": 1, "stem": True}), ("rouge", {"n": 2, "stem": True})])
    assert names.detail("rouge", {"n": 2, "stem": True}) == "n=2"
    assert names.detail("bleu", {"n": 2}) == ""


def test_those_that_read_the_same_are_numbered() -> None:
    sets = [("json_schema", {"schema": one}) for one in (OBJECT, OTHER, {"type": "array"})]
    names = Names([*sets, sets[0]])
    assert [names.detail(*one) for one in sets] == [
        "schema={type, properties} #1",
        "schema={type, properties} #2",
        "schema={type}",
    ]


def test_json_of_any_depth_is_a_key() -> None:
    same = {"properties": {"b": {"enum": (1, (2, 3))}}, "type": "object"}
    assert frozen({"schema": OTHER}) == frozen({"schema": same})
    assert len({frozen({"schema": one}) for one in (OBJECT, OTHER, same)}) == 2
