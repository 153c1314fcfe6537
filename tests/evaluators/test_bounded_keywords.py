"""Keywords with bounds: as many steps as there is to look at, and patterns that are stopped."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import validators

from valor_cli.evaluators.bounded_keywords import all_differ, bounded
from valor_cli.kernels.patterns import Patience, PatternTimeout

DRAFTS = (
    validators.Draft4Validator,
    validators.Draft6Validator,
    validators.Draft7Validator,
    validators.Draft201909Validator,
    validators.Draft202012Validator,
)
SLOW = "(a|aa)+$"
ENDLESS = "a" * 60 + "!"


def validator(draft: Any, schema: Any) -> Any:
    extend: Any = validators.extend
    return extend(draft, bounded(draft.VALIDATORS, Patience(0.02)))(schema)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"k": {"pattern": SLOW}}},
        {"patternProperties": {SLOW: {}}},
        {"additionalProperties": False, "patternProperties": {SLOW: {}}},
        {"additionalProperties": False, "patternProperties": {"b": {}, SLOW: {}}},
    ],
)
def test_patterns_are_stopped_wherever_they_stand(draft: Any, schema: Any) -> None:
    with pytest.raises(PatternTimeout, match=r"the schema's pattern .* took longer than 0\.02 s"):
        list(validator(draft, schema).iter_errors({"k": ENDLESS, ENDLESS: 1}))


@pytest.mark.parametrize("draft", DRAFTS[3:])
def test_patterns_of_what_is_evaluated_are_stopped(draft: Any) -> None:
    # Nothing but this keyword is there to look for the pattern.
    schema = {
        "$defs": {"one": {"patternProperties": {SLOW: {}}}},
        "unevaluatedProperties": False,
        "$ref": "#/$defs/one",
    }
    kind: Any = type(validator(draft, schema))
    kind.VALIDATORS = {"unevaluatedProperties": kind.VALIDATORS["unevaluatedProperties"]}
    with pytest.raises(PatternTimeout):
        list(kind(schema).iter_errors({ENDLESS: 1}))


class Counted(str):
    """A key that counts how often any is compared."""

    __slots__ = ()
    times = 0

    def __eq__(self, other: object) -> bool:
        Counted.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("draft", DRAFTS[3:])
def test_steps_grow_with_the_keys_not_with_their_pairs(draft: Any) -> None:
    schema = {"patternProperties": {"^k": {}}, "unevaluatedProperties": False}
    keys = {Counted(f"k{at}"): at for at in range(2000)}
    Counted.times = 0
    assert validator(draft, schema).is_valid(keys)
    # Two thousand keys have two million pairs.
    assert Counted.times < 20_000


def test_properties_are_looked_at_in_their_order() -> None:
    schema = {"additionalProperties": {"type": "null"}}
    names = [f"n{at}" for at in range(50)]
    found = validator(DRAFTS[-1], schema).iter_errors(dict.fromkeys(names, 1))
    assert [error.path[0] for error in found] == names


@pytest.mark.parametrize(
    ("values", "differ"),
    [
        ([1, 2], True),
        ([1, 1.0], False),
        ([1, True, 0, False, None, "", [], {}], True),
        ([[1, True], [True, 1]], True),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        ([{"a": 1}, {"a": True}], True),
        ([["a"], "a"], True),
        ([], True),
    ],
)
def test_equal_is_as_json_schema_has_it(values: list[object], differ: bool) -> None:
    assert all_differ(values) is differ
    assert validators.Draft202012Validator({"uniqueItems": True}).is_valid(values) is differ
