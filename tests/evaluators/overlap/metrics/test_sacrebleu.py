"""Corpus BLEU, chrF and TER: published cases, and sacrebleu's numbers and signatures."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF as THEIR_CHRF
from sacrebleu.metrics.ter import TER as THEIR_TER

from tests.oracles.sacrebleu_corpus import cases, check_case, ours, resampled, streams, told
from tests.oracles.text_rows import Rows, e2e
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.errors import MissingExtraError
from valor_cli.evaluators.overlap.metrics import chrf, corpus_bleu
from valor_cli.evaluators.overlap.metrics.chrf import CHRF, f_scores
from valor_cli.evaluators.overlap.metrics.corpus_bleu import CORPUS_BLEU, Tokenize
from valor_cli.evaluators.overlap.metrics.ter import TER
from valor_cli.metric import Metric


def their_bleu(**asked: Any) -> BLEU:
    return BLEU(force=True, **asked)


THEIRS: Mapping[str, Any] = {"corpus_bleu": their_bleu, "chrf": THEIR_CHRF, "ter": THEIR_TER}
ASKED: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "corpus_bleu": [
        {},
        {"lowercase": True},
        {"tokenize": "intl", "smooth_method": "floor"},
        {"tokenize": "char", "max_ngram_order": 6},
        {"tokenize": "zh", "smooth_method": "none", "effective_order": True},
        {"tokenize": "none", "smooth_method": "add-k", "smooth_value": 2},
        {"smooth_method": "exp", "smooth_value": 0.5, "max_ngram_order": 1},
    ],
    "chrf": [
        {},
        {"word_order": 2},
        {"char_order": 3, "word_order": 1, "beta": 3, "lowercase": True},
        {"whitespace": True, "eps_smoothing": True, "word_order": 2},
    ],
    "ter": [
        {},
        {"normalized": True, "asian_support": True},
        {"no_punct": True, "case_sensitive": True},
    ],
}
METRICS = (CORPUS_BLEU, CHRF, TER)
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)

TEXT = st.lists(
    st.sampled_from(["a", "b", "C", "c.", "1,5", "中", "('é", ".,", "", "\n"]), max_size=7
).map(" ".join)
ROWS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=4
)


def check_equal(metric: Metric[Any], rows: Rows, asked: Mapping[str, Any]) -> None:
    value, signature = ours(metric, rows, **asked)
    expected, told_signature = told(THEIRS[metric.name](**asked), rows)
    # sacrebleu's rounding makes 100.00000000000004 of a perfect BLEU, and adds up mean lengths of
    # TER one by one, with an error of rounding for each.
    if metric is TER:
        assert value == pytest.approx(expected, rel=1e-14)
    else:
        assert value == min(expected, 1.0)
    assert signature == told_signature


@pytest.mark.parametrize(
    ("metric", "case"),
    [
        pytest.param(metric, case, id=str(case["id"]))
        for metric, name in zip(METRICS, ("BLEU", "chrF2", "TER"), strict=True)
        for case in cases(name)
    ],
)
def test_published_cases(metric: Metric[Any], case: dict[str, Any]) -> None:
    check_case(metric, case)


@pytest.mark.parametrize(
    ("response", "references", "metric", "parameters", "value", "details"),
    [
        # Characters: 2 of 2 against 3; pairs: 1 of 1 against 2; precision 1, recall
        # r = (2/3 + 1/2) / 2 = 7/12: 5 r / (4 + r).
        (
            "a b",
            ["abc"],
            CHRF,
            {"char_order": 2},
            7 / 11,
            {"response_ngrams": [2, 1], "reference_ngrams": [3, 2], "matches": [2, 1]},
        ),
        # One shift of "a b"; two words more than a reference of one, besides one of three.
        ("c d a b", ["a b c d"], TER, {}, 1 / 4, {"edits": 1, "reference_words": 4}),
        ("x y z", ["x", "p q r"], TER, {}, 2 / 2, {"edits": 2, "reference_words": 2}),
        ("", ["a"], TER, {}, 1, {"edits": 1, "reference_words": 1}),
        # 1 edit of none, and none.
        ("a", [""], TER, {}, 1, {"edits": 1, "reference_words": 0}),
        ("", [""], TER, {}, 0, {"edits": 0, "reference_words": 0}),
        # Each ideograph is a word.
        (
            "中文",
            ["中国"],
            TER,
            {"normalized": True, "asian_support": True},
            1 / 2,
            {"edits": 1, "reference_words": 2},
        ),
    ],
)
def test_a_sample_by_hand(
    response: str,
    references: list[str],
    metric: Metric[Any],
    parameters: Mapping[str, Any],
    value: float,
    details: Mapping[str, Any],
) -> None:
    one = outcome(measured(metric, samples([response], references=[references]), **parameters), 0)
    assert one.values == {"value": pytest.approx(value, abs=1e-15)}
    assert one.details == details


def test_a_corpus_by_hand() -> None:
    data = samples(["a b c d e", "f g"], references=[["a b c d x"], ["f h i"]])
    # 5 of 7 words, 3 of 5 pairs, 2 of 3, 1 of 2; 7 words for 8.
    assert values(CORPUS_BLEU, data) == {
        "value": pytest.approx(0.8668778997501816 * (5 / 7 * 3 / 5 * 2 / 3 * 1 / 2) ** 0.25),
        "brevity_penalty": pytest.approx(0.8668778997501816),  # exp(1 - 8 / 7)
        "length_ratio": 7 / 8,
    }
    # 1 edit and 2 edits for 4 words and (1 + 3) / 2.
    data = samples(["c d a b", "x y z"], references=[["a b c d"], ["x", "p q r"]])
    assert values(TER, data) == {"value": 3 / 6}


@pytest.mark.parametrize(
    ("metric", "asked"), [(metric, one) for metric in METRICS for one in ASKED[metric.name]]
)
def test_real_rows_and_parts_of_them(metric: Metric[Any], asked: Mapping[str, Any]) -> None:
    # Shifts are searched for long: of TER a few rows.
    rows = e2e()[:6] if metric is TER else e2e()
    for part in (rows, rows[4:9], rows[:1], rows[2:3]):
        check_equal(metric, part, asked)


@every_metric
@given(ROWS, st.data())
def test_any_rows(metric: Metric[Any], rows: Rows, data: Any) -> None:
    asked = data.draw(st.sampled_from(ASKED[metric.name]))
    check_equal(metric, rows, asked)
    check_equal(metric, [(response, right[:1]) for response, right in rows], asked)
    if metric is CHRF:
        counts = measured(CHRF, of_rows(rows), **asked).numbers
        responses, references = [row[0] for row in rows], [row[1] for row in rows]
        theirs = THEIR_CHRF(**asked)._extract_corpus_statistics(responses, streams(references))
        assert counts["statistics"].tolist() == theirs


@every_metric
def test_resamples_count_rows_as_often_as_they_stand(metric: Metric[Any]) -> None:
    rows = e2e()[:8]
    weights = [0, 3, 1, 0, 0, 2, 1, 1]
    again = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    value = resampled(metric, rows, weights)
    expected = told(THEIRS[metric.name](), again)[0]
    assert (value.value, value.n) == (pytest.approx(expected, rel=1e-14), 8)
    nothing = resampled(CORPUS_BLEU, rows, [0] * 8)
    assert (nothing.value, nothing.n) == (None, 0)


@pytest.mark.parametrize(
    ("metric", "theirs"), [(CORPUS_BLEU, BLEU(effective_order=True)), (CHRF, THEIR_CHRF())]
)
def test_a_sample_has_the_value_of_sacrebleu(metric: Metric[Any], theirs: Any) -> None:
    column = measured(metric, of_rows(e2e())).columns["value"].tolist()
    assert column == [min(theirs.sentence_score(*row).score / 100, 1.0) for row in e2e()]


@every_metric
def test_missing_and_empty(metric: Metric[Any]) -> None:
    data = samples([None, "a", ""], references=[["a"], [], ["a"]])
    value, *others = found(metric, data).values
    assert (value.value, value.n) == (float(metric is TER), 1)
    assert {one.value for one in others} <= {0}
    assert value.at["signature"] == told(THEIRS[metric.name](), [("", ("a",))])[1]
    nothing, *_ = found(metric, samples([], references=[])).values
    assert (nothing.value, nothing.undefined) == (None, "no samples")
    if metric is CORPUS_BLEU:
        assert values(CORPUS_BLEU, samples(["a"], references=[[""]]))["length_ratio"] is None


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
    theirs = THEIR_CHRF(beta=beta, eps_smoothing=eps_smoothing)
    expected = [theirs._compute_score_from_stats(row).score / 100 for row in counts.tolist()]
    assert f_scores(counts, beta, eps_smoothing=eps_smoothing).tolist() == expected


def test_long_texts_are_skipped_by_ter() -> None:
    data = samples(["a " * 6, "a b", "a"], references=[["a"], ["a b"], ["b " * 6]])
    (value,) = found(TER, data, max_words=5).values
    assert (value.value, value.n) == (0, 1)
    skipped = outcome(measured(TER, data, max_words=5), 2)
    assert (skipped.status, skipped.reason) == ("skipped", "a text of more than 5 words")
    assert outcome(measured(TER, data, max_words=6), 2).status == "ok"


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
