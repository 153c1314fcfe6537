"""JSON in replies: which values count, in which order, and what is no JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.replies.json_values import DEEPEST, fenced, json_values, objects, reply_text

MANY = 50_000
"""So often that a test would not end, if the work grew as the square of it."""

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
CONTAINERS = st.lists(VALUES) | st.dictionaries(st.text(), VALUES)
PROSE = st.text(st.characters(exclude_characters="[]{}<>"))


def without_repeats(values: list[Any]) -> list[Any]:
    return [value for at, value in enumerate(values) if value not in values[:at]]


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        (' \n[1, -2.5e1, true, null, "x"]\n', [[1, -25.0, True, None, "x"]]),
        ('"present"', ["present"]),
        ("4", [4]),
        ('\ufeff{"a": 1}', [{"a": 1}]),
        ('Sure! {"a": 1} Anything else?', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('~~~\n{"a": 1}\n~~~', [{"a": 1}]),
        ('Here:\n````JSON5 please\n{"a": 1}\n````', [{"a": 1}]),
        ('```json\n{"a": 1}', [{"a": 1}]),
        ('```{"a": 1}```', [{"a": 1}]),
        ('Here:\n```\n"present"\n```', ["present"]),
        ('{"a": [1, 2,], }', [{"a": [1, 2]}, [1, 2]]),
        ('{"a": "two\nlines\tand a tab"}', [{"a": "two\nlines\tand a tab"}]),
        ('{"a": 1, "a": 2}', [{"a": 2}]),
        ('{"a": "\\u00e9 \\"b\\" \\\\ \\/ \\n"}', [{"a": 'é "b" \\ / \n'}]),
        # Half a pair cannot be written to a file; both halves are one character.
        ('["\\ud83d", "\\ud83d\\ude00"]', [["�", "😀"]]),
        # The last at the front; what stands outside before what stands inside.
        ('{"a": 1} {"b": 2}', [{"b": 2}, {"a": 1}]),
        ('{"answer": {"a": 1}}', [{"answer": {"a": 1}}, {"a": 1}]),
        # A fence before what stands around it.
        ('{"a": 1}\n```\n{"b": 2}\n```\n{"c": 3}', [{"c": 3}, {"b": 2}, {"a": 1}]),
        ('```\n{"a": 1}\n```\n```\n{"b": 2}\n```', [{"b": 2}, {"a": 1}]),
        # A string is text, brackets in it too.
        ('{"a": "[1] {\\"b\\": 2}"}', [{"a": '[1] {"b": 2}'}]),
        ('x {"a": "[1] }"} ]', [{"a": "[1] }"}]),
        # Quotes and brackets that begin nothing.
        ('The "{" in it: {"a": 1}', [{"a": 1}]),
        ('{"broken { "a": 1}', [{"a": 1}]),
        ('5" [sic] {"a": 1}', [{"a": 1}]),
        ('["half, {"a": 1}', [{"a": 1}]),
        ('{"a": {"b": 1}, oops}', [{"b": 1}]),
        ('{"a": {"b": "{\\"c\\": 1}"}, oops}', [{"b": '{"c": 1}'}]),
        ('{"a": [1], "b": "cut', [[1]]),
    ],
)
def test_values_in_the_order_that_they_count(reply: str, values: list[Any]) -> None:
    assert without_repeats(json_values(reply)) == values


@pytest.mark.parametrize(
    "reply",
    ["", " \n", "I'm sorry, but I can't help with that.", "{'a': 1}", '{"a": NaN}', '{"a": 1e999}']
    + ['{"a": -Infinity}', '{"a": ' + "9" * 500 + "}", '{"a": 01}', '{"a": .5}', '{"a": +1}']
    + ['{"a": True}', '{"a": nullx}', '{"a" 1}', '{"a":, "b": 1}', '{"a":}', "{1: 2}", '{"a"}']
    + ["{,}", "[,]", "[1 2]", '[1}, {"a": 1]', '["\\x41"]', '["it\\\'s"]', '["\\u12"]', "[1"]
    + ['// none\n{"a": 1 /* one */}', '{"a": 1'],
)
def test_what_is_no_json(reply: str) -> None:
    assert json_values(reply) == []


def test_a_whole_number_too_large_for_a_float_is_one() -> None:
    assert json_values("[" + "9" * 350 + "]") == [[10**350 - 1]] * 2


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>hm</think>4", "4"),
        ("\ufeff\n<think>hm\n</think>\n\n4\n", "4"),
        ("<THINK>hm</Think> 4", "4"),
        ("<think>a</think> 4 <think>b</think> 5", "4  5"),
        ("<think>a <think> b</think> 4", "4"),
        ("<think>a <think>b</think> c</think> 4", "4"),
        ("hm, 3\n</think>\n4", "4"),
        ("<think>a</think> b </think> 4", "4"),
        ("3 <think>a</think> b </think> 4", "4"),
        ("<think>it never ends, 3", ""),
        ("<think>a</think><think>it never ends, 3", ""),
        ("4, not <think>", "4, not <think>"),
        ("<thinking>4", "<thinking>4"),
        ('{"a": "<think>b</think>"}', '{"a": "<think>b</think>"}'),
        ('So: {"a": "</think>"}.', 'So: {"a": "</think>"}.'),
        ('<think>[ "</think>{"a": "<think>"}', '{"a": "<think>"}'),
    ],
)
def test_thoughts_are_no_part_of_the_reply(reply: str, text: str) -> None:
    assert reply_text(reply) == text


def test_values_in_thoughts_do_not_count() -> None:
    assert json_values('<think>{"a": 0}</think>{"a": 1}') == [{"a": 1}] * 2
    assert json_values('{"a": 0}</think>{"a": 1}') == [{"a": 1}] * 2
    assert json_values('<think>{"a": 0}') == []


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("```\na\n```", ["a\n"]),
        ("```json title=x\r\na\r\n```\r\n", ["a\r\n"]),
        ("  ~~~\na\n~~~~  \nb", ["a\n"]),
        ("````\n```\na\n````", ["```\na\n"]),
        ("~~~\n```\n~~~", ["```\n"]),
        ("```\na\n``` b\n```", ["a\n``` b\n"]),
        ("```\na\n```\n```\nb", ["a\n", "b"]),
        ("```", [""]),
        ("```\n```", [""]),
        ("```a``` b", []),
        ("``\na\n``", []),
    ],
)
def test_contents_of_fences(text: str, contents: list[str]) -> None:
    assert [text[start:end] for start, end in fenced(text)] == contents


def test_objects_that_stand_in_no_other() -> None:
    text = 'a {"b": {"c": 1}} [{"d": 1}, {}] {e'
    assert [text[start:end] for start, end in objects(text)] == ['{"b": {"c": 1}}', '{"d": 1}']


def test_of_what_is_too_deep_the_inside_is_read() -> None:
    found = json_values("[" * 150 + '{"a": 1}' + "]" * 150 + '{"b": 2}')
    # The object is one of the levels that are read.
    assert len(found) == 1 + DEEPEST
    assert found[0] == {"b": 2}
    assert found[-1] == {"a": 1}
    just = "[" * DEEPEST + "]" * DEEPEST
    assert len(json_values(just)) == 1 + DEEPEST
    assert json_values(just)[0] == json.loads(just)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "{",
        '"',
        '{"',
        '["',
        '["[",',
        '{"a":',
        '[{"[":"{',
        '["\\',
        '["\\"',
        "[ \n",
        '{{["',
        "```\n",
    ]
    + ["~~~ [\n", "<think>", "</think>[", "<think>[</think>", "[1,", "[]", "]"],
)
def test_hostile_replies_take_time_in_proportion(piece: str) -> None:
    assert len(json_values(piece * MANY)) == (MANY if piece == "[]" else 0)
    # What follows is found, unless it is a part of a string, or of a thought without end.
    found = json_values(piece * MANY + '\n{"a": 1}')
    assert found[:1] in ([{"a": 1}], [])


def test_a_long_reply_is_read() -> None:
    values = [{"reason": "so it is", "verdict": 1}] * MANY
    assert json_values(json.dumps(values))[0] == values
    assert json_values('["' + "\\u0041" * MANY + '"]')[0] == ["A" * MANY]


@given(VALUES)
def test_any_value_is_read_back(value: Any) -> None:
    assert json_values(json.dumps(value))[0] == value
    assert json_values(json.dumps(value, ensure_ascii=False, indent=1))[0] == value


@settings(max_examples=40)
@given(CONTAINERS, PROSE, PROSE)
def test_any_list_and_object_is_found_in_prose(value: Any, before: str, behind: str) -> None:
    found = json_values(f"{before}{json.dumps(value)}{behind}")
    assert value in found


@given(
    st.lists(
        st.sampled_from(
            ['"', '\\"', "\\", "[", "]", "{", "}", '"a":', ":", ",", "1", " ", '"b"', "tru", "true"]
        ),
        max_size=30,
    ).map("".join)
)
def test_all_that_a_slow_search_finds_and_nothing_else(text: str) -> None:
    found = json_values(text)
    for value in slowly(text):
        assert value in found
    for value in found:
        assert isinstance(value, list | dict) or json.loads(text) == value


def slowly(text: str) -> Iterator[Any]:
    """Each array and object that json.loads takes; the commas it does not take are not tried."""
    at = 0
    while at < len(text):
        ends = range(len(text), at, -1) if text[at] in "[{" else range(0)
        for end in ends:
            try:
                yield json.loads(text[at:end])
            except json.JSONDecodeError:
                continue
            at = end - 1
            break
        at += 1


@given(st.text(st.sampled_from(list('[]{}":,\\ \n`~<>/think1.eE-u0'))) | st.text())
def test_any_text_can_be_read(text: str) -> None:
    json.dumps(json_values(text), allow_nan=False).encode()
    assert len(reply_text(text)) <= len(text)
