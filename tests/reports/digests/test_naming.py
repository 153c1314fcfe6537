"""What tells a measure from its siblings."""

from __future__ import annotations

from valor_cli.reports.digests.naming import Names, frozen

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


def beside(model: str, digest: str, **more: object) -> dict[str, object]:
    return {"idf": False, "model": model, "model_sha256": digest * 64, **more}


def test_models_are_told_apart_by_their_names() -> None:
    one, other = beside("enc", "a", layer=3), beside("minilm-int8", "b", layer=6)
    names = Names([("bertscore", one), ("bertscore", other)])
    assert names.detail("bertscore", one) == "model=enc"
    assert names.detail("bertscore", other) == "model=minilm-int8"


def test_of_one_name_by_what_else_differs() -> None:
    one, other = (beside("enc", "a", num_layers=each, layer=each) for each in (1, 2))
    assert Names([("m", one), ("m", other)]).detail("m", one) == "num_layers=1"
    # Two folders that are called alike: the first digits of their hashes.
    one, other = beside("enc", "a"), beside("enc", "b")
    assert Names([("m", one), ("m", other)]).detail("m", other) == "model_sha256=bbbbbbbbbbbb"
    one, other = beside("enc", "a", layer=1), beside("enc", "a", layer=2)
    assert Names([("m", one), ("m", other)]).detail("m", other) == "layer=2"
