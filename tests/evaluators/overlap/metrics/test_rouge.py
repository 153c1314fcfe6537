"""ROUGE: by hand, the numbers of ROUGE-1.5.5, and rouge-score's on every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from tests.oracles.text_rows import SYSTEMS, lines, summaries
from tests.oracles.text_samples import found, measured, of_rows, outcome, samples, values
from valor_cli.evaluators.overlap.metrics import rouge
from valor_cli.evaluators.overlap.metrics.rouge import ROUGE_1, ROUGE_2, ROUGE_L, ROUGE_LSUM
from valor_cli.evaluators.samples.outcomes import Outcome, Texts
from valor_cli.metric import Metric

ORIGINAL: dict[str, Metric[Any]] = {
    "rouge1": ROUGE_1,
    "rouge2": ROUGE_2,
    "rougeL": ROUGE_L,
    "rougeLsum": ROUGE_LSUM,
}
OUTPUTS = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}
WORDS = ("a", "the", "run", "running", "runs", "2", "É", "قط", "-", "\n", "\n\n", "\r\n", "Rates")
TEXT = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def check_equal(rows: Sequence[tuple[str, Sequence[str]]], *, use_stemmer: bool) -> None:
    scorer = RougeScorer(list(ORIGINAL), use_stemmer=use_stemmer)
    expected = [scorer.score_multi(right, response) for response, right in rows]
    for name, metric in ORIGINAL.items():
        ours = measured(metric, of_rows(rows), use_stemmer=use_stemmer)
        for output, theirs in OUTPUTS.items():
            wanted = [getattr(row[name], theirs) for row in expected]
            np.testing.assert_allclose(ours.columns[output], wanted, rtol=0, atol=1e-9)


def test_by_hand() -> None:
    data = samples(["the cat sat on the mat"], references=[["The mat: the cat sat there."]])
    # Words: the, the, cat, sat, mat are shared: 5 of 6, and 5 of 6.
    assert values(ROUGE_1, data) == pytest.approx(
        {"f1": 5 / 6, "precision": 5 / 6, "recall": 5 / 6}
    )
    # Pairs: "the cat", "cat sat" and "the mat" of 5.
    assert values(ROUGE_2, data)["f1"] == pytest.approx(3 / 5)
    # In order: the cat sat.
    assert values(ROUGE_L, data)["f1"] == pytest.approx(3 / 6)
    assert values(ROUGE_LSUM, data)["f1"] == pytest.approx(3 / 6)


def test_precision_is_of_the_response_and_recall_of_the_reference() -> None:
    # 2 words of 2; 2 words of 4; 2 · 1 · 1/2 / (3/2).
    found = values(ROUGE_L, samples(["b d"], references=[["a b c d"]]))
    assert found == pytest.approx({"f1": 2 / 3, "precision": 1, "recall": 1 / 2})


def test_lines_matter_to_lsum_alone() -> None:
    data = samples(["c d\na b"], references=[["a b\nc d"]])
    # Of the whole texts "a b" or "c d" is common, of 4 words; line by line all is.
    assert values(ROUGE_L, data)["f1"] == pytest.approx(1 / 2)
    assert values(ROUGE_LSUM, data)["f1"] == pytest.approx(1)


def test_the_best_reference_is_found_for_each_kind() -> None:
    data = samples(["a b c d"], references=[["x", "d c b a", "a b x y", "b a d c"]])
    # All four words, in the second first; no pair of them; the pair "a b" of the third.
    assert outcome(measured(ROUGE_1, data), 0).details == {"reference": 1}
    assert outcome(measured(ROUGE_2, data), 0).details == {"reference": 2}
    assert outcome(measured(ROUGE_L, data), 0).details == {"reference": 2}
    alone = samples(["a"], references=[["a"]])
    assert outcome(measured(ROUGE_1, alone), 0).details is None


def test_the_best_reference_decides_precision_and_recall_too() -> None:
    # Recall is 1 of the first, F1 2/5; of the second all are 1/2.
    data = samples(["a b c d"], references=[["a", "a b x x"]])
    assert values(ROUGE_1, data) == {"f1": 0.5, "precision": 0.5, "recall": 0.5}


@pytest.mark.parametrize("metric", ORIGINAL.values(), ids=ORIGINAL)
def test_statuses(metric: Metric[Any]) -> None:
    data = samples(
        [None, "a", "", "?!", "a b", "a b"],
        references=[["a"], [], ["a b"], ["a b"], [""], ["a b"]],
    )
    found = measured(metric, data)
    zero = {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    assert outcome(found, 0) == Outcome({}, "missing_input", "no response")
    assert outcome(found, 1) == Outcome({}, "missing_input", "no reference")
    assert [outcome(found, at) for at in (2, 3, 4)] == [Outcome(zero)] * 3
    assert outcome(found, 5) == Outcome(dict.fromkeys(zero, 1.0))


@pytest.mark.parametrize("metric", [ROUGE_L, ROUGE_LSUM])
def test_texts_that_are_too_long_are_skipped(
    metric: Metric[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rouge, "MOST_PAIRS", 6)
    data = samples(
        ["a b\nc", "a b\nc", "a\nb", None],
        references=[["a\nb"], ["a b", "c\na b"], ["a b\nc", "a\nb"], ["a"]],
    )
    found = measured(metric, data)
    # 3 words by 2 are 6 pairs; by 3, though another reference has 2, they are 9; 2 by 3 and 2 by 2.
    assert [outcome(found, at).status for at in range(4)] == [
        "ok",
        "skipped",
        "ok",
        "missing_input",
    ]
    assert outcome(found, 1) == Outcome(
        {}, "skipped", "more than 6 pairs of words of response and reference"
    )
    assert outcome(found, 2).details == {"reference": 1}
    assert outcome(measured(ROUGE_1, data), 1).values["f1"] == 1


def test_rouge_155_golden() -> None:
    """What the original Perl script printed, to five places."""
    checked = 0
    for row in lines("rouge155-golden/cases.jsonl"):
        data = samples([row["prediction"]], references=[row["references"]])
        for kind, expected in row["expected"].items():
            name, _, stemmed = kind.partition("_")
            ours = values(ORIGINAL[name], data, use_stemmer=bool(stemmed))
            wanted = {"f1": "f", "precision": "precision", "recall": "recall"}
            for output in wanted:
                if wanted[output] in expected:
                    assert ours[output] == pytest.approx(expected[wanted[output]], abs=1e-5)
                    checked += 1
    assert checked > 40


@pytest.mark.parametrize("use_stemmer", [False, True])
@pytest.mark.parametrize("system", SYSTEMS)
def test_equal_to_rouge_score_on_summaries(system: str, use_stemmer: bool) -> None:
    check_equal(summaries(system), use_stemmer=use_stemmer)


@pytest.mark.parametrize("use_stemmer", [False, True])
def test_equal_to_rouge_score_with_several_references_of_several_lines(use_stemmer: bool) -> None:
    """Each system's summaries, three to a text, against the other systems' and the right one."""
    systems = [[response for response, _ in summaries(name)] for name in SYSTEMS[1:]]
    right = [references[0] for _, references in summaries(SYSTEMS[0])]
    joined = [
        ["\n".join(texts[at : at + 3]) for at in range(len(texts) - 2)]
        for texts in (*systems, right)
    ]
    rows = [(response, others) for response, *others in zip(*joined, strict=True)]
    check_equal(rows, use_stemmer=use_stemmer)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), max_size=4), st.booleans())
def test_equal_to_rouge_score_on_any_texts(
    pairs: list[tuple[str, list[str]]], use_stemmer: bool
) -> None:
    check_equal(pairs, use_stemmer=use_stemmer)


def test_words_of_any_script() -> None:
    data = samples(["我爱北京"], references=[["我爱上海"]])
    assert values(ROUGE_1, data)["f1"] == 0
    # Two of four characters.
    assert values(ROUGE_1, data, tokenizer="unicode")["f1"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("metric", ORIGINAL.values(), ids=ORIGINAL)
def test_lost_letters_are_told(metric: Metric[Any]) -> None:
    data = samples(["мир", "мир", "world"], references=[["мир"], ["мир"], ["world"]])
    (warning,) = found(metric, data).warnings
    assert warning == (
        "2 of 3 samples are mostly in letters that the tokenizer rouge drops: "
        "set tokenizer: unicode"
    )
    reasons = measured(metric, data).reasons
    assert reasons[0] == "most letters are no a-z or 0-9 and are dropped by the tokenizer rouge"
    assert reasons[2] is None
    assert not found(metric, data, tokenizer="unicode").warnings


def test_no_warning_where_half_of_the_samples_keep_their_letters() -> None:
    data = samples(["мир", "world"], references=[["мир"], ["world"]])
    assert not found(ROUGE_1, data).warnings


def test_a_stem_is_of_ascii_words_alone() -> None:
    data = samples(["naïvely runs"], references=[["naïve running"]])
    # "runs" and "running" are run; "naïvely" is no English to the stemmer.
    assert values(ROUGE_1, data, use_stemmer=True, tokenizer="unicode")["f1"] == pytest.approx(
        1 / 2
    )


def test_words_are_read_once_for_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    made = rouge.word_codes

    def counted(*settings: Any) -> Any:
        asked.append(settings)
        return made(*settings)

    monkeypatch.setattr(rouge, "word_codes", counted)
    texts = Texts(samples(["a"], references=[["a"]]))
    for metric in ORIGINAL.values():
        assert metric.measure is not None
        metric.measure(texts)
    rouge.rouge_l(texts, use_stemmer=True)
    assert asked == [("rouge", False), ("rouge", True)]
