"""Token F1: worked by hand, against SQuAD's definition, and on real answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import squad as oracle
from tests.oracles.text_rows import answers
from tests.oracles.text_samples import measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap.metrics.token_f1 import OUTPUTS, TOKEN_F1

WORDS = st.lists(st.sampled_from(["the", "A", "red", "Red!", "sea", "sky", "–", "?"]), max_size=6)


def test_worked_by_hand() -> None:
    data = samples(
        ["The red sea", "red red sea", "sky"],
        # "red sea" and "red sky": 1 of 2 and 1 of 2. "red red sea": 2 of 3 and 2 of 2.
        references=[["Red sky"], ["a lake", "red sea"], ["sea"]],
    )
    outcomes = measured(TOKEN_F1, data)
    assert outcome(outcomes, 0).values == {"f1": 0.5, "precision": 0.5, "recall": 0.5}
    assert outcome(outcomes, 1).values == {"f1": 0.8, "precision": 2 / 3, "recall": 1.0}
    assert outcome(outcomes, 1).details == {"reference": 1}
    assert outcome(outcomes, 2).values == {"f1": 0, "precision": 0, "recall": 0}
    means = values(TOKEN_F1, data)
    assert means["f1"] == pytest.approx(1.3 / 3)
    assert means["precision"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert means["recall"] == pytest.approx(0.5)


def test_first_of_equal_references() -> None:
    found = outcome(measured(TOKEN_F1, samples(["red"], references=[["sea", "sky"]])), 0)
    assert found.details == {"reference": 0}


@pytest.mark.parametrize(
    ("response", "reference", "value"),
    [("", "", 1), ("the", "?!", 1), ("", "red", 0), ("red", "a", 0)],
)
def test_no_words_left(response: str, reference: str, value: float) -> None:
    found = measured(TOKEN_F1, samples([response], references=[[reference]]))
    assert outcome(found, 0).values == dict.fromkeys(OUTPUTS, value)


def test_without_input() -> None:
    found = measured(TOKEN_F1, samples([None, "red"], references=[["red"], []]))
    assert [outcome(found, at).reason for at in range(2)] == ["no response", "no reference"]


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_against_the_definition(given_words: list[str], references: list[list[str]]) -> None:
    response, right = " ".join(given_words), [" ".join(each) for each in references]
    found = outcome(measured(TOKEN_F1, samples([response], references=[right])), 0)
    assert tuple(found.values[name] for name in OUTPUTS) == oracle.token_f1(response, right)


@pytest.mark.parametrize("model", ["fid", "gpt35"])
def test_real_answers(model: str) -> None:
    rows, expected = answers(model)
    # The stored mean was added up in the order of rows: it may differ in the last digit.
    value = values(TOKEN_F1, of_rows(rows))["f1"]
    assert value == pytest.approx(expected["squad_token_f1"], abs=1e-15)
    wanted = [oracle.token_f1(response, references) for response, references in rows]
    outcomes = measured(TOKEN_F1, of_rows(rows))
    for output, column in zip(OUTPUTS, zip(*wanted, strict=True), strict=True):
        assert outcomes.columns[output].tolist() == list(column)
