"""Text matching: verdicts on responses and contexts, what they rest on, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tests.oracles.text_samples import measured, outcome, samples, values
from valor_cli.evaluators.rules.metrics.text_matching import TEXT_MATCHING, ConditionText
from valor_cli.metric import Call
from valor_cli.results import Mark

REVENUE = '("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"'


def test_rates_are_fractions_of_the_samples_with_input() -> None:
    data = samples(
        ["Rio: 15969 Mil", "Rio: 15,969 mil, no Real", "rio", None],
        retrieved_contexts=[["rio", "15,969 mil"], ["Rio: 15969 mil"], [], ["Rio"]],
    )
    # Responses: pass, fail (Real), fail (no number); the fourth has none, and is not counted.
    # Contexts: pass (together), pass, fail (nothing was retrieved).
    assert values(TEXT_MATCHING, data, condition=REVENUE) == {
        "pass": pytest.approx(1 / 3, abs=1e-15),
        "fail": pytest.approx(2 / 3, abs=1e-15),
        "retrieval_failures": pytest.approx(1 / 3, abs=1e-15),
        "generation_failures": pytest.approx(2 / 3, abs=1e-15),
        "parse_failures": 0.0,
    }


def test_without_contexts_there_are_no_retrieval_failures() -> None:
    found = values(TEXT_MATCHING, samples(["a", "b"]), condition='"a"')
    assert found["pass"] == 0.5
    assert found["retrieval_failures"] is None


def test_samples_have_conditions_of_their_own() -> None:
    data = samples(["a", "a", "a", ""], condition=['"a"', 'NOT "a"', None, 'NOT "a"'])
    found = measured(TEXT_MATCHING, data)
    assert [outcome(found, at).values.get("pass") for at in range(4)] == [1, 0, None, 1]
    assert outcome(found, 2).status == "missing_input"
    assert outcome(found, 2).reason == "no condition"
    # That of the config stands for all of them.
    assert values(TEXT_MATCHING, data, condition='NOT "a"')["pass"] == 0.25


def test_what_of_the_data_is_read_depends_on_the_condition() -> None:
    assert Call(TEXT_MATCHING, {"condition": '"a"'}).needs == ("response",)
    assert Call(TEXT_MATCHING, {"condition": None}).needs == ("response", "condition")


def test_reasons_and_places_are_told() -> None:
    data = samples(["Real rio"], retrieved_contexts=[["a rio", "", "15,969 mil"]])
    found = outcome(measured(TEXT_MATCHING, data, condition=REVENUE), 0)
    assert found.reason == 'missing regexp("15,?969 [Mm]il"); forbidden "Real" is there'
    assert found.marks == (
        Mark("response", 0, 4, "forbidden"),
        Mark("response", 5, 8, "found"),
        Mark("retrieved_contexts[0]", 2, 5, "found"),
        Mark("retrieved_contexts[2]", 0, 10, "found"),
    )
    assert found.details == {
        "found": [
            {"field": "response", "start": 0, "end": 4, "kind": "forbidden"},
            {"field": "response", "start": 5, "end": 8, "kind": "found"},
            {"field": "retrieved_contexts[0]", "start": 2, "end": 5, "kind": "found"},
            {"field": "retrieved_contexts[2]", "start": 0, "end": 10, "kind": "found"},
        ]
    }
    failed = outcome(measured(TEXT_MATCHING, data, condition='"a"'), 0)
    assert failed.reason is None
    absent = outcome(measured(TEXT_MATCHING, data, condition='"R"'), 0)
    assert (absent.values["pass"], absent.reason) == (1, 'contexts: missing "R"')


def test_a_place_that_reaches_over_contexts_is_told_in_parts() -> None:
    data = samples(["ab"], retrieved_contexts=[["xa", "", "by"]])
    found = outcome(measured(TEXT_MATCHING, data, condition=r'regexp("a\s*b")'), 0)
    assert found.values["retrieval_failures"] == 0
    assert found.marks[1:] == (
        Mark("retrieved_contexts[0]", 1, 2, "found"),
        Mark("retrieved_contexts[2]", 0, 1, "found"),
    )


@given(st.lists(st.text("ab", max_size=4), max_size=5))
def test_places_lead_to_what_was_found(contexts: list[str]) -> None:
    data = samples([""], retrieved_contexts=[contexts])
    found = outcome(measured(TEXT_MATCHING, data, condition='"ab"'), 0)
    assert bool(found.marks) is any("ab" in one for one in contexts)
    for mark in found.marks:
        number = int(mark.field.removeprefix("retrieved_contexts[").removesuffix("]"))
        assert contexts[number][mark.start : mark.end] == "ab"


def test_a_pattern_that_takes_too_long_is_a_parse_failure() -> None:
    condition = '"a" AND regexp("(a|aa)+$")'
    data = samples(["b" * 9, "aaa", "a" * 60 + "!"], retrieved_contexts=[["a"], None, None])
    found = measured(TEXT_MATCHING, data, condition=condition)
    assert outcome(found, 0).values["pass"] == 0
    assert outcome(found, 1).values["pass"] == 1
    stopped = outcome(found, 2)
    assert stopped.status == "parse_failure"
    assert stopped.reason == 'the regexp("(a|aa)+$") at character 9 took longer than 1 s'
    assert stopped.values == {
        "pass": 0.0,
        "fail": 0.0,
        "generation_failures": 0.0,
        "parse_failures": 1.0,
    }


def test_control_characters_of_a_condition_are_spelled_out() -> None:
    found = outcome(measured(TEXT_MATCHING, samples(["b"]), condition='"a\n\x1b[2J"'), 0)
    assert found.reason == r'missing "a\n\x1b[2J"'


def test_a_condition_that_cannot_be_read_is_refused_by_the_config() -> None:
    with pytest.raises(ValidationError, match="at character 5: \"a\" ▸'b'"):
        TypeAdapter(ConditionText).validate_python("\"a\" 'b'")
    assert TypeAdapter(ConditionText).validate_python('"a"') == '"a"'


def test_large_texts_are_searched() -> None:
    data = samples(["ab" * 5_000_000], retrieved_contexts=[["x" * 5_000_000] * 2])
    found = outcome(measured(TEXT_MATCHING, data, condition='"ba" AND NOT regexp("c$")'), 0)
    assert (found.values["pass"], found.values["retrieval_failures"]) == (1, 1)
