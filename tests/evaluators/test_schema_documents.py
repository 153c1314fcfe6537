"""Schemas as configs write them: which can be used, and what is said of the others."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from tests.oracles.text_samples import samples, values
from valor_cli.evaluators.rules.metrics.json_schema import JSON_SCHEMA
from valor_cli.evaluators.schema_documents import SchemaFile, SchemaSource, check_schema

SEVEN = "http://json-schema.org/draft-07/schema#"
FOUR = "http://json-schema.org/draft-04/schema#"
SOURCE: TypeAdapter[Any] = TypeAdapter(SchemaSource)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, r"\$\.type: 'strin' is not valid"),
        ({"properties": {"a": {"minimum": "x"}}}, r"\$\.properties\.a\.minimum: 'x' is not"),
        ({"$schema": "https://example.org/mine"}, "'https://example.org/mine' is no known draft"),
        ({"$schema": 3}, r"\$\.\$schema: 3 is no known draft"),
        ({"$schema": FOUR, "exclusiveMinimum": 5}, "exclusiveMinimum"),
        ({"$ref": "#/nowhere"}, '"#/nowhere" is not in the schema, and nothing is fetched'),
        ({"$ref": "http://127.0.0.1:9/x"}, "nothing is fetched"),
        ({"$ref": "file:///etc/passwd"}, "nothing is fetched"),
        ({"$defs": {"a": {"items": {"$ref": "other.json"}}}}, '"other.json" is not in'),
        ({"$dynamicRef": "#nowhere"}, "dynamicRef"),
        # Behind a reference into what is no keyword.
        ({"$ref": "#/mine/a", "mine": {"a": {"$ref": "#/nowhere"}}}, "#/nowhere"),
        ({"$ref": "#"}, "round in a circle"),
        ({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}, "circle"),
        ({"items": {"pattern": "a("}}, r'pattern "a\(": missing \) at character 3'),
        ({"patternProperties": {"[": {}}}, "unterminated"),
        ({"$schema": FOUR, "patternProperties": {"[": {}}}, "unterminated"),
        ({"properties": {"a": {"$schema": SEVEN}}}, "of another draft"),
    ],
)
def test_what_cannot_be_used_is_refused(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SOURCE.validate_python(schema)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"$schema": SEVEN, "items": [{"type": "null"}]}, "[null, 1]", "[1]"),
        ({"prefixItems": [{"type": "null"}]}, "[null, 1]", "[1]"),
        ({"$schema": FOUR, "minimum": 1, "exclusiveMinimum": True}, "2", "1"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "{}", '{"type": 3}'),
        (
            {"$id": "http://x.org/a", "$defs": {"b": {"$id": "b", "const": 1}}, "$ref": "b"},
            "1",
            "2",
        ),
        ({"$defs": {"b": {"$anchor": "here", "const": 1}}, "$ref": "#here"}, "1", "2"),
        ({"properties": {"$schema": {"const": 1}}}, '{"$schema": 1}', '{"$schema": 2}'),
        ({"const": {"$schema": SEVEN}}, f'{{"$schema": "{SEVEN}"}}', "{}"),
        ({"pattern": r"^\p{L}+$"}, '"é"', '"1"'),
        ({"not": {}, "$comment": "nothing fits"}, "", "1"),
    ],
)
def test_what_can_be_used_means_what_its_draft_says(
    schema: dict[str, Any], valid: str, invalid: str
) -> None:
    check_schema(schema)
    if valid:
        assert values(JSON_SCHEMA, samples([valid]), schema=schema)["pass"] == 1
    assert values(JSON_SCHEMA, samples([invalid]), schema=schema)["pass"] == 0


def test_patterns_are_stopped_behind_references_to_a_schema_with_a_dialect() -> None:
    schema = {"$schema": SEVEN, "properties": {"a": {"$ref": "#"}}, "pattern": r"^\p{L}$"}
    # `re`, which the package uses of its own, knows no \p.
    assert values(JSON_SCHEMA, samples(['{"a": "é"}']), schema=schema)["pass"] == 1


def test_a_file_is_read_from_the_folder_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "forms").mkdir()
    (tmp_path / "forms" / "number.json").write_text('\ufeff{"type": "number"}', "utf-8")
    found = SOURCE.validate_python("forms/number.json", context={"folder": tmp_path})
    assert found == "forms/number.json"
    assert values(JSON_SCHEMA, samples(["1", "{}"]), schema=found)["pass"] == 0.5
    # What stands in results is the path as it was written; workers get the schema with it.
    assert orjson.dumps(found) == b'"forms/number.json"'
    there = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert isinstance(there, SchemaFile)
    assert (there, there.document) == (found, {"type": "number"})


def test_references_that_double_at_each_step_are_refused() -> None:
    two = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(60)}
    schema = {"$defs": {**two, "a60": {}}, "$ref": "#/$defs/a0"}
    with pytest.raises(ValueError, match="its references lead on and on"):
        check_schema(schema)


@pytest.mark.parametrize("schema", [True, False])
def test_a_config_may_allow_all_or_nothing(schema: bool) -> None:
    found = SOURCE.validate_python(schema)
    assert found is schema
    data = samples(["1", "[]"])
    assert values(JSON_SCHEMA, data, schema=found)["pass"] == schema
    inner = SOURCE.validate_python({"items": schema})
    assert values(JSON_SCHEMA, samples(["[]", "[1]"]), schema=inner)["pass"] == (1 + schema) / 2


@pytest.mark.parametrize("content", ["true", "false"])
def test_a_file_may_allow_all_or_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "s.json").write_text(content)
    found = SOURCE.validate_python("s.json", context={"folder": tmp_path})
    assert values(JSON_SCHEMA, samples(["1"]), schema=found)["pass"] == (content == "true")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"type":', r"s\.json is not JSON: expecting value at line 1, column 9"),
        (b"[1]", r"s\.json: expected a JSON Schema, which is an object"),
        (b'{"type": "x"}', r"s\.json: no JSON Schema: \$\.type"),
        (b"\xff", r"s\.json is not UTF-8"),
        (b"[" * 500 + b"]" * 500, r"s\.json cannot be used: it is nested 500 levels deep"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(ValidationError, match=message):
        SOURCE.validate_python("s.json", context={"folder": tmp_path})


@pytest.mark.parametrize(
    ("path", "message"),
    [("none.json", "cannot read .*none.json: No such file"), (".", "cannot read"), ("", "empty")],
)
def test_a_path_that_leads_nowhere_is_named(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SOURCE.validate_python(path, context={"folder": tmp_path})
