"""A file to a tree with positions, and what `--set` puts into it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config.reading import problems, read
from valor_cli.config import document as document_module
from valor_cli.config.document import read_document
from valor_cli.config.problems import Position, dotted, quoted
from valor_cli.errors import ConfigError


def test_every_key_and_value_has_its_position() -> None:
    document = read("a:\n  - {b: 1,\n     c: [x]}\n")
    assert document.values == {
        (): Position(1, 1),
        ("a",): Position(2, 3),
        ("a", 0): Position(2, 5),
        ("a", 0, "b"): Position(2, 9),
        ("a", 0, "c"): Position(3, 9),
        ("a", 0, "c", 0): Position(3, 10),
    }
    assert document.keys == {
        ("a",): Position(1, 1),
        ("a", 0, "b"): Position(2, 6),
        ("a", 0, "c"): Position(3, 6),
    }


def test_the_place_of_the_unknown_is_that_of_the_nearest_key() -> None:
    document = read("a:\n  b:\n    c: 1\n")
    assert document.place(("a", "b", "c")) == "run.yaml:3:8: a.b.c"
    assert document.position(("a", "b", "c"), key=True) == Position(3, 5)
    assert document.place(("a", "b", "z", "y")) == "run.yaml:2:3: a.b.z.y"
    assert document.place(("z",)) == "run.yaml:1:1: z"
    assert document.place(()) == "run.yaml:1:1"


def test_the_hash_is_of_the_bytes() -> None:
    content = b"\xef\xbb\xbfa: 1\r\nb: 2\r\n"
    document = read(content)
    assert document.tree == {"a": 1, "b": 2}
    assert document.values["b",] == Position(2, 4)
    assert document.sha256 == hashlib.sha256(content).hexdigest()


def test_all_problems_of_the_text_are_listed_in_its_order() -> None:
    text = "a: {1.5: x, b: !t y}\nc: ${NOT_SET}\nc: 1\nd: '${'\n"
    assert problems(text, "a.b.c=1", "nonsense") == [
        "run.yaml:1:5: a: a key must be text; write '1.5' in quotes",
        "run.yaml:1:16: a.b: the tag '!t' is not accepted; write the value alone",
        "run.yaml:2:4: c: NOT_SET is not set in the environment; ${NOT_SET:-…} gives a default",
        "run.yaml:3:1: c: duplicate key, on lines 2 and 3",
        "run.yaml:4:4: d: '${' needs a name and '}' after it; '$${' is a literal '${'",
        "--set a.b.c: cannot be set, because a.b is a single value",
        (
            "--set: 'nonsense' is not path=value; write for example interval.seed=1, "
            "and quotes around a key with dots"
        ),
    ]


def test_a_large_file_is_no_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "LARGEST", 2**20)
    assert problems("#" * (2**20 + 1)) == ["run.yaml: is larger than 1 MiB; is this the config?"]


def test_what_is_no_readable_file_says_so(tmp_path: Path) -> None:
    Path("file").write_text("")
    for path, message in (
        ("none.yaml", "none.yaml: no such file"),
        (".", ".: is a folder; name the YAML file in it"),
        ("file/run.yaml", "file/run.yaml: cannot be read (Not a directory)"),
        ("a\0b", "a\\x00b: cannot be read (embedded null byte)"),
    ):
        with pytest.raises(ConfigError) as caught:
            read_document(Path(path))
        assert str(caught.value) == message


YAML_LIKE = st.text(alphabet="ab1 :-[]{},&*!'\"\n#?|>%~<=.${}\t\\\x00é", max_size=60)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=st.one_of(YAML_LIKE, st.text(max_size=60)), overrides=st.lists(YAML_LIKE, max_size=2))
def test_any_text_is_read_or_refused_on_one_line(text: str, overrides: list[str]) -> None:
    lines: list[str] = []
    try:
        read(text.encode("utf-8", "surrogatepass"), *overrides, environment={"a": "b"})
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


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
    assert document.place(("a", "b", "e")) == "--set a.b.e"
    assert document.place(("x",)) == "--set x"
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
