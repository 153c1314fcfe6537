"""chrF: the published cases of sacrebleu, its numbers and signatures on any samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF as SACREBLEU

from tests.oracles.sacrebleu_corpus import cases, check_case, ours, resampled, streams, told
from tests.oracles.text_rows import e2e
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap.metrics import chrf
from valor_cli.evaluators.overlap.metrics.chrf import CHRF, f_scores

TEXT = st.text("aaB ('.,é\n", max_size=9)
ROWS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=4
)
ASKED: list[dict[str, Any]] = [
    {},
    {"word_order": 2},
    {"char_order": 3, "word_order": 1, "beta": 3, "lowercase": True},
    {"whitespace": True, "eps_smoothing": True, "word_order": 2},
]


@pytest.mark.parametrize("case", cases("chrF2"), ids=lambda case: str(case["id"]))
def test_published_cases(case: dict[str, Any]) -> None:
    check_case(CHRF, case)


def test_by_hand() -> None:
    # Characters: 2 of 2 against 3; pairs: 1 of 1 against 2; precision 1, recall (2/3 + 1/2) / 2.
    data = samples(["a b"], references=[["abc"]])
    recall = 7 / 12
    expected = 5 * recall / (4 + recall)
    assert values(CHRF, data, char_order=2) == {"value": pytest.approx(expected, abs=1e-15)}
    assert outcome(measured(CHRF, data, char_order=2), 0).details == {
        "response_ngrams": [2, 1],
        "reference_ngrams": [3, 2],
        "matches": [2, 1],
    }


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_real_rows_and_parts_of_them(asked: dict[str, Any]) -> None:
    for rows in (e2e(), e2e()[7:30], e2e()[:1]):
        assert ours(CHRF, rows, **asked) == told(SACREBLEU(**asked), rows)


@settings(max_examples=100)
@given(ROWS, st.sampled_from(ASKED))
def test_any_rows(rows: list[tuple[str, tuple[str, ...]]], asked: dict[str, Any]) -> None:
    assert ours(CHRF, rows, **asked) == told(SACREBLEU(**asked), rows)
    counts = measured(CHRF, of_rows(rows), **asked).numbers
    responses, references = [row[0] for row in rows], [row[1] for row in rows]
    theirs = SACREBLEU(**asked)._extract_corpus_statistics(responses, streams(references))
    assert counts["statistics"].tolist() == theirs


def test_counting_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    data = of_rows(e2e())
    whole = measured(CHRF, data).numbers["statistics"]
    monkeypatch.setattr(chrf, "AT_ONCE", 300)
    assert np.array_equal(measured(CHRF, data).numbers["statistics"], whole)


@pytest.mark.parametrize("beta", [1, 2, 3])
@pytest.mark.parametrize("eps_smoothing", [False, True])
def test_scores_of_counts_are_those_of_sacrebleu(beta: int, eps_smoothing: bool) -> None:
    rng = np.random.default_rng(beta)
    sides = rng.integers(0, 40, (300, 6, 2)) * rng.integers(0, 2, (300, 6, 1))
    shared = (sides.min(axis=2) * rng.random((300, 6))).astype(np.int64)
    counts = np.concatenate([sides, shared[..., None]], axis=2).reshape(300, -1)
    theirs = SACREBLEU(beta=beta, eps_smoothing=eps_smoothing)
    expected = [theirs._compute_score_from_stats(row).score / 100 for row in counts.tolist()]
    assert f_scores(counts, beta, eps_smoothing=eps_smoothing).tolist() == expected


def test_resamples_count_rows_as_often_as_they_stand() -> None:
    rows = e2e()[:8]
    weights = [0, 3, 1, 0, 0, 2, 1, 1]
    again = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    value = resampled(CHRF, rows, weights)
    assert (value.value, value.n) == (told(SACREBLEU(), again)[0], 8)


def test_a_sample_has_the_value_of_sacrebleu() -> None:
    column = measured(CHRF, of_rows(e2e())).columns["value"].tolist()
    assert column == [SACREBLEU().sentence_score(*row).score / 100 for row in e2e()]


def test_missing_and_empty() -> None:
    data = samples([None, "a", ""], references=[["a"], [], ["a"]])
    (value,) = found(CHRF, data).values
    assert (value.value, value.n) == (0, 1)
    assert value.at["signature"] == told(SACREBLEU(), [("", ("a",))])[1]
    reasons = [outcome(measured(CHRF, data), at).reason for at in range(3)]
    assert reasons == ["no response", "no reference", None]
    (nothing,) = found(CHRF, samples([], references=[])).values
    assert (nothing.value, nothing.undefined) == (None, "no samples")
