"""Conditions on texts: their language, what they say of a text, and what is no condition."""

from __future__ import annotations

import pickle
import re
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.patterns.condition_parser import DEEPEST
from valor_cli.kernels.patterns.conditions import (
    MOST_SPANS,
    Condition,
    ConditionError,
    parse_condition,
)
from valor_cli.kernels.patterns.regex import Patience, PatternTimeout
from valor_cli.kernels.secrets.spans import Span

REVENUE = "Brazil revenue was 15,969 million"


@pytest.mark.parametrize(
    ("condition", "fulfilled", "not_fulfilled"),
    [
        # The examples of H2O's Text Matching Evaluator, in its order.
        ('"15,969"', REVENUE, "15969"),
        ('regexp("15,?969")', "15969", "15.969"),
        ('"15,969" AND regexp("[Mm]illion")', REVENUE, "15,969 thousand"),
        (
            '("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"',
            "Rio made 15969 Mil",
            "Rio made 15969 Mil, not Real",
        ),
        ('regexp("^Brazil revenue was 15,969 million$")', REVENUE, REVENUE + "."),
        ('regexp("(?i)python")', "PyThOn", "Pyton"),
        ('regexp("(cat|dog|bird)")', "a dog", "a cow"),
        (r'regexp("\b(error|warning|failure)\b")', "an error!", "errors"),
        (r'regexp("\d{3}-\d{3}-\d{4}")', "123-456-7890", "123-456-789"),
        (r'regexp("(?i)(success|completed).*\d+%")', "Completed: 40%", "40% completed"),
    ],
)
def test_the_language_is_h2os(condition: str, fulfilled: str, not_fulfilled: str) -> None:
    parsed = parse_condition(condition)
    assert parsed.judged(fulfilled).holds
    assert not parsed.judged(not_fulfilled).holds


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        # NOT before AND before OR.
        ('"a" OR "b" AND "c"', "a", True),
        ('("a" OR "b") AND "c"', "a", False),
        ('NOT "a" OR "b"', "a b", True),
        ('NOT ("a" OR "b")', "a b", False),
        ('NOT "a" AND "b"', "b", True),
        ('NOT NOT "a"', "a", True),
        ('not "a" Or "b" and regexp ( "c" )', "a b c", True),
        ('"a"AND"b"', "ab", True),
        # Strings have their case, and are found anywhere.
        ('"Rio"', "rio", False),
        ('"io"', "Rio", True),
        ('"a.c"', "abc", False),
        # Escapes: of the quote and of the backslash alone.
        (r'"say \"hi\""', 'say "hi"', True),
        (r'"C:\\temp"', r"C:\temp", True),
        (r'"C:\temp"', r"C:\temp", True),
        (r'"\n"', "\n", False),
        (r'"\n"', r"\n", True),
        (r'regexp("\\d{3}")', "123", True),
        (r'regexp("\\\\d")', r"\d", True),
        (r'regexp("\"\w+\"")', 'say "hi"', True),
        ('"two\nlines"', "two\nlines", True),
        ('"a"', "", False),
        ('NOT "a"', "", True),
    ],
)
def test_what_is_written_means(condition: str, text: str, holds: bool) -> None:
    assert parse_condition(condition).judged(text).holds is holds
    assert parse_condition(condition).judged(text).holds is holds


Tree: TypeAlias = "str | tuple[str, Tree] | tuple[str, Tree, Tree]"

TREES = st.recursive(
    st.sampled_from(["a", "b", "ab", "c"]),
    lambda inner: st.one_of(
        st.tuples(st.just("NOT"), inner),
        st.tuples(st.just("AND"), inner, inner),
        st.tuples(st.just("OR"), inner, inner),
    ),
    max_leaves=12,
)
BINDING = {"OR": 1, "AND": 2, "NOT": 3}


def written(tree: Tree, around: int = 0) -> str:
    """A tree with as few brackets as it can have."""
    if isinstance(tree, str):
        return f'"{tree}"' if around % 2 else f'regexp("{tree}")'
    own = BINDING[tree[0]]
    if len(tree) == 2:
        text = f"NOT {written(tree[1], own)}"
    else:
        text = f"{written(tree[1], own)} {tree[0]} {written(tree[2], own)}"
    return f"({text})" if own < around else text


def truth(tree: Tree, text: str) -> bool:
    """What a tree says, by Python's own operators."""
    if isinstance(tree, str):
        return tree in text
    if len(tree) == 2:
        return not truth(tree[1], text)
    sides = truth(tree[1], text), truth(tree[2], text)
    return all(sides) if tree[0] == "AND" else any(sides)


@given(TREES, st.text("abcd", max_size=4))
def test_any_expression_has_its_truth(tree: Tree, text: str) -> None:
    judged = parse_condition(written(tree)).judged(text)
    assert judged.holds is truth(tree, text)
    assert bool(judged.faults) is not judged.holds


def test_places_are_told_by_what_is_wanted() -> None:
    condition = parse_condition('("Rio" OR regexp("m.l")) AND NOT ("Real" AND "x")')
    # Rio at 0 and 9; Real at 4; mil at 13; no x.
    text = "Rio Real Rio mil"
    assert list(condition.judged(text).spans) == [
        Span(0, 3, "found"),
        Span(4, 8, "forbidden"),
        Span(9, 12, "found"),
        Span(13, 16, "found"),
    ]


def test_the_first_places_of_an_operand_are_told() -> None:
    assert len(parse_condition('"a"').judged("a" * 1_000_000).spans) == MOST_SPANS


def test_a_match_without_characters_counts_and_has_no_place() -> None:
    assert parse_condition('regexp("^")').judged("a") == (True, (), ())


