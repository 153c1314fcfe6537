"""Keywords with bounds: as many steps as there is to look at, and patterns that are stopped."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from jsonschema import validators

from valor_cli.evaluators import bounded_keywords
from valor_cli.evaluators.bounded_keywords import (
    STEPS,
    Budget,
    TooManyStepsError,
    all_differ,
    bounded,
)
from valor_cli.kernels.patterns.regex import PatternTimeout

DRAFTS = (
    validators.Draft4Validator,
    validators.Draft6Validator,
    validators.Draft7Validator,
    validators.Draft201909Validator,
    validators.Draft202012Validator,
)
SLOW = "(a|aa)+$"
ENDLESS = "a" * 60 + "!"


def validator(draft: Any, schema: Any, limit_s: float = 0.02) -> Any:
    extend: Any = validators.extend
    return extend(draft, bounded(draft.VALIDATORS, Budget(limit_s)))(schema)


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
    assert validator(draft, schema, 60).is_valid(keys)
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


DOUBLING: dict[str, Any] = {
    "$defs": {
        f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}, {"$ref": f"#/$defs/a{at + 1}"}]}
        for at in range(60)
    }
    | {"a60": {}},
    "$ref": "#/$defs/a0",
}
DEEP: dict[str, Any] = {"anyOf": [{"items": {"$ref": "#"}}] * 3, "type": "array"}
EVALUATED: dict[str, Any] = {**DOUBLING, "unevaluatedProperties": False}


@pytest.mark.parametrize("draft", DRAFTS[3:])
@pytest.mark.parametrize("schema", [DOUBLING, DEEP, EVALUATED])
def test_references_that_lead_on_and_on_have_an_end(
    draft: Any, schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_keywords, "STEPS", 2_000)
    nested: Any = 1
    for _ in range(40):
        nested = [nested]
    value = {"k": 1} if schema is EVALUATED else nested
    with pytest.raises(TooManyStepsError, match="the schema takes more than 2,000 steps on it"):
        list(validator(draft, schema).iter_errors(value))


def test_what_is_evaluated_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_keywords, "STEPS", 2_000)
    kind: Any = type(validator(DRAFTS[-1], EVALUATED))
    kind.VALIDATORS = {"unevaluatedProperties": kind.VALIDATORS["unevaluatedProperties"]}
    with pytest.raises(TooManyStepsError):
        list(kind(EVALUATED).iter_errors({"k": 1}))


def _spend(budget: Budget) -> None:
    for _ in range(200):
        budget.begin(0)
        for _ in range(STEPS):
            budget.step()


def _search(budget: Budget) -> None:
    for _ in range(100):
        budget.begin(1)
        for _ in range(3):
            budget.search("a", "a")


def test_longer_values_may_take_more_steps_and_all_together_have_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded_keywords, "RUN_STEPS", 200_000)
    budget = Budget()
    budget.begin(1_000)
    for _ in range(70_000):
        budget.step()
    with pytest.raises(TooManyStepsError, match="more than 70,000 steps"):
        budget.step()
    with pytest.raises(TooManyStepsError, match="200,000 steps too many on those before"):
        _spend(budget)


def test_patterns_share_the_time_of_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each search takes 0.3 s of a clock that nothing else moves.
    clock = itertools.count(0, 0.3)
    monkeypatch.setattr(bounded_keywords, "process_time", lambda: next(clock))
    budget = Budget()
    budget.begin(1)
    for _ in range(4):
        assert budget.search("a", "a") == (0, 1)
    with pytest.raises(PatternTimeout, match="patterns took longer than 1 s together"):
        budget.search("a", "a")
    budget.begin(1)
    assert budget.search("a", "a") == (0, 1)
    with pytest.raises(PatternTimeout, match="took too long on those before"):
        _search(budget)
