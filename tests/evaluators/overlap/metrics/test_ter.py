"""TER: the published cases of sacrebleu, its numbers and signatures on any samples."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER as SACREBLEU

from tests.oracles.sacrebleu_corpus import cases, check_case, ours, resampled, told
from tests.oracles.text_rows import e2e
from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.evaluators.overlap.metrics.ter import TER

TEXT = st.lists(st.sampled_from(["a", "b", "C.", "d", "中文"]), max_size=7).map(" ".join)
ROWS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=4
)
ASKED: list[dict[str, Any]] = [
    {},
    {"normalized": True, "asian_support": True},
    {"no_punct": True, "case_sensitive": True},
]


@pytest.mark.parametrize("case", cases("TER"), ids=lambda case: str(case["id"]))
def test_published_cases(case: dict[str, Any]) -> None:
    check_case(TER, case)


def test_by_hand() -> None:
    # One shift of "a b"; then two words more than a reference of one, besides one of three.
    data = samples(["c d a b", "x y z"], references=[["a b c d"], ["x", "p q r"]])
    # 1 edit and 2 edits for 4 words and (1 + 3) / 2.
    assert values(TER, data) == {"value": 3 / 6}
    assert outcome(measured(TER, data), 1).values == {"value": 2 / 2}
    assert outcome(measured(TER, data), 1).details == {"edits": 2, "reference_words": 2}


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_real_rows_and_parts_of_them(asked: dict[str, Any]) -> None:
    for rows in (e2e()[:12], e2e()[2:3]):
        value, signature = ours(TER, rows, **asked)
        expected, told_signature = told(SACREBLEU(**asked), rows)
        # sacrebleu adds up mean lengths one by one, with an error of rounding for each.
        assert value == pytest.approx(expected, rel=1e-14)
        assert signature == told_signature


@settings(max_examples=100)
@given(ROWS, st.sampled_from(ASKED))
def test_any_rows(rows: list[tuple[str, tuple[str, ...]]], asked: dict[str, Any]) -> None:
    value, signature = ours(TER, rows, **asked)
    expected, told_signature = told(SACREBLEU(**asked), rows)
    assert value == pytest.approx(expected, rel=1e-14)
    assert signature == told_signature
    single = [(response, references[:1]) for response, references in rows]
    assert ours(TER, single, **asked) == told(SACREBLEU(**asked), single)


def test_resamples_count_rows_as_often_as_they_stand() -> None:
    rows = e2e()[:6]
    weights = [0, 3, 1, 0, 2, 0]
    again = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    value = resampled(TER, rows, weights)
    assert value.value == pytest.approx(told(SACREBLEU(), again)[0], rel=1e-14)
    assert value.n == 6


def test_missing_and_empty() -> None:
    data = samples([None, "a", "", "a", ""], references=[["a"], [], ["a"], [""], [""]])
    (value,) = found(TER, data).values
    # 1 edit of a word, 1 of none, 0 of none.
    assert (value.value, value.n) == (2, 3)
    column = measured(TER, data).columns["value"].tolist()
    assert column[2:] == [1, 1, 0]
    assert outcome(measured(TER, data), 1).reason == "no reference"


def test_long_texts_are_skipped() -> None:
    data = samples(["a " * 6, "a b", "a"], references=[["a"], ["a b"], ["b " * 6]])
    (value,) = found(TER, data, max_words=5).values
    assert (value.value, value.n) == (0, 1)
    skipped = outcome(measured(TER, data, max_words=5), 2)
    assert (skipped.status, skipped.reason) == ("skipped", "a text of more than 5 words")
    assert outcome(measured(TER, data, max_words=6), 2).status == "ok"
