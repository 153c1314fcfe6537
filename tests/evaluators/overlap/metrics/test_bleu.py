"""Sentence BLEU: by hand, NLTK's numbers to the last digit, sacrebleu's where it is smoothed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer, RegexpTokenizer
from nltk.translate import bleu_score as nltk_bleu
from pydantic import TypeAdapter, ValidationError
from sacrebleu.metrics.bleu import BLEU as SACREBLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from tests.oracles.text_rows import Rows, e2e, lines, summaries
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap import bleu_matches
from valor_cli.evaluators.overlap.metrics.bleu import BLEU, BLEU_1, BLEU_2, BLEU_3, BLEU_4, Weights
from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.evaluators.samples.outcomes import Texts
from valor_cli.metric import Call, Metric

TOKENIZERS = {
    "valor": RegexpTokenizer(r"\w+|\$[\d]+|[^\s\.]+").tokenize,
    "whitespace": str.split,
    "word": NLTKWordTokenizer().tokenize,
    "13a": lambda text: Tokenizer13a()(text).split(),
}
PRESETS = {1: BLEU_1, 2: BLEU_2, 3: BLEU_3, 4: BLEU_4}
TEXT = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
ROW = st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple))


def ours(metric: Metric[Any], rows: Rows, **parameters: Any) -> list[float]:
    found: list[float] = measured(metric, of_rows(rows), **parameters).columns["value"].tolist()
    return found


def of_nltk(
    response: Sequence[str], references: Sequence[Sequence[str]], weights: Sequence[float]
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(nltk_bleu.sentence_bleu(references, response, tuple(weights)))
    # For an order without a match NLTK takes the smallest number there is, to a power of 1/13
    # (1e-24) or more here.
    return value if value > 1e-20 else 0.0


def test_by_hand() -> None:
    data = samples(["The cat sat on mats"], references=[["The cat sat on the mat", "A cat sat."]])
    # 4 of 5 words, 3 of 4 pairs, 2 of 3, 1 of 2; the nearest reference has 6 words.
    brevity = exp(1 - 6 / 5)
    assert values(BLEU_1, data) == {"value": pytest.approx(brevity * 4 / 5, abs=1e-15)}
    expected = brevity * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert values(BLEU, data) == {"value": pytest.approx(expected, abs=1e-15)}
    assert outcome(measured(BLEU_2, data), 0).details == {
        "precisions": [4 / 5, 3 / 4],
        "brevity_penalty": brevity,
        "response_tokens": 5,
        "reference_tokens": 6,
    }


def test_case_counts_and_points_do_not() -> None:
    data = samples(["It costs $20. The end"], references=[["it costs $20 the end."]])
    # "It" and "The" do not match; "$20", "costs" and "end" do.
    assert values(BLEU_1, data) == {"value": pytest.approx(3 / 5, abs=1e-15)}


def test_accents_of_their_own_part_words_as_with_nltk_up_to_3_9() -> None:
    # re.findall(r"\w+|\$[\d]+|[^\s\.]+", "cafe\u0301s noirs"); NLTK 3.10 has "cafe\u0301s" as one.
    expected = ["cafe", "\u0301s", "noirs"]
    assert bleu_matches.WORDS["valor"]("cafe\u0301s noirs") == expected
    data = samples(["cafe\u0301s noirs"], references=[["cafe noirs"]])
    assert values(BLEU_1, data) == {"value": pytest.approx(2 / 3, abs=1e-15)}


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("rows", [e2e(), summaries("PtGen")], ids=["e2e", "xsum"])
def test_real_rows_have_the_values_of_nltk(rows: Rows, tokenizer: str) -> None:
    split = TOKENIZERS[tokenizer]
    # How words are counted in n-grams is the same whatever parts a text into words.
    for order, metric in PRESETS.items() if tokenizer == "valor" else [(4, BLEU_4)]:
        expected = [
            of_nltk(split(response), [split(one) for one in references], (1 / order,) * order)
            for response, references in rows
        ]
        assert ours(metric, rows, tokenizer=tokenizer) == expected


@given(ROW, st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(any))
def test_any_row_has_the_value_of_nltk(row: tuple[str, tuple[str, ...]], parts: list[int]) -> None:
    weights = tuple(part / sum(parts) for part in parts)
    split = [one.split() for one in row[1]]
    assert ours(BLEU, [row], weights=weights) == [of_nltk(row[0].split(), split, weights)]


@given(
    ROW,
    st.sampled_from(["none", "floor", "add-k", "exp"]),
    st.sampled_from([None, 0.3, 2]),
    st.booleans(),
)
def test_any_row_has_the_value_of_sacrebleu(
    row: tuple[str, tuple[str, ...]], smoothing: str, value: float | None, effective: bool
) -> None:
    theirs = SACREBLEU(
        smooth_method=smoothing, smooth_value=value, effective_order=effective, force=True
    ).corpus_score([row[0]], [[one] for one in row[1]])
    asked = {"tokenizer": "13a", "smoothing": smoothing, "smoothing_value": value}
    found = ours(BLEU, [row], effective_order=effective, **asked)
    assert found == [pytest.approx(theirs.score / 100, abs=1e-14)]


def test_stored_values() -> None:
    stored = [row["expected"] for row in lines("e2e-nlg-retrieval-60/retrieval.jsonl")]
    # sacrebleu 2.6.0's sentence_bleu in percent, and NLTK 3.10.4's method1, of 10 decimals.
    sentences = ours(BLEU, e2e(), tokenizer="13a", smoothing="exp", effective_order=True)
    expected = [row["sentence_bleu"] / 100 for row in stored]
    assert sentences == pytest.approx(expected, abs=1e-12)
    smoothed = ours(BLEU, e2e(), tokenizer="whitespace", smoothing="floor")
    assert smoothed == pytest.approx([row["nltk_bleu4_method1"] for row in stored], abs=1e-10)


def test_edges() -> None:
    data = samples(
        ["", "", "a b", "a b c", None, "a", "a b c"],
        references=[["a"], [""], ["a b"], [""], ["a"], [], ["", "a b c d"]],
    )
    outcomes = measured(BLEU_3, data)
    # Two words have no run of three; an empty reference is one, and the farther one here.
    assert outcomes.columns["value"].tolist()[:4] == [0, 0, 0, 0]
    assert outcome(outcomes, 4).status == "missing_input"
    assert outcome(outcomes, 4).reason == "no response"
    assert outcome(outcomes, 5).reason == "no reference"
    assert outcome(outcomes, 6).values["value"] == pytest.approx(exp(1 - 4 / 3), abs=1e-15)
    assert outcome(outcomes, 2).details == {
        "precisions": [1, 1, None],
        "brevity_penalty": 1,
        "response_tokens": 2,
        "reference_tokens": 2,
    }
    (value,) = found(BLEU_3, data).values
    assert value.n == 5


def test_the_presets_are_uniform_weights() -> None:
    for order, metric in PRESETS.items():
        weights = (1 / order,) * order
        assert ours(metric, e2e()) == ours(BLEU, e2e(), weights=weights)


def test_five_metrics_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0
    original = bleu_matches.ngram_matches

    def counting(*arguments: Any) -> Any:
        nonlocal counted
        counted += 1
        return original(*arguments)

    monkeypatch.setattr(bleu_matches, "ngram_matches", counting)
    rows = e2e()
    data = of_rows(rows)
    defaults = [
        Call(metric, {one.name: one.default for one in metric.parameters})
        for metric in (BLEU, *PRESETS.values())
    ]
    measure_samples(data, tuple(defaults))
    assert counted == len(rows)
    # Longer n-grams than all of these need are counted anew.
    texts = Texts(data)
    bleu_matches.matches_of(texts, "whitespace", str.split, 5)
    bleu_matches.matches_of(texts, "whitespace", str.split, 2)
    assert counted == 3 * len(rows)


@pytest.mark.parametrize("weights", [(0.5, 0.4), (1.5, -0.5), ()])
def test_weights_that_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Weights).validate_python(weights)


@pytest.mark.parametrize("weights", [(0.333333, 0.333333, 0.333334), (0.0, 1.0)])
def test_weights_of_few_decimals_and_of_nothing_are_taken(weights: tuple[float, ...]) -> None:
    assert TypeAdapter(Weights).validate_python(weights) == weights
