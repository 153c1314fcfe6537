"""What `--set` puts into a document, where it cannot, and how a user's text is quoted."""

from __future__ import annotations

import pytest

from tests.config.reading import problems, read
from valor_cli.config.problems import dotted, quoted


@pytest.mark.parametrize(
    ("override", "tree"),
    [
        ("a.b=2", {"a": {"b": 2}, "l": [1, {"m": 2}], "n": None}),
        ("a=", {"a": None, "l": [1, {"m": 2}], "n": None}),
        ("a.b='2'", {"a": {"b": "2"}, "l": [1, {"m": 2}], "n": None}),
        ("a={x: [y]}", {"a": {"x": ["y"]}, "l": [1, {"m": 2}], "n": None}),
        ("a=-", {"a": "-", "l": [1, {"m": 2}], "n": None}),
        ("l.0=no", {"a": {"b": 1}, "l": ["no", {"m": 2}], "n": None}),
        ("l.1.m=a=b", {"a": {"b": 1}, "l": [1, {"m": "a=b"}], "n": None}),
        ("n.o.p=1", {"a": {"b": 1}, "l": [1, {"m": 2}], "n": {"o": {"p": 1}}}),
        ("z.0=1", {"a": {"b": 1}, "l": [1, {"m": 2}], "n": None, "z": {"0": 1}}),
        ('a."c.d"=1', {"a": {"b": 1, "c.d": 1}, "l": [1, {"m": 2}], "n": None}),
        ("a.b=${X}", {"a": {"b": 7}, "l": [1, {"m": 2}], "n": None}),
    ],
)
def test_overrides(override: str, tree: object) -> None:
    text = "a: {b: 1}\nl: [1, {m: 2}]\nn:\n"
    assert read(text, override, environment={"X": "7"}).tree == tree


def test_what_an_alias_repeats_is_changed_in_one_place_only() -> None:
    document = read("a: &a {x: 1}\nb: *a\n", "b.x=2")
    assert document.tree == {"a": {"x": 1}, "b": {"x": 2}}


def test_an_override_replaces_what_could_not_be_expanded() -> None:
    document = read("a: ${NOT_SET}\nb:\n  c: ${NOT_SET}\n", "a=1", "b=2")
    assert document.tree == {"a": 1, "b": 2}


def test_the_place_of_an_override_is_its_option() -> None:
    document = read("a: {b: {c: 1}}\n", "a.b={d: [1]}", "x.y=1", "a.b.e=2")
    assert document.place(("a", "b", "d", 0)) == "--set a.b.d.0"
    assert document.place(("a", "b", "c")) == "--set a.b.c"
    assert document.place(("a", "b", "e"), key=True) == "--set a.b.e"
    assert document.place(("x",), key=True) == "--set x"
    assert document.place(("a",)) == "run.yaml:1:4: a"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("a.b.c=1", "--set a.b.c: cannot be set, because a.b is a single value"),
        ("l.x=1", "--set l.x: l is a list; name its items by number, from 0"),
        ("l.'0'=1", "--set l.'0': l is a list; name its items by number, from 0"),
        ('l."0"=1', "--set l.0: l is a list; name its items by number, from 0"),
        ("l.2=1", "--set l.2: l has no item 2; it has 2, from 0"),
        (
            "a=x: y",
            "--set a: expected one value, a list in [ ] or a mapping in { }; quote other text",
        ),
        (
            "a=[1",
            (
                "--set a: not valid YAML: did not find expected ',' or ']', "
                "while parsing a flow sequence"
            ),
        ),
        ("a={b: 1, b: 2}", "--set a.b: duplicate key, on lines 1 and 1"),
        ("a=!x 1", "--set a: the tag '!x' is not accepted; write the value alone"),
        (
            "a=${NOT_SET}",
            "--set a: NOT_SET is not set in the environment; ${NOT_SET:-…} gives a default",
        ),
    ],
)
def test_overrides_that_cannot_be(override: str, message: str) -> None:
    assert problems("a: {b: 1}\nl: [1, 2]\n", override) == [message]


@pytest.mark.parametrize(
    "override", ["", "a", "=1", "a.=1", ".a=1", "a..b=1", 'a."b=1', 'a"b"=1', "a=\udcff"]
)
def test_overrides_that_are_no_path_and_value(override: str) -> None:
    (message,) = problems("a: 1\n", override)
    assert message.startswith(f"--set: {quoted(override)} is not path=value; write for example")


def test_user_text_is_cut_and_escaped() -> None:
    assert quoted("a\nb\x1b[31m\u202e") == "'a\\nb\\x1b[31m\\u202e'"
    assert quoted("x" * 100) == f"'{'x' * 59}…'"
    assert dotted(("a", 1, "b\n")) == "a.1.b\\n"
