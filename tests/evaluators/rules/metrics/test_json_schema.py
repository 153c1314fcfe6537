"""JSON Schema: verdicts, what they rest on, and answers that would break a validator."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.oracles.text_samples import measured, outcome, samples, values
from valor_cli.evaluators.rules.metrics.json_schema import JSON_SCHEMA
from valor_cli.results import Mark

PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]"},
        "age": {"type": "integer", "minimum": 0},
        "mail": {"format": "email"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def test_rates_are_fractions_of_the_responses() -> None:
    data = samples(['{"name": "Ann"}', '{"name": "ann"}', "Ann", None])
    # Valid, invalid, no JSON; the fourth is not counted.
    assert values(JSON_SCHEMA, data, schema=PERSON) == {
        "pass": pytest.approx(1 / 3, abs=1e-15),
        "fail": pytest.approx(2 / 3, abs=1e-15),
        "retrieval_failures": None,
        "generation_failures": pytest.approx(2 / 3, abs=1e-15),
        "parse_failures": 0.0,
    }


def test_contexts_are_not_judged() -> None:
    data = samples(["{}"], retrieved_contexts=[["no JSON"]])
    assert values(JSON_SCHEMA, data)["retrieval_failures"] is None


@pytest.mark.parametrize(
    ("response", "passed"),
    [("{}", 1), ("[]", 1), ("3", 1), ("null", 1), (" {} ", 1), ("", 0), ("{", 0), ("nan", 0)],
)
def test_an_empty_schema_asks_for_json_only(response: str, passed: int) -> None:
    assert values(JSON_SCHEMA, samples([response]))["pass"] == passed


def test_errors_are_told_with_their_paths_and_without_values() -> None:
    response = '{"name": "ann", "age": -1, "x": 1}'
    found = outcome(measured(JSON_SCHEMA, samples([response]), schema=PERSON), 0)
    assert found.reason == "$.name: this string does not match '^[A-Z]' (and 2 more)"
    assert found.details == {
        "errors": [
            {"path": "$.name", "message": "this string does not match '^[A-Z]'"},
            {"path": "$.age", "message": "this number is less than the minimum of 0"},
            {
                "path": "$",
                "message": "Additional properties are not allowed ('x' was unexpected)",
            },
        ],
        "all_listed": True,
    }


def test_the_first_errors_are_told() -> None:
    response = json.dumps(["x" * 1000] * 100_000)
    schema = {"items": {"type": "integer"}}
    found = outcome(measured(JSON_SCHEMA, samples([response]), schema=schema), 0)
    assert found.reason == "$[0]: this string is not of type 'integer' (and many more)"
    assert found.details is not None
    assert [one["path"] for one in found.details["errors"]] == [f"$[{at}]" for at in range(5)]


def test_what_no_report_may_show_is_masked() -> None:
    def secrets(text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer("s3cret", text)]

    data = replace(samples(['{"s3cret": 1}', '{"s3cret": 1, "s3cret": 2}']), secrets=secrets)
    found = measured(JSON_SCHEMA, data, schema={"additionalProperties": {"type": "string"}})
    told = repr([found.details, found.reasons])
    assert "••••••" in told
    assert "s3cret" not in told


def test_what_is_no_json_is_marked() -> None:
    found = outcome(measured(JSON_SCHEMA, samples(['{"a": NaN}'])), 0)
    assert found.reason == "not JSON: NaN is not a number in JSON"
    assert found.marks == (Mark("response", 6, 7, "not JSON"),)
    fenced = "```json\n{'a'}\n```"
    plain = outcome(measured(JSON_SCHEMA, samples([fenced])), 0)
    assert plain.reason is not None
    assert plain.reason.endswith("(it stands in a code fence)")
    inside = outcome(measured(JSON_SCHEMA, samples([fenced]), strip_fences=True), 0)
    assert inside.marks == (Mark("response", 9, 10, "not JSON"),)
    assert fenced[9] == "'"


def test_fences_are_left_out_on_request() -> None:
    data = samples(['```json\n{"name": "Ann"}\n```'])
    assert values(JSON_SCHEMA, data, schema=PERSON)["pass"] == 0
    assert values(JSON_SCHEMA, data, schema=PERSON, strip_fences=True)["pass"] == 1


def test_equal_keys_are_allowed_and_told() -> None:
    data = samples(['{"name": "ann", "name": "Ann"}'])
    found = outcome(measured(JSON_SCHEMA, data, schema=PERSON), 0)
    assert (found.values["pass"], found.reason) == (1, 'the key "name" stands twice')


def test_formats_are_checked_on_request() -> None:
    data = samples(['{"name": "Ann", "mail": "nowhere"}'])
    assert values(JSON_SCHEMA, data, schema=PERSON)["pass"] == 1
    assert values(JSON_SCHEMA, data, schema=PERSON, check_formats=True)["pass"] == 0


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        ("[" * 100_000, "ok", "not JSON: 100,000 brackets are never closed"),
        ("[" * 500 + "]" * 500, "parse_failure", "it is nested 500 levels deep, and 100 are read"),
        ("9" * 5000, "parse_failure", "a whole number has too many digits to be read"),
        (
            "9" * 400,
            "parse_failure",
            "the schema cannot be applied to a number as large as one in it",
        ),
        (
            "1e999",
            "parse_failure",
            "the schema cannot be applied to a number as large as one in it",
        ),
        ('"' + "x" * 10_000_000 + '"', "ok", "$: this string is not of type 'number'"),
    ],
)
def test_extreme_answers_have_an_end(response: str, status: str, reason: str | None) -> None:
    schema = {"type": "number", "multipleOf": 0.5}
    found = outcome(measured(JSON_SCHEMA, samples([response]), schema=schema), 0)
    assert (found.status, found.reason) == (status, reason)


def test_a_hundred_levels_are_validated() -> None:
    tree = {
        "$defs": {"tree": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/tree"}}]}},
        "$ref": "#/$defs/tree",
    }
    good, bad = "[" * 100 + "]" * 100, "[" * 100 + "1" + "]" * 100
    data = samples([good, bad, "[" * 60 + "1" + "]" * 60])
    found = measured(JSON_SCHEMA, data, schema=tree)
    assert [one.status for one in (outcome(found, at) for at in range(3))][1:] == ["ok", "ok"]
    assert [outcome(found, at).values["pass"] for at in range(3)] == [1, 0, 0]


@pytest.mark.slow
def test_a_pattern_of_the_schema_that_takes_too_long_skips_the_response() -> None:
    data = samples(['"' + "a" * 60 + '!"'])
    found = outcome(measured(JSON_SCHEMA, data, schema={"pattern": "(a|aa)+$"}), 0)
    assert found.status == "skipped"
    assert found.reason == 'the schema\'s pattern "(a|aa)+$" took longer than 1 s'
    assert found.values == {}


@pytest.mark.slow
def test_a_recursive_schema_has_an_end_and_skips_the_response() -> None:
    schema = {"anyOf": [{"type": "array", "items": {"$ref": "#"}}] * 3}
    data = samples(["[" * 60 + "1" + "]" * 60, "[1]", "[[]]"])
    found = measured(JSON_SCHEMA, data, schema=schema)
    first = outcome(found, 0)
    assert (first.status, first.reason) == (
        "skipped",
        "the schema takes more than 52,420 steps on it",
    )
    assert [outcome(found, at).values["pass"] for at in (1, 2)] == [0, 1]
    assert values(JSON_SCHEMA, data, schema=schema)["pass"] == 0.5


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {},
            {"type": "integer"},
            {"type": ["string", "null"]},
            {"minimum": 1},
            {"pattern": "a$"},
            {"uniqueItems": True},
            {"required": ["a"]},
            {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
            {"additionalProperties": {"type": "boolean"}, "properties": {"b": {}}},
            {"enum": [1, True, "a", None]},
            {"$ref": "#/$defs/one"},
        ]
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"anyOf": some}),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"oneOf": some}),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda some: {"allOf": some, "unevaluatedProperties": False}
        ),
        st.lists(inner, min_size=1, max_size=2).map(
            lambda some: {"prefixItems": some, "unevaluatedItems": False}
        ),
        inner.map(lambda one: {"items": one}),
        inner.map(lambda one: {"properties": {"a": one}}),
        inner.map(lambda one: {"not": one}),
    ),
    max_leaves=6,
)
ANSWERS = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, "a", "ba", "b"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "ab", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(SCHEMAS, ANSWERS)
def test_verdicts_and_errors_are_those_of_jsonschema(
    schema: dict[str, object], answer: object
) -> None:
    whole = {**schema, "$defs": {"one": {"properties": {"c": {"type": "null"}}}}}
    expected = [
        (one.json_path, one.message.removeprefix(repr(one.instance)))
        for one in jsonschema.Draft202012Validator(whole).iter_errors(answer)
    ]
    found = outcome(measured(JSON_SCHEMA, samples([json.dumps(answer)]), schema=whole), 0)
    assert found.values["pass"] == (not expected)
    told = found.details["errors"] if found.details else []
    # jsonschema walks through a set of names: its order differs from process to process.
    assert len(told) == min(5, len(expected))
    for one in told:
        assert any(
            path == one["path"] and message[:100] in one["message"] for path, message in expected
        )
