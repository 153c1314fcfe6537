"""Custom judge: rubrics of single samples, and examples that people judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from tests.oracles.judges import call, judged
from tests.oracles.reply_kinds import enclosed
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.errors import DataError
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE
from valor_cli.results import Verdict

MODEL = catalogue.parameters("text_generation", "custom_judge")
DATA = samples(list("abcd"), user_input=["?"] * 4)
OWN = {"rubric": ('["names Ada", "is polite"]', "Says no.", None, " ")}


def custom(**parameters: Any) -> list[tuple[Any, Mapping[str, Any]]]:
    return [(CUSTOM_JUDGE, {"judge_retries": 0, **parameters})]


def verdicts(*said: tuple[str, int]) -> str:
    return json.dumps({"verdicts": [{"reason": why, "verdict": one} for why, one in said]})


def test_each_sample_is_judged_by_its_own_rubric() -> None:
    # Of "a" one of two assertions is met; "b" has a rubric in one text; the others have none.
    replies = [
        verdicts(("It does.", 1), ("It shouts.", 0)),
        '{"reason": "Yes.", "verdict": "true"}',
    ]
    found = judged(custom(rubric_column="rubric"), replace(DATA, more=OWN), replies)
    assert found.values == [0.0, 1.0, None, None]
    assert found.findings[0].statuses == {"ok": 2, "not_applicable": 2}
    assert found.outcomes[0].reasons == ("It shouts.", "Yes.", "no rubric", "no rubric")
    assert found.outcomes[0].details[0] == {"met": 1, "assertions": 2}
    assert found.outcomes[0].verdicts[0] == (
        Verdict("names Ada", "met", True, "It does."),
        Verdict("is polite", "not met", False, "It shouts."),
    )
    first, second = (request.messages[-1].content for request in found.requests)
    assert enclosed(first, '1. "names Ada"\n2. "is polite"')
    assert enclosed(second, "Says no.")
    assert "<<<rubric " in second
    assert call(CUSTOM_JUDGE, {"rubric_column": "r"}).needs == (
        "user_input",
        "response",
        "metadata.r",
    )


def test_a_rubric_of_a_sample_with_a_scale() -> None:
    found = judged(
        custom(rubric_column="rubric", scale=(1, 5)),
        replace(DATA, more=OWN),
        ['{"reason": "", "rating": 5}', '{"reason": "", "rating": 2}'],
    )
    assert (found.values[:2], found.output("rating")) == ([1.0, 0.0], 3.5)


def test_braces_of_a_rubric_are_text() -> None:
    data = replace(DATA, more={"rubric": ("Show {response}.", *(None,) * 3)})
    found = judged(custom(rubric_column="rubric"), data, ['{"reason": "", "verdict": "true"}'])
    assert enclosed(found.requests[0].messages[-1].content, "Show {response}.")


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    path = tmp_path / "examples.jsonl"
    rows = [
        {"sample_id": "s001", "question": "Q1", "answer": "A1 {x}", "verdict": "kind"},
        {"sample_id": "x", "question": "Q2", "answer": "A2", "verdict": "Harsh", "reason": WHY},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


WHY = "It {response} bites."
TONE = {"prompt": "Q: {INPUT}\nA: {response}", "classes": ("kind", "harsh")}


def test_examples_stand_before_the_sample(examples: Path) -> None:
    found = judged(custom(**TONE, examples=str(examples)), DATA, ["kind", "harsh", "kind"])
    # s001 is an example itself, and so is not judged.
    assert found.values == [1.0, None, 0.0, 1.0]
    assert found.findings[0].statuses == {"ok": 3, "not_applicable": 1}
    assert found.outcomes[0].reasons[1] == "is an example in the judge's prompt"
    shown = found.requests[0].messages[-1].content
    assert enclosed(shown, "A1 {x}")
    assert shown.index("The reply: kind") < shown.index("A2") < shown.index("The reply: harsh")
    assert shown.index("The one to judge") > shown.index("The reply: harsh")
    assert "<<<response of example 2 " in shown


def test_examples_have_the_form_of_the_reply(examples: Path) -> None:
    found = judged(
        custom(**TONE, examples=str(examples), reason=True),
        samples(["a"], user_input=["?"]),
        ['{"reason": "", "verdict": "kind"}'],
    )
    shown = found.requests[0].messages[-1].content
    assert 'The reply: {"reason": "It {response} bites.", "verdict": "harsh"}' in shown


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "Q", "answer": "A"}, r"e\.jsonl:1: no verdict"),
        ({"question": "Q", "verdict": "kind"}, r"e\.jsonl:1: no response"),
        ({"question": "Q", "answer": "A", "verdict": "odd"}, r"e\.jsonl:1: verdict: found no word"),
    ],
)
def test_examples_that_cannot_be_shown(
    tmp_path: Path, row: Mapping[str, str], message: str
) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        judged(custom(**TONE, examples=str(path)), DATA, [])


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"examples": "nowhere.jsonl"}, "examples", "nowhere.jsonl"),
        ({"rubric_column": "r", "examples": "e.csv"}, "examples", "leave `rubric_column` out"),
        ({"outputs": {"a": "b"}, "rubric_column": "r"}, "rubric_column", "leave `outputs` out"),
    ],
)
def test_what_a_config_may_not_say(given: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        MODEL.model_validate_json(json.dumps(given))
    (fault,) = raised.value.errors()
    assert fault["loc"][0] == field
    assert message in fault["msg"]
