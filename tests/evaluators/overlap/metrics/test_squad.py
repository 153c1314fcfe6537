"""Exact match and token F1: by hand, against SQuAD's definitions, and on real answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import squad as oracle
from tests.oracles.text_rows import answers
from tests.oracles.text_samples import measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap.metrics.squad import EXACT_MATCH, OUTPUTS, TOKEN_F1

TEXT = st.text(alphabet="aAnNtThHeE .,'–Ж", max_size=8) | st.lists(
    st.sampled_from(["the", "A", "red", "Red!", "sea", "sky", "–", "?"]), max_size=6
).map(" ".join)


def test_exact_match_by_hand() -> None:
    data = samples(
        ["The Beatles!", "Beatles", "a beatle", "", "?", "x"],
        references=[["beatles"], ["Stones", "the Beatles"], ["beatles"], ["the"], [""], [""]],
    )
    outcomes = measured(EXACT_MATCH, data)
    assert outcomes.columns["value"].tolist() == [1, 1, 0, 1, 1, 0]
    assert outcome(outcomes, 1).details == {"reference": 1}
    assert outcome(outcomes, 2).details is None
    assert values(EXACT_MATCH, data) == {"value": 4 / 6}
    data = samples(["The cat", "cat"], references=[["cat", "The cat"], ["Cat"]])
    assert measured(EXACT_MATCH, data, normalize=False).columns["value"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("response", "references", "found", "reference"),
    [
        # "red sea" and "red sky": 1 of 2 and 1 of 2. "red red sea": 2 of 3 and 2 of 2.
        ("The red sea", ["Red sky"], (0.5, 0.5, 0.5), 0),
        ("red red sea", ["a lake", "red sea"], (0.8, 2 / 3, 1.0), 1),
        ("sky", ["sea"], (0, 0, 0), 0),
        # The first of equal references.
        ("red", ["sea", "sky"], (0, 0, 0), 0),
        # No words are left.
        ("", [""], (1, 1, 1), 0),
        ("the", ["?!"], (1, 1, 1), 0),
        ("", ["red"], (0, 0, 0), 0),
        ("red", ["a"], (0, 0, 0), 0),
    ],
)
def test_token_f1_by_hand(
    response: str, references: list[str], found: tuple[float, ...], reference: int
) -> None:
    one = outcome(measured(TOKEN_F1, samples([response], references=[references])), 0)
    assert one.values == dict(zip(("f1", "precision", "recall"), found, strict=True))
    assert one.details == {"reference": reference}


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_against_the_definitions(response: str, references: list[str]) -> None:
    data = samples([response], references=[references])
    assert values(EXACT_MATCH, data) == {"value": oracle.exact_match(response, references)}
    found = outcome(measured(TOKEN_F1, data), 0).values
    assert tuple(found[name] for name in OUTPUTS) == oracle.token_f1(response, references)


@pytest.mark.parametrize("model", ["fid", "gpt35"])
def test_real_answers(model: str) -> None:
    rows, expected = answers(model)
    assert values(EXACT_MATCH, of_rows(rows))["value"] == expected["squad_exact_match"]
    # The stored mean was added up in the order of rows: it may differ in the last digit.
    value = values(TOKEN_F1, of_rows(rows))["f1"]
    assert value == pytest.approx(expected["squad_token_f1"], abs=1e-15)
    wanted = [oracle.token_f1(response, references) for response, references in rows]
    outcomes = measured(TOKEN_F1, of_rows(rows))
    for output, column in zip(OUTPUTS, zip(*wanted, strict=True), strict=True):
        assert outcomes.columns[output].tolist() == list(column)
