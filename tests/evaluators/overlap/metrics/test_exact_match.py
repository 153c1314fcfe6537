"""Exact match: worked by hand, against SQuAD's definition, and on real answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import squad as oracle
from tests.oracles.text_rows import answers
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap.metrics.exact_match import EXACT_MATCH

TEXT = st.text(alphabet="aAnNtThHeE .,'–Ж", max_size=8)


def test_worked_by_hand() -> None:
    data = samples(
        ["The Beatles!", "Beatles", "a beatle", "", "?", "x", None, "x"],
        references=[["beatles"], ["Stones", "the Beatles"], ["beatles"], ["the"], [""], [""], ["x"]]
        + [[]],
    )
    outcomes = measured(EXACT_MATCH, data)
    assert outcomes.columns["value"][:6].tolist() == [1, 1, 0, 1, 1, 0]
    assert outcome(outcomes, 1).details == {"reference": 1}
    assert outcome(outcomes, 2).details is None
    assert outcome(outcomes, 6)[1:3] == ("missing_input", "no response")
    assert outcome(outcomes, 7)[1:3] == ("missing_input", "no reference")
    assert values(EXACT_MATCH, data) == {"value": 4 / 6}
    assert found(EXACT_MATCH, data).statuses == {"ok": 6, "missing_input": 2}


def test_as_they_are() -> None:
    data = samples(["The cat", "cat"], references=[["cat", "The cat"], ["Cat"]])
    assert measured(EXACT_MATCH, data, normalize=False).columns["value"].tolist() == [1, 0]
    assert measured(EXACT_MATCH, data).columns["value"].tolist() == [1, 1]


def test_nothing_to_compare() -> None:
    (row,) = found(EXACT_MATCH, samples([None], references=[["x"]])).values
    assert (row.value, row.n) == (None, 0)
    assert row.undefined == "no sample has one: 1 × no response"
    assert values(EXACT_MATCH, samples([])) == {"value": None}


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_against_the_definition(response: str, references: list[str]) -> None:
    data = samples([response], references=[references])
    assert values(EXACT_MATCH, data) == {"value": oracle.exact_match(response, references)}


@pytest.mark.parametrize("model", ["fid", "gpt35"])
def test_real_answers(model: str) -> None:
    rows, expected = answers(model)
    assert values(EXACT_MATCH, of_rows(rows))["value"] == expected["squad_exact_match"]
