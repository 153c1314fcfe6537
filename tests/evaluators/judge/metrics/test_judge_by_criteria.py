"""Custom judge: criteria and steps, scales, classes that count, reasons, several outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.oracles.judges import ScriptedJudge, ScriptedPanel, call, judged
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.evaluators.judge.evidence.evidence import gather
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE

ONE = samples(["Ada."], user_input=["Who?"], references=[["Ada"]], retrieved_contexts=[["Ada."]])
TWO = samples(["Ada.", "Go away."], user_input=["Who?"] * 2)
MODEL = catalogue.parameters("text_generation", "custom_judge")

KEYS = [
    # What requests of earlier versions are kept under; made with the release before criteria.
    ({}, "true", "23acf94e94761b0d17d7cf8bc7fbde8795d5803179b3a77609028ec3445c8e45"),
    (
        {
            "name": "tone",
            "prompt": 'What tone has {ACTUAL_OUTPUT}? {history} {{x}} {"a": 1}',
            "classes": ("kind", "harsh", "dull"),
        },
        "kind",
        "7698a506066d14c59285961d04755575af360432e0df72c88b91b01394afb3e6",
    ),
    (
        {"rubric": {"1": "wrong", "3": "half {right}", "5": "right"}},
        "3",
        "ba17a10db7e0060b547b25a3b9e2a2595374297902485f509d9b697f999c0604",
    ),
    (
        {"prompt": "{INPUT} {EXPECTED_OUTPUT} {CONTEXT}", "rubric": {"0": "no", "1": "yes"}},
        "1",
        "dbb2e4a321b142f274134d7d2df4deeac328a1afdc247d78a1ccb920b664d672",
    ),
]


def rated(rating: int, reason: str = "why") -> str:
    return json.dumps({"reason": reason, "rating": rating})


def said(verdict: str, reason: str = "why") -> dict[str, str]:
    return {"reason": reason, "verdict": verdict}


def custom(**parameters: Any) -> list[tuple[Any, Mapping[str, Any]]]:
    return [(CUSTOM_JUDGE, {"judge_retries": 0, **parameters})]


@pytest.mark.parametrize(("parameters", "reply", "key"), KEYS)
def test_prompts_without_the_newer_keys_are_what_they_were(
    parameters: Mapping[str, Any], reply: str, key: str
) -> None:
    data = samples(
        ["Ada mends it."],
        user_input=["Who mends it?"],
        references=[["Ada"]],
        retrieved_contexts=[["Ada mends."]],
    )
    (request,) = judged(custom(**parameters), data, [reply]).requests
    assert request.key == key


def test_steps_are_made_once_of_criteria() -> None:
    steps = json.dumps({"steps": ["Read it.", "Rate it."]})
    found = judged(
        custom(criteria="Is it {kind}?", scale=(1, 5)), TWO, [steps, rated(5, "Warm."), rated(1)]
    )
    made, first, second = found.requests
    assert made.purpose == ("custom_judge", "m", "", "steps")
    assert "Is it {kind}?" in made.messages[-1].content
    for request, text in ((first, "Ada."), (second, "Go away.")):
        (_, told), (_, shown) = request.messages
        assert "Is it {kind}?" in told
        assert "\n1. Read it.\n2. Rate it.\n" in told
        assert text in shown
    # 5 and 1 on 1 to 5: the middle, 3, and above passes.
    assert (found.values, found.output("rating")) == ([1.0, 0.0], 3.0)
    assert found.outcomes[0].reasons == ("Warm.", "why")
    assert found.outcomes[0].asked[0].calls == 1


def test_steps_are_told_for_the_config() -> None:
    panel = ScriptedPanel([ScriptedJudge([json.dumps({"steps": ["Réad it."]}), rated(2)])])
    calls = (call(CUSTOM_JUDGE, {"criteria": "kind", "scale": (1, 5)}),)
    gather({"m": ONE}, calls, panel)
    assert panel.told == {"custom_judge.steps": '["Réad it."]'}


def test_steps_come_from_the_first_of_several_judges() -> None:
    first = ScriptedJudge([json.dumps({"steps": ["One."]}), rated(2)], name="first")
    second = ScriptedJudge([rated(4)], name="second")
    calls = (call(CUSTOM_JUDGE, {"criteria": "kind", "scale": (1, 5)}),)
    gather({"m": ONE}, calls, ScriptedPanel([first, second]))
    assert first.requests[1].messages == second.requests[0].messages


def test_without_steps_nothing_is_judged() -> None:
    found = judged(custom(criteria="kind", scale=(1, 5)), TWO, ["none", "none"])
    assert found.findings[0].statuses == {"parse_failure": 2}
    assert len(found.requests) == 2  # asked for twice, as for all that does not fit; then known


def test_other_criteria_are_another_request_for_steps() -> None:
    keys = set()
    for criteria in ("kind", "short"):
        replies = [json.dumps({"steps": ["Read."]}), rated(2)]
        found = judged(custom(criteria=criteria, scale=(1, 5)), ONE, replies)
        keys |= {request.key for request in found.requests}
    assert len(keys) == 4


def test_steps_of_the_config_are_taken_as_they_are() -> None:
    found = judged(custom(steps=("Read {it}.",)), ONE, [json.dumps(said("true", "Fine."))])
    (request,) = found.requests
    assert "1. Read {it}." in request.messages[0].content
    assert (found.values, found.outcomes[0].reasons) == ([1.0], ("Fine.",))


def test_a_prompt_says_what_is_shown_beside_criteria() -> None:
    found = judged(
        custom(steps=("Read.",), prompt="Only {response}", scale=(0, 1)), ONE, [rated(1)]
    )
    assert "Who?" not in found.requests[0].messages[-1].content
    assert call(CUSTOM_JUDGE, {"steps": ("Read.",), "prompt": "{response}"}).needs == ("response",)


@pytest.mark.parametrize(
    ("parameters", "reply", "passes", "rating"),
    [
        # Without words for its levels; the middle of 0 to 10 is 5.
        ({"scale": (0, 10)}, "5", 1.0, 5.0),
        ({"scale": (0, 10), "cut": 7}, "6", 0.0, 6.0),
        # Classes that count: good 1, fair 0.5, bad 0; the middle is 0.5.
        ({"classes": {"good": 1, "fair": 0.5, "bad": 0}}, "fair", 1.0, 0.5),
        ({"classes": {"good": 1, "fair": 0.5, "bad": 0}, "cut": 0.6}, "fair", 0.0, 0.5),
        ({"classes": {"good": 1, "bad": 0}, "reason": True}, json.dumps(said("bad")), 0.0, 0.0),
        ({"rubric": {"1": "a", "3": "b"}, "reason": True}, rated(3), 1.0, 3.0),
    ],
)
def test_numbers(parameters: Mapping[str, Any], reply: str, passes: float, rating: float) -> None:
    found = judged(custom(prompt="{response}", **parameters), ONE, [reply])
    assert (found.values, found.output("rating")) == ([passes], rating)


def test_a_reason_is_asked_for_before_the_verdict() -> None:
    found = judged(
        custom(prompt="Is {response} kind?", reason=True), ONE, [json.dumps(said("false", "Cold."))]
    )
    (request,) = found.requests
    assert '{"reason": "…", "verdict": …}' in request.messages[-1].content
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["reason", "verdict"]
    assert found.outcomes[0].reasons == ("Cold.",)
    assert found.outcomes[0].verdicts[0][0].reason == "Cold."


def test_several_outputs_are_asked_for_together() -> None:
    outputs = {"tone": "Is it friendly?", "clarity": "Is it clear?"}
    reply = {"tone": said("true", "Warm."), "clarity": said("false", "Vague.")}
    tone, clarity = (
        (catalogue.named_metric("text_generation", "custom_judge", name), name) for name in outputs
    )
    calls = [(metric, {"name": name, "outputs": outputs}) for metric, name in (tone, clarity)]
    found = judged(calls, ONE, [json.dumps(reply)])
    first, second = found.outcomes
    assert (first.columns["pass"].tolist(), second.columns["pass"].tolist()) == ([1.0], [0.0])
    assert (first.reasons, second.reasons) == (("Warm.",), ("Vague.",))
    missing = judged(calls, ONE, [json.dumps({"tone": said("true")})], judge_retries=0)
    assert missing.outcomes[1].reasons == ("the key clarity is missing",)


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"criteria": " "}, "criteria", "is empty"),
        ({"steps": []}, "steps", "one step at least"),
        ({"outputs": {}}, "outputs", "one output at least"),
        ({"outputs": {"a": "b"}, "criteria": "c"}, "outputs", "leave `criteria` and `steps` out"),
        ({"outputs": {"a": "b"}, "name": "c"}, "outputs", "leave `name` out"),
        ({"scale": [5, 1]}, "scale", "the lowest and the highest"),
        ({"scale": [0, 200]}, "scale", "100 apart at most"),
        ({"scale": [1, 5], "rubric": {"1": "a", "2": "b"}}, "rubric", "leave `scale` out"),
        (
            {"criteria": "c", "classes": ["a", "b"], "scale": [1, 5]},
            "scale",
            "leave `classes` and `passing` out",
        ),
        ({"criteria": "c", "classes": {"a": 1, "b": 1}}, "classes", "not all the same"),
        ({"criteria": "c", "classes": {"a": 1, "b": -1}}, "classes", "0 or more"),
        (
            {"criteria": "c", "classes": {"a": 1, "b": 0}, "passing": ["a"]},
            "passing",
            "pass by `cut`",
        ),
        ({"scale": [1, 5], "cut": 6}, "cut", "go from 1 to 5"),
        ({"criteria": "c", "classes": {"a": 1, "b": 0}, "cut": 2}, "cut", "go from 0 to 1"),
    ],
)
def test_what_a_config_may_not_say(given: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        MODEL.model_validate_json(json.dumps(given))
    (fault,) = raised.value.errors()
    assert fault["loc"][0] == field
    assert message in fault["msg"]
