"""Prompts: what judges are told, and whose words they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from valor_cli.errors import ConfigError, UnknownNameError
from valor_cli.models.judge import prompt_files
from valor_cli.models.judge.delimiters import NONE_GIVEN, note
from valor_cli.models.judge.prompts import (
    Field,
    Numbered,
    Passages,
    Prompt,
    Prompts,
    TrustedText,
    UntrustedText,
    from_words,
    placeholders,
)
from valor_cli.results import PromptUsed

# What metrics give each prompt; their calls fail where a prompt wants something else.
FIELDS = {
    "statements": "user_input? text",
    "opinions": "response",
    "answer_correctness": "user_input? statements reference_statements",
    "answer_relevance": "user_input statements",
    "answer_relevancy": "response draft",
    "bias": "opinions",
    "toxicity": "opinions",
    "context_precision": "user_input references context",
    "context_recall": "statements contexts",
    "context_relevance": "user_input contexts",
    "context_relevancy": "user_input contexts",
    "faithfulness": "claims contexts",
    "hallucination": "response contexts",
    "summary_coherence": "user_input response",
    "nv_answer_accuracy_1": "user_input response reference",
    "nv_answer_accuracy_2": "user_input response reference",
    "nv_context_relevance_1": "user_input contexts",
    "nv_context_relevance_2": "user_input contexts",
    "nv_response_groundedness_1": "response contexts",
    "nv_response_groundedness_2": "response contexts",
    "contact_information": "response",
    "language_mismatch": "user_input response",
    "sexism": "user_input response",
    "summarization_judge": "user_input response",
    "stereotypes": "user_input response",
    "fact_check": "user_input? response",
}
NAMES = sorted(FIELDS)
VALUES: dict[str, Field] = {
    name: kind(["A", "B"]) if kind in (Numbered, Passages) else kind(f"the {name}")  # type: ignore[arg-type]
    for name, kind in prompt_files.KINDS.items()
}
GOOD: dict[str, Any] = {
    "name": "answer_relevancy",
    "version": 3,
    "system": "You guess questions.",
    "user": "{response} ({draft})",
    "reply": "JSON",
}


def written(path: Path, said: object) -> str:
    text = said if isinstance(said, str) else yaml.safe_dump(said)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return str(path)


def problems(name: str, path: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        Prompts({name: path})
    return [str(one) for one in caught.value.problems]


def test_the_package_brings_these() -> None:
    assert list(prompt_files.names()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_a_prompt_wants_is_in_its_place(name: str) -> None:
    wanted = FIELDS[name].split()
    found = prompt_files.shipped(name)
    assert set(found.fields) == {one.rstrip("?") for one in wanted}
    assert set(found.optional) == {one[:-1] for one in wanted if one.endswith("?")}
    assert found.name == name
    assert found.description.endswith(".")
    assert "\n" not in found.description
    assert 2 <= len(found.examples) <= 3
    assert all(set(one.fields) == set(found.fields) for one in found.examples)
    assert all(field in prompt_files.KINDS for field in (*found.fields, *found.labels))

    (system, told), (user, asked) = Prompts().of(name).messages(VALUES)
    assert (system, user) == ("system", "user")
    mark = re.findall("mark ([0-9a-f]{16})", told)[0]
    assert told.endswith(note(mark))
    for field in found.fields:
        value = VALUES[field]
        if isinstance(value, UntrustedText | TrustedText):
            assert value.text in asked
    assert not re.search(r"\{[a-z_]+\}", told + asked)
    assert "Form of the reply: " in told
    assert "Example 2, reply:\n\n" in told
    # Examples stand between the same delimiters.
    lines = [line for line in asked.split("\n") if line.endswith(f" {mark}>>>")]
    named = [line for line in lines if not re.search(r"context \d", line)]
    assert all(line.replace(mark, "example") in told for line in named)
    assert lines or found.fields == ("draft",)


def test_a_message_word_for_word() -> None:
    prompt = Prompt("odd", 1, "Judge.", "Said:\n{response}\nDraft {draft} of {claims}", "0f")
    fields: dict[str, Field] = {
        "response": UntrustedText("{draft}"),
        "draft": TrustedText("1"),
        "claims": Numbered(["a\nb", 'c"']),
        "unused": UntrustedText("x"),
    }
    (_, told), (_, asked) = prompt.messages(fields)
    mark = re.findall("mark ([0-9a-f]{16})", told)[0]
    assert told == f"Judge.\n\n{note(mark)}"
    assert asked == (
        f"Said:\n<<<response {mark}>>>\n{{draft}}\n<<<end response {mark}>>>\nDraft 1 of \n"
        f'<<<claims {mark}>>>\n1. "a\\nb"\n2. "c\\""\n<<<end claims {mark}>>>'
    )
    assert prompt.messages(fields) == prompt.messages({**fields, "unused": UntrustedText("y")})
    assert prompt.messages(fields) != prompt.messages({**fields, "response": UntrustedText("z")})
    assert NONE_GIVEN in prompt.messages({**fields, "response": None})[1].content
    with pytest.raises(ValueError, match="odd needs draft"):
        prompt.messages({name: one for name, one in fields.items() if name != "draft"})
    asked = Prompts().of("nv_answer_accuracy_2").messages(VALUES)[1].content
    assert re.search(r"<<<candidate \w+>>>\nthe reference\n<<<end candidate ", asked)
    assert "<<<reference" not in asked


def test_the_template_shows_what_is_put_in() -> None:
    (_, told), (_, asked) = Prompt("odd", 1, "Judge.", "Said: {response}", "0f").template
    assert told == f"Judge.\n\n{note('…')}"
    assert asked == "Said: {response}"


def test_prompts_that_were_asked_for() -> None:
    prompts = Prompts()
    assert prompts.used == ()
    first = prompts.of("toxicity")
    prompts.of("bias")
    assert prompts.of("toxicity") is first
    assert prompts.used == (
        PromptUsed("bias", 1, prompts.of("bias").sha256),
        PromptUsed("toxicity", 1, first.sha256),
    )
    with pytest.raises(UnknownNameError, match=r"'biass' \(did you mean 'bias'\?\)"):
        prompts.of("biass")


def test_a_hash_is_of_all_that_a_judge_is_told(tmp_path: Path) -> None:
    example = {"fields": {"response": "r", "draft": "1"}, "reply": {"question": "q"}}
    variants: list[dict[str, Any]] = [
        GOOD,
        {**GOOD, "version": 4},
        {**GOOD, "system": "You ask."},
        {**GOOD, "user": "{draft} {response}"},
        {**GOOD, "reply": "words"},
        {**GOOD, "examples": [example]},
        {**GOOD, "labels": {"response": "answer"}},
    ]
    path = tmp_path / "own.yaml"

    def sha256(said: dict[str, Any]) -> str:
        return Prompts({GOOD["name"]: written(path, said)}).of(GOOD["name"]).sha256

    assert len({sha256(one) for one in variants}) == len(variants)
    assert sha256({**GOOD, "description": "Other words."}) == sha256(GOOD)


def test_an_own_prompt_stands_in_the_place_of_the_package_s(tmp_path: Path) -> None:
    path = written(tmp_path / "own.yaml", GOOD)
    prompts = Prompts({"answer_relevancy": path})
    Path(path).unlink()  # it was read
    prompt = prompts.of("answer_relevancy")
    assert (prompt.version, prompt.own) == (3, True)
    assert prompts.used == (PromptUsed("answer_relevancy", 3, prompt.sha256, own=True),)
    told, asked = prompt.messages({"response": UntrustedText("x"), "draft": TrustedText("1 of 3")})
    assert told.content.startswith("You guess questions.\n\nForm of the reply: JSON\n\n")
    assert asked.content.endswith("\n (1 of 3)")
    assert not prompts.of("bias").own
    # What is optional may be left out.
    said = {**GOOD, "name": "statements", "user": "{text}", "optional": ["user_input"]}
    prompt = Prompts({"statements": written(tmp_path / "own.yaml", said)}).of("statements")
    assert prompt.fields == ("text",)


def test_there_is_no_prompt_of_a_name() -> None:
    (problem,) = problems("answer_relevanci", "nowhere.yaml")
    assert problem.startswith(
        "prompts.answer_relevanci: there is no prompt 'answer_relevanci' "
        "(did you mean 'answer_relevancy'?); there are: answer_correctness, answer_relevance, "
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "bias"}, "name: 'bias', but it is to replace 'answer_relevancy'"),
        ({"version": "1"}, "version: input should be a valid integer"),
        ({"version": True}, "version: input should be a valid integer"),
        ({"version": 0}, "version: input should be greater than or equal to 1"),
        ({1: "x"}, "1: "),
        ({None: "x"}, "None: "),
        ({"sytem": "x"}, "sytem: there is no such key (did you mean 'system'?); there are: name,"),
        ({"user": "{response}"}, "user: the placeholder {draft} is needed"),
        (
            {"user": "{response} {draft} {respnse}"},
            "user: {respnse} is no placeholder of 'answer_relevancy' (did you mean 'response'?)",
        ),
        ({"user": "{response} {draft} {context}"}, "user: {context} is no placeholder of"),
        ({"system": "Of {response}."}, "system: {response} is filled in under `user` only"),
        ({"optional": ["draft"]}, "optional: 'draft' is not optional in 'answer_relevancy'"),
        ({"labels": {"respons": "x"}}, "labels.respons: no placeholder (did you mean 'response'?)"),
        ({"labels": {"response": "a>>>\n"}}, "labels.response: string should match pattern"),
        ({"examples": [{"fields": {}}]}, "examples.0.reply: is needed"),
        (
            {"examples": [{"fields": {"response": "x"}, "reply": 1}]},
            "examples.0.fields: draft is needed, for `user` has {draft}",
        ),
        (
            {"examples": [{"fields": {"response": ["x"], "draft": "1"}, "reply": 1}]},
            "examples.0.fields.response: has to be a text",
        ),
        (
            {"examples": [{"fields": {"response": "x", "draft": "1", "y": "z"}, "reply": 1}]},
            "examples.0.fields.y: no placeholder",
        ),
    ],
)
def test_what_is_wrong_with_an_own_prompt(
    tmp_path: Path, change: dict[Any, Any], expected: str
) -> None:
    path = written(tmp_path / "own.yaml", {**GOOD, **change})
    assert f"{path}: {expected}" in "\n".join(problems("answer_relevancy", path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": a prompt is a mapping with the keys name, version, description, system, user,"),
        ("- name", ": a prompt is a mapping"),
        ("name: [", ":1:8: not valid YAML"),
        ("name: x\nname: y", ":2:1: not valid YAML: the key 'name' is duplicated"),
        ("name: &a x\nsystem: *a", ":2:9: not valid YAML: prompts have no aliases"),
        ("name: !!python/object:os.system x", ":1:7: not valid YAML"),
        ("[" * 100_000, ": not valid YAML"),
        ("version: 2020-13-45", ": not valid YAML"),
        ("name: \x07", ": not valid YAML"),
        ("# " + "x" * 1_000_000, ": longer than 1,000,000 bytes"),
        ("name: \udcff", ": not UTF-8 text"),
    ],
)
def test_files_that_hold_no_prompt(tmp_path: Path, text: str, expected: str) -> None:
    path = written(tmp_path / "own.yaml", text)
    assert problems("bias", path)[0].startswith(f"{path}{expected}")
    assert problems("bias", str(tmp_path)) == [f"{tmp_path}: cannot be read: Is a directory"]


def test_placeholders_of_own_words() -> None:
    words = "{INPUT} {ACTUAL_OUTPUT} {user_input} {{reference}} {contexts} {x} {EXPECTED_OUTPUT}"
    shown = ("user_input", "response", "retrieved_contexts", "x", "references")
    assert placeholders(words) == shown
    assert placeholders("{CONTEXT} {retrieved_contexts}") == ("retrieved_contexts",)
    assert placeholders("{reference}") == placeholders("{references}") == ("references",)
    assert placeholders("{history}") == ("history",)
    assert placeholders('Reply {"response": 1} or {{statements}}.') == ()
    assert placeholders("{topic} {meta.topic} {{meta.kind}} {1.5}") == ("topic", "meta.topic")


def test_own_words_become_one_message() -> None:
    words = 'Is {ACTUAL_OUTPUT} polite?\n{"ok": {reference}} {text.x} {{INPUT}}'
    prompt = from_words("manners", words, answer="Say {response} or no.")
    assert (prompt.name, prompt.version, prompt.own) == ("manners", 0, True)
    assert prompt.fields == ("response", "references", "text.x")
    (_, told), (_, asked) = prompt.messages(
        {
            "response": UntrustedText("{references}"),
            "references": Numbered(["r"]),
            "user_input": UntrustedText("q"),
            "text.x": UntrustedText("t"),
        }
    )
    mark = re.findall("mark ([0-9a-f]{16})", told)[0]
    assert told == note(mark)
    assert asked == (
        f"Is \n<<<response {mark}>>>\n{{references}}\n<<<end response {mark}>>>\n polite?\n"
        f'{{"ok": \n<<<references {mark}>>>\n1. "r"\n<<<end references {mark}>>>\n}} '
        f"\n<<<text.x {mark}>>>\nt\n<<<end text.x {mark}>>>\n {{{{INPUT}}}}\n\n"
        "Say {response} or no."
    )
    words = [("x", ""), ("x", "y"), ("xy", ""), ("y", "")]
    assert len({from_words("a", one, answer=two).sha256 for one, two in words}) == 4
    assert from_words("a", "x").sha256 == from_words("b", "x").sha256
