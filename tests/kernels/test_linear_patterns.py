"""That patterns which are held against any text can never take more than linear time.

Read are the patterns themselves, not a clock. What a search can take back is bounded: a repetition
that gives characters back has a limit, also together with those around it; one without a limit
gives nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, get_args

import pytest

from valor_cli.kernels.secrets import (
    credential_formats,
    credentials,
    encodings,
    payment_cards,
    personal_data,
    phone_numbers,
)
from valor_cli.kernels.secrets.personal_entities import Entity
from valor_cli.kernels.text import steps

MODULES = (
    credentials,
    encodings,
    payment_cards,
    personal_data,
    phone_numbers,
)
MOST = 1024
"""Ways back from one place, at most; one text of that many characters more costs as much."""


def patterns_of(module: ModuleType) -> Iterator[re.Pattern[str]]:
    for value in vars(module).values():
        inside = value.values() if isinstance(value, dict) else [value]
        yield from (one for one in inside if isinstance(one, re.Pattern))


def every_pattern() -> list[re.Pattern[str]]:
    found = [one for module in MODULES for one in patterns_of(module)]
    for form in credential_formats.FORMS:
        found += [form.pattern, re.compile(form.hint), *([form.before] if form.before else [])]
    found += [one.name for one in credentials._ASSIGNMENTS]
    return found


def ways_back(parsed: Any, around: int = 1) -> int:
    """The largest product of limits of repetitions in each other that give characters back."""
    most = around
    for operator, argument in parsed:
        if operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            low, high, body = argument
            choices = 1 if low == high else min(int(high) - int(low) + 1, MOST + 1)
            most = max(most, ways_back(body, around * choices))
        elif operator is _constants.POSSESSIVE_REPEAT:
            most = max(most, ways_back(argument[2], around))
        else:
            for part in parts(argument):
                most = max(most, ways_back(part, around))
    return most


def parts(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for one in argument:
            yield from parts(one)


@pytest.mark.parametrize("pattern", every_pattern(), ids=lambda one: one.pattern[:40])
def test_a_pattern_can_take_back_little(pattern: re.Pattern[str]) -> None:
    assert ways_back(_parser.parse(pattern.pattern, pattern.flags)) <= MOST


@pytest.mark.parametrize("pattern", ["(a+)+b", "a*b", "(?:a{1,40}){1,40}b", "(?=a*b)"])
def test_what_could_take_long_is_told(pattern: str) -> None:
    assert ways_back(_parser.parse(pattern)) > MOST


def test_patterns_are_looked_at() -> None:
    assert len(every_pattern()) > 150


def test_patterns_of_steps_have_no_repetition_without_limit_in_another() -> None:
    patterns = list(patterns_of(steps))
    assert len(patterns) == 8
    assert all(
        ways_back(_parser.parse(one.pattern, one.flags)) < (MOST + 1) ** 2 for one in patterns
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["a", "a@", "@a.", "1", "12 ", "123-", "(1)", "4111 ", "::1 ", "GB12", "eyJ", "-eyJ", "eyJa."]
    + ["sk-", "-sk-", "://a:", "-----BEGIN ", "awskey", "A" * 40 + " ", "QUFB", "41 ", "AAAA\n"],
)
def test_long_texts_of_one_piece_come_to_an_end(unit: str) -> None:
    # With time that grows as the square these would take minutes each.
    text = unit * (200_000 // len(unit))
    personal_data.find_personal_data(text, get_args(Entity))
    credentials.find_credentials(text)
    encodings.encoded_runs(text)
