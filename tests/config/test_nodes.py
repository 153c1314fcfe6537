"""YAML text to nodes and scalars: forms, refusals, bombs, the environment."""

from __future__ import annotations

import math

import pytest

from tests.config.reading import cases, problems, read
from valor_cli.config.problems import Position
from valor_cli.config.scalars import scalar_of


def test_quoted_and_tagged_text_stays_text() -> None:
    text = "a: '5'\nb: \"true\"\nc: !!str 5\nd: |\n  1\ne: !!seq [1]\nf: !!map {}\n"
    assert read(text).tree == {"a": "5", "b": "true", "c": "5", "d": "1\n", "e": [1], "f": {}}


def test_anchors_aliases_and_merge_keys() -> None:
    document = read(
        "base: &base {x: 1, y: 2}\n"
        "other: &other {y: 3, z: 4}\n"
        "same: *base\n"
        "one: {y: 5, <<: *base}\n"
        "both: {<<: [*base, *other]}\n"
        "text: {'<<': 1}\n"
    )
    assert document.tree["same"] == {"x": 1, "y": 2}
    assert document.tree["one"] == {"x": 1, "y": 5}
    assert document.tree["both"] == {"x": 1, "y": 2, "z": 4}
    assert document.tree["text"] == {"<<": 1}
    assert document.values["same",] == Position(3, 7)
    assert document.values["same", "x"] == Position(1, 17)


UNREADABLE = r"""
- a
    1:1: expected a mapping such as 'task: …', found a list
a: 1
|---
|b: 2
    2:1: a second YAML document begins here; a config is one document
a: {b: 1, b: 2}
    1:11: a.b: duplicate key, on lines 1 and 1
a: {1.5: x}
    1:5: a: a key must be text; write '1.5' in quotes
true: x
    1:1: a key must be text; write 'true' in quotes
a:
|  ?
|  : x
    2:4: a: a key is missing before ':'
? [a]
|: x
    1:3: a key must be text, found a list
a: !!python/object/apply:os.system [ls]
    1:4: a: the tag '!!python/object/apply:os.system' is not accepted; write the value alone
a: !!int 5
    1:4: a: the tag '!!int' is not accepted; write the value alone
a: &a [*a]
    1:8: a.0: the alias '*a' is inside the value it refers to
a: *.jsonl
    1:5: not valid YAML: did not find expected alphabetic or numeric character, while scanning
    an alias; text that begins with '*' needs quotes
a: *x
    1:4: a: there is no anchor '&x' above; text that begins with '*' needs quotes
a: {<<: [1]}
    1:10: a.<<: expected a mapping to merge, or a list of mappings
a: b: c
    1:5: not valid YAML: mapping values are not allowed in this context
a: -
    1:4: not valid YAML: block sequence entries are not allowed in this context; a list begins
    on a line of its own, and '-' as text needs quotes
a: @b
    1:4: not valid YAML: found character that cannot start any token, while scanning for the
    next token; text that begins with '@' needs quotes
a: [${SEED}]
    1:6: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence;
    inside [ ] and { } write '${NAME}' in quotes
"""
EMPTY = "run.yaml: is empty; a config has at least 'task:' and 'data:'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((f"{text}\n", f"run.yaml:{message}") for text, message in cases(UNREADABLE)),
        ("", EMPTY),
        ("# words\n", EMPTY),
        ("---\n", EMPTY),
        ("\nhi\n", "run.yaml:2:1: expected a mapping such as 'task: …', found the text 'hi'"),
        ("a: 1\nb: ü\xff".encode("latin-1"), "run.yaml:2:4: the byte 0xfc is not UTF-8 text"),
        (b"\xef\xbb\xbfa: \xc3\xbc\xff\n", "run.yaml:1:5: the byte 0xff is not UTF-8 text"),
        ("a: x\x07y\n", "run.yaml:1:5: the character U+0007 is not allowed in YAML"),
        ("a: 1\n\nb: 2\na: 3\n", "run.yaml:4:1: a: duplicate key, on lines 1 and 4"),
        (
            "a: {b: c\nd: [1",
            (
                "run.yaml:2:2: not valid YAML: did not find expected ',' or '}', "
                "while parsing a flow mapping that begins on line 1"
            ),
        ),
        (
            "a:\n\t- b\n",
            (
                "run.yaml:2:1: not valid YAML: found character that cannot start any token, "
                "while scanning for the next token; indent with spaces, not tabs"
            ),
        ),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str | bytes, message: str) -> None:
    assert problems(text) == [message]


def test_alias_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (message,) = problems("\n".join(lines))
    assert message.endswith("more than 100,000 values, aliases included")


def test_bombs_of_merges_are_refused() -> None:
    wide = ", ".join(f"k{i}: 1" for i in range(1000))
    merges = ", ".join(["*a"] * 200)
    (message,) = problems(f"a: &a {{{wide}}}\nb: {{<<: [{merges}]}}\n")
    assert message.startswith("run.yaml:2:")
    assert message.endswith("more than 100,000 values, aliases included")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "{? "])
def test_deep_nesting_is_refused(opening: str) -> None:
    (message,) = problems(opening * 200_000)
    assert message.endswith("nested more than 100 levels deep")


def test_nesting_through_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200)]
    (message,) = problems("\n".join(lines))
    assert message.endswith("more than 100 levels deep, aliases included")


def test_whole_numbers_are_keys_as_they_are_written() -> None:
    assert read("a: {0: x, 17: y, '3': z}\n").tree == {"a": {"0": "x", "17": "y", "3": "z"}}
    assert problems("a: {1: x, '1': y}\n") == [
        "run.yaml:1:11: a.1: duplicate key, on lines 1 and 1"
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("TRUE", True),
        ("False", False),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("tRue", "tRue"),
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("12:30:45", "12:30:45"),
        ("2024-01-02", "2024-01-02"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("=", "="),
        ("٣", "٣"),
        ("9" * 5000, "9" * 5000),
        ("0x" + "f" * 5000, "0x" + "f" * 5000),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    found = scalar_of(text)
    assert found == value
    assert type(found) is type(value)
    assert read(f"a: {text}\n").tree == {"a": value}


def test_nan_is_recognised() -> None:
    assert math.isnan(float(scalar_of(".nan") or 0))


def test_the_environment_expands_in_text() -> None:
    document = read(
        'a: x-${NAME}\nb: ${N}\nc: "${N}"\nd: ${NONE:-0.5}\ne: ${NONE:-}\nf: $${N} $N\n'
        "g: ${EMPTY:-7}\nh: ${EMPTY}\ni: n${N}\n${N}: [k]\n",
        environment={"NAME": "name", "N": "5", "EMPTY": ""},
    )
    assert document.tree == {
        "a": "x-name",
        "b": 5,
        "c": "5",
        "d": 0.5,
        "e": None,
        "f": "${N} $N",
        "g": 7,
        "h": None,
        "i": "n5",
        "${N}": ["k"],
    }
    assert document.expanded["a",] == "x-${NAME}"
    assert ("d",) not in document.expanded


@pytest.mark.parametrize(
    "value", ["{a: 1}", "[1]", "x\nb: 2", "*a", "!!int 1", "${A}", "# x", "'q'"]
)
def test_a_value_of_the_environment_is_never_yaml(value: str) -> None:
    assert read("a: ${A}\n", environment={"A": value}).tree == {"a": value}


def test_bytes_in_the_environment_that_are_no_text() -> None:
    assert problems("a: ${A}\n", environment={"A": "x\udcff"}) == [
        "run.yaml:1:4: a: what '${A}' expands to is not valid UTF-8"
    ]
