"""Patterns of users: they mean what they mean to `re`, and end."""

from __future__ import annotations

import pickle
import re

import pytest

from valor_cli.kernels.patterns.regex import (
    LARGEST,
    MOST_GROUPS,
    Patience,
    Pattern,
    PatternError,
    PatternTimeout,
    parse_pattern,
)

SLOW = "(a|aa)+$"
"""Doubles its work with about every second letter of a text that it fails on."""

ENDLESS = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("15,?969", "x 15969"),
        (r"\d{3}-\d{3}-\d{4}", "call 123-456-7890"),
        ("(?i)python", "PyThOn"),
        (r"\b(error|warning)\b", "no errors"),
        ("^b$", "a\nb"),
        ("(?m)^b$", "a\nb"),
        ("(?s)a.b", "a\nb"),
        ("a.b", "a\nb"),
        (r"(\w)\1", "abccd"),
        ("(?<=x)y", "xy"),
        ("a{2,3}", "caaaa"),
        ("a{,2}b", "aab"),
        # To `regex` alone these would match inexactly.
        ("x{e}", "y"),
        ("x{e}", "ax{e}b"),
        ("(?:abc){s<=1}", "abd"),
        ("[{}]x{i}", "}x{i}"),
        ("{name}", "Dear {name},"),
        ("a{1,2", "a{1,2"),
        (r"\{e}", "{e}"),
    ],
)
def test_they_find_what_re_finds(pattern: str, text: str) -> None:
    found = re.search(pattern, text)
    assert parse_pattern(pattern).search(text) == (found and found.span())


def test_properties_of_characters_are_known_beside() -> None:
    assert parse_pattern(r"^\p{L}+$").search("Größe") == (0, 5)


def test_all_matches_are_found_in_order() -> None:
    # Of "aXbXX": at 1, at 3 and at 4.
    assert list(parse_pattern("X").matches("aXbXX")) == [(1, 2), (3, 4), (4, 5)]


@pytest.mark.parametrize(
    ("pattern", "message", "position"),
    [("a(b", "missing )", 3), ("*", "nothing to repeat", 0), ("[a", "unterminated", 2)],
)
def test_what_is_none_is_refused_at_its_place(pattern: str, message: str, position: int) -> None:
    with pytest.raises(PatternError, match=re.escape(message)) as caught:
        parse_pattern(pattern)
    assert caught.value.position == position


def test_groups_are_nested_only_so_deep() -> None:
    deep = "(" * MOST_GROUPS + "a" + ")" * MOST_GROUPS
    assert parse_pattern(deep).search("a") == (0, 1)
    for many in (MOST_GROUPS + 1, 100_000):
        with pytest.raises(PatternError, match=f"more than {MOST_GROUPS} groups"):
            parse_pattern("(" * many + "a" + ")" * many)


@pytest.mark.parametrize(
    "pattern",
    [
        "a{1000000000}",
        "a{99999999999999999999,}",
        "(?:a{1000}){1000}",
        "(?:(?:(?:ab){50}){50}){50}",
        # What says nothing may stand between a group and its repetition.
        "(?:a{1000})(?i)(?#(){1000}",
        "(?x)(?:a{1000}) # (\n {1000}",
        r"[)\]]{500}\({500}" + "(?:b{300}){400}",
    ],
)
def test_what_would_not_fit_when_written_out_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match=f"longer than {LARGEST:,} characters"):
        parse_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^a{0,4000000000}$", "aaa"),
        ("(?:(?:a{0,100}){0,100}){0,100}b", "aab"),
        (
            r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
            "0123ABCD-0123-4567-89ab-0123456789ab",
        ),
        (r"(?x) ([0-9]{4} -?){4}  # a card", "4111-1111-1111-1111"),
        ("(?:a{1000}){99}|x", "x"),
        ("(?:a{300}){0}b{99000}|x", "x"),
    ],
)
def test_what_fits_is_kept(pattern: str, text: str) -> None:
    assert parse_pattern(pattern).search(text) == (0, len(text))


class Greedy:
    """A compiled pattern that asks for more memory than there is."""

    def finditer(self, text: str, timeout: float) -> list[re.Match[str]]:
        raise MemoryError


def test_a_search_that_needs_too_much_memory_is_stopped_too() -> None:
    # As "(?R)" does on any text, after a GiB.
    greedy = Pattern("(?R)", Greedy())  # type: ignore[arg-type]
    with pytest.raises(PatternTimeout, match=r"^needed too much memory$"):
        greedy.search("a")


def test_a_search_is_stopped() -> None:
    with pytest.raises(PatternTimeout, match=r"^took longer than 0\.02 s$"):
        parse_pattern(SLOW).search(ENDLESS, limit_s=0.02)


def test_after_a_few_stops_texts_as_long_are_spared() -> None:
    patience = Patience(limit_s=0.02, tries=2)
    slow = parse_pattern(SLOW)
    for text in (ENDLESS, "a" + ENDLESS):
        with pytest.raises(PatternTimeout, match="took longer"):
            patience.search(slow, text)
    # The shortest of those that it was stopped on has 61 characters.
    for text in (ENDLESS, ENDLESS + "x", "b" * 1_000_000):
        with pytest.raises(PatternTimeout, match=r"was not tried: .* 0\.02 s, .* on 2"):
            patience.search(slow, text)
    # Not a search stopped by a machine that does much else.
    patience.limit_s = 60.0
    assert patience.search(slow, "caa") == (1, 3)
    assert patience.search(parse_pattern("b"), "b" * 100) == (0, 1)


def test_patterns_are_equal_by_their_text_and_travel() -> None:
    pattern = parse_pattern("a+")
    assert pickle.loads(pickle.dumps(pattern)) == pattern  # noqa: S301 - our own bytes
    assert hash(pattern) == hash(pickle.loads(pickle.dumps(pattern)))  # noqa: S301
