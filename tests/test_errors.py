"""Errors that come from other processes are the same here."""

from __future__ import annotations

import pickle

import pytest

from valor_cli import errors
from valor_cli.errors import Problem, ValorError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ValorError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_the_same_after_its_way(kind: type[ValorError]) -> None:
    problems = [Problem(f"a.csv:{line}", "é") for line in range(30)]
    for error in (
        kind(problems, hint="mend it", total=99),
        kind(Problem("", "one")),
    ):
        found = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert type(found) is kind
        assert found.problems == error.problems
        assert (found.total, found.hint) == (error.total, error.hint)
        assert str(found) == str(error)
        assert found.exit_code == error.exit_code


def test_messages_are_a_set_in_the_order_first_seen() -> None:
    one, other = Problem("a.csv:2", "no label"), Problem("a.csv:3", "no label")
    error = ValorError([one, other, one], hint="mend b\nmend a\nmend b")
    assert (error.problems, error.total, error.hint) == ((one, other), 2, "mend b\nmend a")
    assert str(ValorError([one, one], total=30)) == "a.csv:2: no label\n… and 28 more problems"


def test_kinds() -> None:
    assert len(KINDS) >= 6
