"""Corpus BLEU: the published cases of sacrebleu, its numbers and signatures on any samples."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from sacrebleu.metrics.bleu import BLEU as SACREBLEU

from tests.oracles.sacrebleu_corpus import cases, check_case, ours, resampled, told
from tests.oracles.text_rows import e2e
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.errors import MissingExtraError
from valor_cli.evaluators.overlap.metrics import corpus_bleu
from valor_cli.evaluators.overlap.metrics.corpus_bleu import CORPUS_BLEU, Tokenize

TEXT = st.lists(st.sampled_from(["a", "b", "C", "c.", "1,5", "中"]), max_size=7).map(" ".join)
ROWS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=4
)


@pytest.mark.parametrize("case", cases("BLEU"), ids=lambda case: str(case["id"]))
def test_published_cases(case: dict[str, Any]) -> None:
    check_case(CORPUS_BLEU, case)


def test_by_hand() -> None:
    data = samples(["a b c d e", "f g"], references=[["a b c d x"], ["f h i"]])
    # 5 of 7 words, 3 of 5 pairs, 2 of 3, 1 of 2; 7 words for 8.
    row = values(CORPUS_BLEU, data)
    assert row == {
        "value": pytest.approx(0.8668778997501816 * (5 / 7 * 3 / 5 * 2 / 3 * 1 / 2) ** 0.25),
        "brevity_penalty": pytest.approx(0.8668778997501816),  # exp(1 - 8 / 7)
        "length_ratio": 7 / 8,
    }


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"lowercase": True},
        {"tokenize": "intl", "smooth_method": "floor"},
        {"tokenize": "char", "max_ngram_order": 6},
        {"tokenize": "zh", "smooth_method": "none", "effective_order": True},
        {"tokenize": "none", "smooth_method": "add-k", "smooth_value": 2},
    ],
    ids=str,
)
def test_real_rows_and_parts_of_them(asked: dict[str, Any]) -> None:
    for rows in (e2e(), e2e()[7:30], e2e()[:1]):
        assert ours(CORPUS_BLEU, rows, **asked) == told(SACREBLEU(force=True, **asked), rows)


@settings(max_examples=100)
@given(
    ROWS,
    st.sampled_from(["none", "floor", "add-k", "exp"]),
    st.booleans(),
    st.sampled_from([None, 0.5]),
    st.integers(1, 5),
)
def test_any_rows(
    rows: list[tuple[str, tuple[str, ...]]],
    smooth_method: str,
    effective_order: bool,
    smooth_value: float | None,
    max_ngram_order: int,
) -> None:
    asked: dict[str, Any] = {
        "smooth_method": smooth_method,
        "effective_order": effective_order,
        "smooth_value": smooth_value,
        "max_ngram_order": max_ngram_order,
    }
    value, signature = ours(CORPUS_BLEU, rows, **asked)
    expected, told_signature = told(SACREBLEU(force=True, **asked), rows)
    assert value == min(expected, 1.0)
    assert signature == told_signature


def test_resamples_count_rows_as_often_as_they_stand() -> None:
    rows = e2e()[:12]
    weights = [0, 3, 1, 0, 0, 2, 1, 1, 0, 4, 0, 0]
    again = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    value = resampled(CORPUS_BLEU, rows, weights)
    assert (value.value, value.n) == (told(SACREBLEU(force=True), again)[0], 12)
    nothing = resampled(CORPUS_BLEU, rows, [0] * 12)
    assert (nothing.value, nothing.n) == (None, 0)


def test_a_sample_has_the_sentence_bleu_of_sacrebleu() -> None:
    column = measured(CORPUS_BLEU, of_rows(e2e())).columns["value"].tolist()
    theirs = SACREBLEU(effective_order=True)
    expected = [theirs.sentence_score(*row).score / 100 for row in e2e()]
    assert column == [min(value, 1.0) for value in expected]


def test_missing_and_empty() -> None:
    data = samples([None, "a", ""], references=[["a"], [], ["a"]])
    (value, penalty, ratio) = found(CORPUS_BLEU, data).values
    assert (value.value, value.n) == (0, 1)
    assert (penalty.value, ratio.value) == (0, 0)
    assert [outcome(measured(CORPUS_BLEU, data), at).reason for at in range(2)] == [
        "no response",
        "no reference",
    ]
    nothing = found(CORPUS_BLEU, samples([None], references=[["a"]])).values
    assert {one.undefined for one in nothing} == {"no sample has one: 1 × no response"}
    assert values(CORPUS_BLEU, samples(["a"], references=[[""]]))["length_ratio"] is None


def test_a_perfect_corpus_is_1() -> None:
    # sacrebleu's rounding makes 100.00000000000004 of it.
    data = samples(["one two three four five"], references=[["one two three four five"]])
    assert values(CORPUS_BLEU, data)["value"] == 1


def test_sacrebleu_does_not_talk(caplog: pytest.LogCaptureFixture) -> None:
    data = samples(["It looks tokenized ."] * 120, references=[["It looks tokenized ."]] * 120)
    with caplog.at_level(logging.DEBUG):
        found(CORPUS_BLEU, data)
    assert not caplog.records


def test_sacrebleu_is_imported_only_where_it_is_needed() -> None:
    script = (
        "import sys; "
        "from valor_cli.evaluators.overlap.metrics import corpus_bleu, chrf, ter, bleu; "
        "sys.exit('sacrebleu' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.mark.parametrize(
    ("name", "package"),
    [("ja-mecab", "sacrebleu[ja]"), ("ko-mecab", "sacrebleu[ko]"), ("flores200", "sentencepiece")],
)
def test_a_tokenizer_that_is_not_installed(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_bleu, "find_spec", lambda module: None)
    with pytest.raises(ValidationError, match=name) as refused:
        TypeAdapter(Tokenize).validate_python(name)
    assert f"pip install {package}" in str(refused.value).replace("'", "")
    with pytest.raises(MissingExtraError, match=f"corpus_bleu: tokenize: {name} needs a package"):
        measured(CORPUS_BLEU, samples(["a"], references=[["a"]]), tokenize=name)


@pytest.mark.parametrize("name", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_a_model_is_never_downloaded(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(corpus_bleu, "find_spec", lambda module: object())
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    with pytest.raises(MissingExtraError, match=f"run once with --tokenize {name}"):
        measured(CORPUS_BLEU, samples(["a"], references=[["a"]]), tokenize=name)
    assert not list(tmp_path.iterdir())


def test_a_tokenizer_that_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    # Said to be installed, though sacrebleu cannot import it.
    monkeypatch.setattr(corpus_bleu, "missing_dependency", lambda name: None)
    monkeypatch.setitem(sys.modules, "MeCab", None)
    with pytest.raises(MissingExtraError, match="ja-mecab does not work"):
        measured(CORPUS_BLEU, samples(["a"], references=[["a"]]), tokenize="ja-mecab")
