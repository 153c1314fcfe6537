"""YAML text to a tree with positions: scalars, refusals, expansion and overrides."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli import yaml_document
from valor_cli.errors import ConfigError
from valor_cli.yaml_document import Position, YamlDocument, dotted, quoted, read_document, scalar_of


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(
    text: str | bytes, *overrides: str, environment: Mapping[str, str] | None = None
) -> YamlDocument:
    path = Path("run.yaml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_document(path, overrides, environment)


def problems(
    text: str | bytes, *overrides: str, environment: Mapping[str, str] | None = None
) -> Sequence[str]:
    with pytest.raises(ConfigError) as caught:
        read(text, *overrides, environment=environment)
    return [str(problem) for problem in caught.value.problems]


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


def test_quoted_and_tagged_text_stays_text() -> None:
    text = "a: '5'\nb: \"true\"\nc: !!str 5\nd: |\n  1\ne: !!seq [1]\nf: !!map {}\n"
    assert read(text).tree == {"a": "5", "b": "true", "c": "5", "d": "1\n", "e": [1], "f": {}}


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
    assert document.place(("a", "b", "c"), key=True) == "run.yaml:3:5: a.b.c"
    assert document.place(("a", "b", "z", "y")) == "run.yaml:2:3: a.b.z.y"
    assert document.place(("z",)) == "run.yaml:1:1: z"
    assert document.place(()) == "run.yaml:1:1"


def test_the_hash_is_of_the_bytes() -> None:
    content = b"\xef\xbb\xbfa: 1\r\nb: 2\r\n"
    document = read(content)
    assert document.tree == {"a": 1, "b": 2}
    assert document.values["b",] == Position(2, 4)
    assert document.sha256 == hashlib.sha256(content).hexdigest()


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


def test_what_an_alias_repeats_is_changed_in_one_place_only() -> None:
    document = read("a: &a {x: 1}\nb: *a\n", "b.x=2")
    assert document.tree == {"a": {"x": 1}, "b": {"x": 2}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.yaml: is empty; a config has at least 'task:' and 'data:'"),
        ("# words\n", "run.yaml: is empty; a config has at least 'task:' and 'data:'"),
        ("---\n", "run.yaml: is empty; a config has at least 'task:' and 'data:'"),
        ("- a\n", "run.yaml:1:1: expected a mapping such as 'task: …', found a list"),
        ("\nhi\n", "run.yaml:2:1: expected a mapping such as 'task: …', found the text 'hi'"),
        (
            "a: 1\n---\nb: 2\n",
            "run.yaml:2:1: a second YAML document begins here; a config is one document",
        ),
        ("a: 1\nb: ü\xff".encode("latin-1"), "run.yaml:2:4: the byte 0xfc is not UTF-8 text"),
        (
            b"\xef\xbb\xbfa: \xc3\xbc\xff\n",
            "run.yaml:1:5: the byte 0xff is not UTF-8 text",
        ),
        ("a: x\x07y\n", "run.yaml:1:5: the character U+0007 cannot stand in YAML"),
        ("a: 1\n\nb: 2\na: 3\n", "run.yaml:4:1: a: the key stands twice, on lines 1 and 4"),
        ("a: {b: 1, b: 2}\n", "run.yaml:1:11: a.b: the key stands twice, on lines 1 and 1"),
        ("a: {1: x}\n", "run.yaml:1:5: a: a key must be text; write '1' in quotes"),
        ("true: x\n", "run.yaml:1:1: a key must be text; write 'true' in quotes"),
        ("a:\n  ?\n  : x\n", "run.yaml:2:4: a: a key is missing before ':'"),
        ("? [a]\n: x\n", "run.yaml:1:3: a key must be text, found a list"),
        (
            "a: !!python/object/apply:os.system [ls]\n",
            (
                "run.yaml:1:4: a: the tag '!!python/object/apply:os.system' is not accepted; "
                "write the value alone"
            ),
        ),
        ("a: !!int 5\n", "run.yaml:1:4: a: the tag '!!int' is not accepted; write the value alone"),
        (
            "a: &a [*a]\n",
            "run.yaml:1:8: a.0: the alias '*a' stands inside the value it repeats",
        ),
        (
            "a: *.jsonl\n",
            (
                "run.yaml:1:5: not valid YAML: did not find expected alphabetic or numeric "
                "character, while scanning an alias; text that begins with '*' needs quotes"
            ),
        ),
        (
            "a: *x\n",
            (
                "run.yaml:1:4: a: there is no anchor '&x' above; "
                "text that begins with '*' needs quotes"
            ),
        ),
        (
            "a: {<<: [1]}\n",
            "run.yaml:1:10: a.<<: expected a mapping to merge, or a list of mappings",
        ),
        (
            "a: b: c\n",
            "run.yaml:1:5: not valid YAML: mapping values are not allowed in this context",
        ),
        (
            "a: {b: c\nd: [1",
            (
                "run.yaml:2:2: not valid YAML: did not find expected ',' or '}', "
                "while parsing a flow mapping that begins on line 1"
            ),
        ),
        (
            "a: -\n",
            (
                "run.yaml:1:4: not valid YAML: block sequence entries are not allowed in this "
                "context; a list begins on a line of its own, and '-' as text needs quotes"
            ),
        ),
        (
            "a:\n\t- b\n",
            (
                "run.yaml:2:1: not valid YAML: found character that cannot start any token, "
                "while scanning for the next token; indent with spaces, not tabs"
            ),
        ),
        (
            "a: @b\n",
            (
                "run.yaml:1:4: not valid YAML: found character that cannot start any token, "
                "while scanning for the next token; text that begins with '@' needs quotes"
            ),
        ),
        (
            "a: [${SEED}]\n",
            (
                "run.yaml:1:6: not valid YAML: did not find expected ',' or ']', "
                "while parsing a flow sequence; inside [ ] and { } write '${NAME}' in quotes"
            ),
        ),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str | bytes, message: str) -> None:
    assert problems(text) == [message]


def test_all_problems_of_the_text_are_listed_in_its_order() -> None:
    text = "a: {1: x, b: !t y}\nc: ${NOT_SET}\nc: 1\nd: '${'\n"
    assert problems(text, "a.b.c=1", "nonsense") == [
        "run.yaml:1:5: a: a key must be text; write '1' in quotes",
        "run.yaml:1:14: a.b: the tag '!t' is not accepted; write the value alone",
        "run.yaml:2:4: c: NOT_SET is not set in the environment; ${NOT_SET:-…} gives a default",
        "run.yaml:3:1: c: the key stands twice, on lines 2 and 3",
        "run.yaml:4:4: d: '${' needs a name and '}' after it; '$${' stands for '${'",
        "--set a.b.c: cannot be set, because a.b is a single value",
        (
            "--set: 'nonsense' is not path=value; write for example interval.seed=1, "
            "and quotes around a key with dots"
        ),
    ]


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


def test_a_large_file_is_no_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_document, "LARGEST", 2**20)
    assert problems("#" * (2**20 + 1)) == ["run.yaml: holds more than 1 MiB; is this the config?"]


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
        "run.yaml:1:4: a: what '${A}' stands for is not valid UTF-8"
    ]


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
        ("a={b: 1, b: 2}", "--set a.b: the key stands twice, on lines 1 and 1"),
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


YAML_LIKE = st.text(alphabet="ab1 :-[]{},&*!'\"\n#?|>%~<=.${}\t\\\x00é", max_size=60)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(text=st.one_of(YAML_LIKE, st.text(max_size=60)), overrides=st.lists(YAML_LIKE, max_size=2))
def test_any_text_is_read_or_refused_on_one_line(text: str, overrides: list[str]) -> None:
    lines: list[str] = []
    try:
        read(text.encode("utf-8", "surrogatepass"), *overrides, environment={"a": "b"})
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)