@pytest.mark.parametrize(
    ("condition", "text", "faults"),
    [
        ('"15,969"', "none", 'missing "15,969"'),
        ('NOT "Real"', "Real", 'forbidden "Real" is there'),
        ('"a" AND "b" AND NOT "c"', "a c", 'missing "b"; forbidden "c" is there'),
        ('"a" OR regexp("b+")', "c", 'missing "a" or regexp("b+")'),
        ('NOT ("a" OR "b")', "b", 'forbidden "b" is there'),
        ('"a" OR NOT "b"', "b", 'one of these must change: missing "a"; forbidden "b" is there'),
        ('"a"', "a", ""),
    ],
)
def test_what_is_wrong_is_said(condition: str, text: str, faults: str) -> None:
    assert "; ".join(parse_condition(condition).judged(text).faults) == faults


def test_long_operands_are_cut_in_words() -> None:
    (told,) = parse_condition(f'"{"x" * 500}"').judged("").faults
    assert len(told) < 80


@pytest.mark.parametrize(
    ("condition", "position", "message"),
    [
        ("", 0, "empty"),
        (" \n", 2, "empty"),
        ('"a" "b"', 4, 'expected AND, OR or the end, found "b"'),
        ('"a" AND', 7, "found the end"),
        ('AND "a"', 0, "found AND"),
        ('("a"', 0, "never closed"),
        ('("a" OR ("b")', 0, "never closed"),
        ('("a" "b")', 5, "expected AND, OR or )"),
        ('"a")', 3, "has no opening bracket"),
        ("()", 1, "found )"),
        ("NOT", 3, "found the end"),
        ('"a', 0, "no closing quote"),
        (r'"a\"', 0, "write a backslash"),
        ("'a'", 0, "straight double quotes"),
        ("“a”", 0, "straight double quotes"),
        ('"a" && "b"', 4, "perhaps AND"),
        ("Rio", 0, 'put strings in double quotes, "Rio"'),
        ('regex("a")', 0, 'regexp("…")'),
        ("regexp(a)", 7, "unknown word a"),
        ('regexp "a"', 7, 'expected regexp("…")'),
        ('regexp("a"', 10, 'expected regexp("…")'),
        ('""', 0, "empty string"),
        ('"x" AND regexp("")', 15, "empty string"),
        ('"a" # "b"', 4, "unexpected '#'"),
        # The place inside the pattern: behind the b, and behind what escapes stand for.
        ('regexp("a(b")', 11, "missing )"),
        (r'regexp("\\d\"*)")', 14, "unbalanced parenthesis"),
    ],
)
def test_what_is_no_condition_is_refused_at_its_place(
    condition: str, position: int, message: str
) -> None:
    with pytest.raises(ConditionError, match=re.escape(message)) as caught:
        parse_condition(condition)
    assert caught.value.position == position
    assert f"at character {position + 1}: " in str(caught.value)


def test_an_error_shows_its_line_with_a_caret() -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition('"x" AND\n\t("y" OR z) AND "w"')
    assert caught.value.excerpt() == ' ("y" OR z) AND "w"\n         ^'
    assert str(caught.value).endswith(': ("y" OR ▸z) AND "w"')
    assert "\n" not in str(caught.value)


@given(st.text(st.sampled_from('"\\ aANDORT()\n'), max_size=30))
def test_any_text_is_a_condition_or_an_error_with_a_place(text: str) -> None:
    error = refusal(text)
    if error is not None:
        line, caret = error.excerpt().split("\n")
        assert 0 <= error.position <= len(text)
        assert len(caret) <= len(line) + 1


def refusal(text: str) -> ConditionError | None:
    try:
        parse_condition(text)
    except ConditionError as error:
        return error
    return None


def test_long_conditions_are_shown_in_part() -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(f'"{"x" * 500}" XOR "{"y" * 500}"')
    line, caret = caught.value.excerpt().split("\n")
    assert len(line) <= 62
    assert line[len(caret) - 1 :].startswith("XOR")


def test_nesting_has_a_bound_and_chains_have_none() -> None:
    assert parse_condition("(" * DEEPEST + '"a"' + ")" * DEEPEST).judged("a").holds
    for many in (DEEPEST + 1, 10_000):
        with pytest.raises(ConditionError, match=f"more than {DEEPEST} brackets") as caught:
            parse_condition("(" * many + '"a"' + ")" * many)
        assert caught.value.position == DEEPEST
    assert parse_condition("NOT " * 10_000 + '"a"').judged("a").holds
    assert parse_condition('"a"' + ' OR "b"' * 10_000).judged("b").holds
    assert parse_condition('("a") AND ' * 10_000 + '"a"').judged("a").holds


SLOW = 'regexp("(a|aa)+$")'
ENDLESS = "a" * 60 + "!"


def test_a_pattern_that_takes_too_long_is_told_with_its_place() -> None:
    condition = parse_condition(f'"a" AND {SLOW}')
    told = re.escape(f"the {SLOW} at character 9 took longer than 0.02 s")
    with pytest.raises(PatternTimeout, match=told):
        condition.judged(ENDLESS, Patience(0.02))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (f'{SLOW} OR "a"', True),
        (f'{SLOW} AND "b"', False),
        (f'NOT {SLOW} OR NOT "b"', True),
        (f'"a" AND ("!" OR {SLOW})', True),
    ],
)
def test_what_the_rest_decides_needs_no_pattern(condition: str, holds: bool) -> None:
    assert parse_condition(condition).judged(ENDLESS, Patience(0.02)).holds is holds


def test_conditions_are_equal_by_their_text_cached_and_travel() -> None:
    one = parse_condition('"a" AND regexp("b")')
    assert parse_condition('"a" AND regexp("b")') is one
    there: Condition = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own bytes
    assert there == one
    assert hash(there) == hash(one)
    assert there.judged("ab").holds
